"""ShareGPT rows (`conversations` of `from` and `value`), and the rows of ms-swift and Hermes that are near to them.

| in the log | is |
| --- | --- |
| `from`: human, gpt, system, function_call, observation and their other names | who speaks; `role` and `content` too |
| `value` of a call | JSON with `name` and `arguments`, or a list of them |
| content parts `{type: text, reasoning, tool_call; value}` | text, reasoning, a call |
| a result whose text is a list of results | one result each |

| note | says |
| --- | --- |
| `unknown-role` | a turn of somebody who is not known stands without credit |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import logged_id
from trajcredit.formats.document import Document, Match, Seen, trajectories
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.history import NULL
from trajcredit.formats.labels import Labels, of_entries
from trajcredit.formats.parts import arguments_of, text_of, thought_and_text, tools_of
from trajcredit.formats.split import Record
from trajcredit.formats.written import with_written_calls
from trajcredit.model import Note, SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["ShareGpt"]

FORMAT = "sharegpt"
KINDS: dict[str, SpanKind] = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("function_call", "tool_call", "function-call"), "tool_call"),
    **dict.fromkeys(
        ("observation", "tool", "function", "function_response", "tool_response", "ipython"), "tool_result"
    ),
}
OWN_ROLES = (b'"tool_call"', b'"tool_response"', b'"function_call"', b'"observation"')


class Turn(msgspec.Struct, gc=False):
    """One turn, in either spelling."""

    speaker: str | None = msgspec.field(name="from", default=None)
    value: Any = None
    role: str | None = None
    content: Any = None
    name: str | None = None


class Row(Labels, gc=False):
    """One conversation."""

    conversations: list[Turn] | None = None
    messages: list[Turn] | None = None
    system: str | None = None
    tools: msgspec.Raw = NULL
    functions: msgspec.Raw = NULL


_decode = msgspec.json.Decoder(Row).decode


class _Look(msgspec.Struct, gc=False):
    role: Any = None
    content: Any = None


_looks = msgspec.json.Decoder(list[_Look]).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class ShareGpt:
    """ShareGPT conversations of `from` and `value`, calls as JSON or in tags; ms-swift rows with tool_call roles.

    Left out: columns that are not named here. Such sets hold no times and no token ids.
    """

    def sniff(self, document: Document) -> Match:
        """`conversations`, or messages with roles or parts that only these rows have."""
        return Match.YES if any(map(_is_own, document.head)) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row."""
        return trajectories(document, _decode, _trajectory)


def _is_own(seen: Seen) -> bool:
    fields = seen.fields
    if "conversations" in fields:
        raw = bytes(fields["conversations"])
        return b'"from"' in raw or b'"role"' in raw
    if "messages" not in fields:
        return False
    raw = bytes(fields["messages"])
    if not any(role in raw for role in OWN_ROLES):
        return False
    try:
        messages = _looks(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return any(
        (
            isinstance(m.role, str)
            and KINDS.get(m.role) in ("tool_call", "tool_result")
            and m.role not in ("tool", "function")
        )
        or (isinstance(m.content, list) and any(isinstance(part, dict) and "value" in part for part in m.content))
        for m in messages
    )


def _trajectory(document: Document, record: Record, row: Row, notes: list[Note]) -> Trajectory:
    turns = row.conversations or row.messages or row.conversations
    if turns is None:
        raise InputError("neither `conversations` nor `messages`: no ShareGPT row")
    tools = (*tools_of(bytes(row.tools)), *tools_of(bytes(row.functions)))
    entries = with_written_calls(_entries(turns), {tool.name for tool in tools})
    system = [Entry([Part("system", row.system)])] if row.system else []
    return of_entries(entries, row, document, record, FORMAT, system=system, notes=notes, tools=tools)


def _entries(turns: list[Turn]) -> list[Entry]:
    """A call right after what was said is of the same turn."""
    return [_entry(turn) for turn in turns]


def _entry(turn: Turn) -> Entry:
    speaker = turn.speaker or turn.role or ""
    logged = turn.value if turn.value is not None else turn.content
    kind = KINDS.get(speaker)
    if kind == "tool_call":
        return Entry(_calls(text_of(logged)[0]), acts=True, joins=True)
    if kind == "tool_result":
        return Entry(_results(_text(logged), turn.name))
    if kind == "assistant":
        return Entry(_answer(logged), acts=True)
    text, opaque = _text(logged), _opaque(logged)
    if kind is None:
        note = ("unknown-role", f"nobody known is called {speaker!r}: kept without credit")
        return Entry([Part("meta", text, opaque=opaque)], note=note)
    return Entry([Part(kind, text, opaque=opaque)])


def _answer(logged: Any) -> list[Part]:
    parts: list[Part] = []
    pieces = logged if isinstance(logged, list) else [logged]
    for piece in pieces:
        kind = piece.get("type") if isinstance(piece, dict) else None
        value = piece.get("value") if isinstance(piece, dict) else None
        if kind == "tool_call" and isinstance(value, str):
            parts += _calls(value)
            continue
        if kind in ("reasoning", "thinking") and isinstance(value, str):
            parts.append(Part("reasoning", value))
            continue
        thought, text = thought_and_text(_text(piece))
        parts += [Part("reasoning", thought)] if thought else []
        parts += [Part("assistant", text, opaque=_opaque(piece))] if text.strip() else []
    return parts


def _plain(logged: Any) -> Any:
    """Parts whose text stands under `value`, as parts with `text`."""
    if isinstance(logged, list):
        return [_plain(part) for part in logged]
    if isinstance(logged, dict) and logged.get("type") == "text" and "value" in logged:
        return {"type": "text", "text": logged["value"]}
    return logged


def _text(logged: Any) -> str:
    return text_of(_plain(logged))[0]


def _opaque(logged: Any) -> list[str] | None:
    return text_of(_plain(logged))[1] or None


def _json(text: str) -> Any:
    """The value of a JSON text, null where it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    read = arguments_of(text)
    return read.value if read.problem is None else None


def _calls(text: str) -> list[Part]:
    """The calls that a text of JSON holds; kept as one call without a name where it is broken."""
    value = _json(text)
    calls = value if isinstance(value, list) else [value]
    if not all(isinstance(call, dict) for call in calls):
        return [Part("tool_call", arguments=arguments_of(text))]
    parts = []
    for call in calls:
        function = call.get("function")
        called = function if isinstance(function, dict) else call
        name, call_id = called.get("name"), call.get("id")
        parts.append(
            Part(
                "tool_call",
                call_id=logged_id(call_id) if isinstance(call_id, str | int) else None,
                name=name if isinstance(name, str) else None,
                arguments=arguments_of(called.get("arguments", called.get("parameters"))),
            )
        )
    return parts


def _results(text: str, name: str | None) -> list[Part]:
    value = _json(text)
    several = value if isinstance(value, list) and len(value) > 0 else []
    if not several or not all(isinstance(one, dict) and {"name", "content"} <= one.keys() for one in several):
        return [Part("tool_result", text, name=name)]
    return [
        Part(
            "tool_result",
            text_of(one["content"])[0],
            logged_id(one["tool_call_id"]) if isinstance(one.get("tool_call_id"), str | int) else None,
            one["name"] if isinstance(one["name"], str) else None,
        )
        for one in several
    ]
