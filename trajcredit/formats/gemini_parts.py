"""Contents of the Gemini API, which agent frameworks log too -> entries.

| note | says |
| --- | --- |
| `unknown-role` | a content whose role this API does not have stands without credit |
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajcredit.formats.chat import logged_id
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.parts import arguments_of, json_text
from trajcredit.model import SpanKind

__all__ = ["Content", "entry_of", "text_parts"]

SPELLED = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
}
"""Key of a part in REST -> in Python."""
ROLES: dict[str, SpanKind] = {
    **dict.fromkeys(("model", "assistant"), "assistant"),
    **dict.fromkeys(("user", "function", "tool"), "user"),
    "system": "system",
}
SILENT = ("thoughtSignature", "thought_signature", "thought")
CODE = "code_execution"


class Content(msgspec.Struct, gc=False):
    """One content: who says it, and its parts."""

    role: str | None = None
    parts: list[Any] = []


def entry_of(content: Content, agent: str | None = None) -> Entry:
    """What one content says."""
    kind = ROLES.get(content.role or "user", "meta")
    unknown = ("unknown-role", f"no content has a role {content.role!r} here: kept without credit")
    note = unknown if kind == "meta" else None
    return Entry(text_parts(content.parts, kind), acts=kind == "assistant", agent=agent, note=note)


def text_parts(parts: Any, kind: SpanKind) -> list[Part]:
    """The parts; texts that follow each other are one, as the API cuts them anywhere."""
    found: list[Part] = []
    for part in parts if isinstance(parts, list) else []:
        made = _part(part, kind)
        last = found[-1] if found else None
        if last is not None and made.kind == last.kind and made.kind in ("assistant", "reasoning", "user", "system"):
            last.text += made.text
            last.opaque = [*(last.opaque or ()), *(made.opaque or ())] or None
        else:
            found.append(made)
    said = [part for part in found if part.kind not in ("assistant", "reasoning") or part.text.strip()]
    others = any(part.kind == "tool_result" for part in said)
    return [part for part in said if part.text or part.kind not in ("user", "system") or not others]


def _part(part: Any, kind: SpanKind) -> Part:
    if isinstance(part, str):
        return Part(kind, part)
    if not isinstance(part, dict):
        return Part(kind, json_text(part), opaque=["JSON"])
    for key, snake in SPELLED.items():
        inner = part.get(key, part.get(snake))
        if isinstance(inner, dict):
            return _of_tool(key, inner)
    text = part.get("text")
    if isinstance(text, str):
        thinks = part.get("thought") is True and kind == "assistant"
        return Part("reasoning" if thinks else kind, text)
    keys = [key for key, value in part.items() if key not in SILENT and value is not None]
    return Part(kind, "".join(f"[{key}]" for key in keys), opaque=keys or None)


def _of_tool(key: str, inner: dict[str, Any]) -> Part:
    name, call_id = inner.get("name"), inner.get("id")
    named = name if isinstance(name, str) else None
    known = logged_id(call_id) if isinstance(call_id, str | int) else None
    match key:
        case "functionCall":
            return Part("tool_call", call_id=known, name=named, arguments=arguments_of(inner.get("args")))
        case "functionResponse":
            response = inner.get("response")
            failed = True if isinstance(response, dict) and response.get("error") else None
            text = response if isinstance(response, str) else "" if response is None else json_text(response)
            return Part("tool_result", text, known, named, error=failed)
        case "executableCode":
            code = {name: inner[name] for name in ("language", "code") if name in inner}
            return Part("tool_call", call_id=known, name=CODE, arguments=arguments_of(code))
    output, outcome = inner.get("output"), inner.get("outcome")
    failed = None if outcome is None else outcome not in ("OUTCOME_OK", 1)
    text = output if isinstance(output, str) else "" if output is None else json_text(output)
    return Part("tool_result", text, known, CODE, error=failed)
