"""Messages of Inspect -> spans."""

from __future__ import annotations

from typing import Any

from trajcredit.formats.parts import Arguments, arguments_of, text_of
from trajcredit.formats.transcript import Transcript

__all__ = ["add_message", "attached"]

ATTACHED = ("attachment://", "tc://")
"""What stands for a long text that is kept apart, in newer and older releases."""


def attached(value: Any, attachments: dict[str, str]) -> Any:
    """The same value with the texts that were kept apart in their places."""
    if not attachments:
        return value
    if isinstance(value, str):
        mark = next((mark for mark in ATTACHED if value.startswith(mark)), None)
        return attachments.get(value.removeprefix(mark), value) if mark else value
    if isinstance(value, list):
        return [attached(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: attached(item, attachments) for key, item in value.items()}
    return value


def add_message(transcript: Transcript, message: dict[str, Any], index: int | None, agent: str | None = None) -> None:
    """The spans of one message."""
    role = message.get("role")
    if role == "assistant":
        _add_answer(transcript, message, index, agent)
    elif role == "tool":
        _add_result(transcript, message, index, agent)
    else:
        text, opaque = text_of(message.get("content"))
        known = role in ("user", "system")
        transcript.add("user" if role == "user" else "system" if known else "meta", text, index, agent)
        if opaque:
            transcript.opaque(opaque)
        if not known:
            transcript.note("unknown-role", f"a message of the role {role!r}")


def _add_answer(transcript: Transcript, message: dict[str, Any], index: int | None, agent: str | None) -> None:
    """Reasoning, then text and what the model's own server did, then calls."""
    transcript.begin_turn()
    content = message.get("content")
    parts = content if isinstance(content, list) else [content] if content else []
    thought = message.get("reasoning")
    if isinstance(thought, str) and thought:  # older releases
        transcript.add("reasoning", thought, index, agent)
    observed = False
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if observed:
            transcript.begin_turn()
        observed = kind == "tool_use"
        if kind == "reasoning":
            transcript.add("reasoning", _thought(part), index, agent)
        elif kind == "tool_use":
            transcript.call(
                _word(part.get("name")), _word(part.get("id")), arguments_of(part.get("arguments")), index, agent
            )
            text, _ = text_of(part.get("result"))
            failed = bool(part["error"]) if "error" in part else None
            transcript.result(_word(part.get("error")) or text, _word(part.get("id")), None, failed, index, agent)
        else:
            text, opaque = text_of([part])
            if text and not text.isspace():
                transcript.add("assistant", text, index, agent)
                if opaque:
                    transcript.opaque(opaque)
    calls = message.get("tool_calls")
    if observed and calls:
        transcript.begin_turn()
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name = _word(call.get("function")) or _word(call.get("name"))
            transcript.call(name, _word(call.get("id")), _arguments(call), index, agent)


def _add_result(transcript: Transcript, message: dict[str, Any], index: int | None, agent: str | None) -> None:
    """A result; what went wrong is said beside the content, or in its place."""
    text, opaque = text_of(message.get("content"))
    error = message.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    text = text or (said if isinstance(said, str) else "")
    failed = True if error else None
    transcript.result(text, _word(message.get("tool_call_id")), _word(message.get("function")), failed, index, agent)
    if opaque:
        transcript.opaque(opaque)


def _arguments(call: dict[str, Any]) -> Arguments:
    """The arguments; where Inspect could not parse them, what it kept of them, with its own word."""
    found = arguments_of(call.get("arguments"))
    error = call.get("parse_error")
    if not isinstance(error, str) or not error:
        return found
    return Arguments(found.value, found.raw, ("broken-arguments", f"Inspect could not parse them: {error[:300]}"))


def _thought(part: dict[str, Any]) -> str:
    """The reasoning; where that is withheld its summary, else nothing."""
    for key in ("summary", "reasoning") if part.get("redacted") else ("reasoning", "summary"):
        if isinstance(part.get(key), str) and part[key]:
            return str(part[key])
    return ""


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
