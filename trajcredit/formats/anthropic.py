"""Anthropic Messages: conversations, requests with their answers, answers alone, streamed answers.

| in the log | is |
| --- | --- |
| `thinking`, `redacted_thinking` | reasoning, without text where it is encrypted |
| `tool_use`, `server_tool_use`, `mcp_tool_use` | a call |
| `tool_result`, `..._tool_result` | its result, also inside the answer itself; absent `is_error` says nothing |
| `request` and `response` in one row, or one after the other | one exchange: repeated history is taken once |
| events of a stream | the answer they add up to |

| note | says |
| --- | --- |
| `unknown-role` | a message whose role this API does not have stands without credit |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats import anthropic_stream
from trajcredit.formats.chat import logged_id
from trajcredit.formats.document import Document, Match, Seen
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.history import NULL, Exchange, Taken, conversations, each, failure
from trajcredit.formats.labels import Labels, labels_of
from trajcredit.formats.parts import arguments_of, json_text, text_of, usage_of
from trajcredit.model import SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["Anthropic", "Body", "Said", "entries_of", "entry_of"]

FORMAT = "anthropic"
CUT = "max_tokens"
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
ROLES: dict[str, SpanKind] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
OWN_BLOCKS = (*CALLS, "tool_result", "thinking", "redacted_thinking")


class Said(msgspec.Struct, gc=False):
    """One message."""

    role: str
    content: Any = None
    model: str | None = None
    usage: Any = None


class Body(msgspec.Struct, gc=False):
    """What is sent."""

    messages: list[Said]
    system: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None


class Row(Labels, gc=False):
    """Any record of such a log: a request, an answer, both, or one message."""

    messages: list[Said] | None = None
    system: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None
    request: Body | None = None
    response: Any = None
    role: str | None = None
    content: Any = None
    usage: Any = None
    stop_reason: str | None = None
    type: str | None = None
    error: Any = None


_decode = msgspec.json.Decoder(Row | list[Said]).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Anthropic:
    """Anthropic Messages: conversations, request and response logs, streams; thinking, tools, server tools.

    Left out: signatures and encrypted thinking (a span without text stands for it), citations, settings of a
    request; pictures and documents, for which a marker stands.
    """

    def sniff(self, document: Document) -> Match:
        """Blocks, bodies, answers or events of this API in the first objects."""
        if not any(map(_is_own, document.head)):
            return Match.NO
        return Match.LIKELY if "messages" in document.keys else Match.YES

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a conversation: a row, or the exchanges that go on from each other."""
        if any(_is_event(seen) for seen in document.head):
            return conversations(document, FORMAT, _of_stream(document))
        exchange_of = _one_message if _are_messages(document) else _exchange
        return conversations(document, FORMAT, each(document, _decode, exchange_of))


# ---------------------------------------------------------------- sniffing


class _Look(msgspec.Struct, gc=False):
    """What tells a body, a message or an answer of this API from others."""

    type: Any = None
    role: Any = None
    content: Any = None
    messages: list[_Look] | None = None
    system: Any = None
    max_tokens: Any = None
    tools: Any = None
    request: _Look | None = None
    response: Any = None


_look = msgspec.json.Decoder(_Look | list[_Look]).decode
MARKS = tuple(f'"{kind}"'.encode() for kind in (*CALLS, "thinking", "message", "message_start", "input_schema"))
RESULT = b'tool_result"'


def _is_own(seen: Seen) -> bool:
    raw = bytes(seen.raw)
    keys = seen.fields.keys()
    if not keys & {"messages", "request", "response", "role", "type"}:
        return False
    if "response" in keys and b'"choices"' in bytes(seen.fields["response"]):
        return False  # the other large API, asked through a gateway
    may_be = "request" in keys or {"system", "max_tokens"} <= keys
    if not may_be and not any(mark in raw for mark in (*MARKS, RESULT)):
        return False
    try:
        look = _look(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if isinstance(look, list):
        return any(_has_blocks(message.content) for message in look)
    is_message = look.role is not None and _has_blocks(look.content)
    return is_message or _is_event(seen) or _is_body(look) or _is_answer(look)


def _is_body(look: _Look) -> bool:
    if look.request is not None and _is_body(look.request):
        return True
    if isinstance(look.response, dict):
        answer = look.response
        return _is_answer(_Look(answer.get("type"), answer.get("role"), answer.get("content")))
    tools = look.tools if isinstance(look.tools, list) else []
    declared = any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
    asks = look.system is not None and look.max_tokens is not None
    return bool(look.messages) and (declared or asks or any(_has_blocks(m.content) for m in look.messages or ()))


def _is_answer(look: _Look) -> bool:
    return look.type == "message" and look.role == "assistant" and isinstance(look.content, list)


def _is_event(seen: Seen) -> bool:
    return {"type", "message"} <= seen.fields.keys() and bytes(seen.fields["type"]) == b'"message_start"'


def _has_blocks(content: Any) -> bool:
    kinds = [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return any(isinstance(kind, str) and (kind in OWN_BLOCKS or kind.endswith("_tool_result")) for kind in kinds)


def _are_messages(document: Document) -> bool:
    """Whether the records are the messages of one conversation, not rows, answers or lists of messages."""
    bare = all("role" in seen.fields and "messages" not in seen.fields and not seen.is_list for seen in document.head)
    return bare and any(bytes(seen.fields["role"]) != b'"assistant"' for seen in document.head)


# ---------------------------------------------------------------- exchanges


def _exchange(row: Row | list[Said]) -> Exchange:
    if isinstance(row, list):
        return Exchange(Labels(), messages=entries_of(row))
    labels = labels_of(row)
    if row.role is not None and row.messages is None:  # an answer alone; its id is its own
        answer = entry_of(Said(row.role, row.content, row.model, row.usage))
        return Exchange(Labels(), answers=[[answer]], model=row.model, cut=row.stop_reason == CUT)
    if row.type == "error":
        return Exchange(Labels(), answers=[[failure(row.error)]])
    body = row.request or Body(row.messages or [], row.system, row.tools, row.model)
    if row.request is None and row.messages is None and row.response is None:
        raise InputError("neither `messages` nor `request` nor `response`: no Anthropic log")
    answers, model = _answers(row.response)
    cut = isinstance(row.response, dict) and row.response.get("stop_reason") == CUT
    messages = None if row.request is None and row.messages is None else entries_of(body.messages)
    alone = row.request is None and row.response is None and row.model is None  # a row of a data set, no request
    return Exchange(
        labels, _system(body.system), messages, answers, body.tools, model or body.model, cut=cut, alone=alone
    )


def _one_message(row: Row | list[Said]) -> Exchange:
    """A record that is one message: the conversation is all of them."""
    if isinstance(row, list) or row.role is None:
        raise InputError("a message with `role` and `content` is expected")
    entry = entry_of(Said(row.role, row.content, row.model, row.usage))
    return Exchange(Labels(), answers=[[entry]], model=row.model, goes_on=True)


def _answers(response: Any) -> tuple[list[list[Entry]], str | None]:
    if not isinstance(response, dict):
        return ([] if response is None else [[failure(response)]]), None
    if "content" not in response:
        return [[failure(response.get("error", response))]], None
    model = response.get("model")
    model = model if isinstance(model, str) else None
    return [[entry_of(Said("assistant", response["content"], model, response.get("usage")))]], model


def _system(system: Any) -> list[Entry]:
    text, opaque = text_of(system)
    return [Entry([Part("system", text, opaque=opaque or None)])] if text else []


def _of_stream(document: Document) -> Iterator[Taken | ParseError]:
    for item in anthropic_stream.answers(document):
        if isinstance(item, ParseError):
            yield item
            continue
        stream, notes = item
        model = stream.message.get("model")
        try:
            answer = [entry_of(Said("assistant", stream.content(), None, stream.usage))]
            if stream.error is not None:
                answer.append(failure(stream.error))
        except InputError as error:
            yield document.error(str(error), stream.record)
            continue
        model = model if isinstance(model, str) else None
        exchange = Exchange(Labels(), answers=[answer], model=model, cut=stream.stop_reason == CUT)
        yield Taken(stream.record, exchange, notes)


# ---------------------------------------------------------------- messages


def entries_of(messages: list[Said]) -> list[Entry]:
    """The messages of a request."""
    return [entry_of(message) for message in messages]


def entry_of(message: Said) -> Entry:
    """One message; results in a user message are observations, the words beside them are the user's."""
    acts = message.role == "assistant"
    kind = ROLES.get(message.role, "meta")
    blocks = message.content if isinstance(message.content, list) else [message.content]
    parts: list[Part] = []
    for block in blocks:
        own = _own_part(block) if isinstance(block, dict) else None
        if own is not None:
            parts.append(own)
            continue
        text, opaque = text_of(block if isinstance(block, str) else [block] if block is not None else None)
        if text and not text.isspace():
            _say(parts, Part(kind, text, opaque=opaque or None))
    if not parts and not acts:
        parts.append(Part(kind))
    unknown = ("unknown-role", f"no message has a role {message.role!r} here: kept without credit")
    note = None if message.role in ROLES else unknown
    return Entry(parts, acts=acts, usage=usage_of(message.usage) if acts else None, note=note)


def _say(parts: list[Part], part: Part) -> None:
    """Text blocks that follow each other are one text."""
    last = parts[-1] if parts else None
    if last is None or last.kind != part.kind:
        parts.append(part)
        return
    last.text += "\n" + part.text
    last.opaque = [*(last.opaque or ()), *(part.opaque or ())] or None


def _own_part(block: dict[str, Any]) -> Part | None:
    """Reasoning, a call or a result; null for everything else."""
    kind = block.get("type")
    if kind == "thinking":
        return Part("reasoning", _text(block.get("thinking")))
    if kind == "redacted_thinking":
        return Part("reasoning", "", opaque=["redacted_thinking"])
    if kind in CALLS:
        name = block.get("name")
        arguments = arguments_of(block.get("input"))
        return Part(
            "tool_call",
            call_id=_id(block.get("id")),
            name=name if isinstance(name, str) else None,
            arguments=arguments,
        )
    if isinstance(kind, str) and kind.endswith("tool_result"):
        return _result(block, kind)
    return None


def _result(block: dict[str, Any], kind: str) -> Part:
    content, error = block.get("content"), block.get("is_error")
    inner = content.get("type") if isinstance(content, dict) else None
    if kind == "tool_result" or not isinstance(content, dict | list):
        text, opaque = text_of(content)
    else:
        text, opaque = _served(content)
    if error is None and isinstance(inner, str):  # of a tool that the provider ran
        error = True if inner.endswith("_error") else _exit(content or {})
    return Part(
        "tool_result",
        text,
        _id(block.get("tool_use_id")),
        error=error if isinstance(error, bool) else None,
        opaque=opaque or None,
    )


def _served(content: Any) -> tuple[str, list[str]]:
    """What a tool of the provider gave: its output where there is one, else all of it as JSON."""
    if isinstance(content, dict) and "stdout" in content:
        return "\n".join(_text(content.get(key)) for key in ("stdout", "stderr") if content.get(key)), []
    if isinstance(content, list) and all(isinstance(b, dict) and b.get("type") == "text" for b in content):
        return text_of(content)
    return json_text(content), []


def _exit(content: dict[str, Any]) -> bool | None:
    code = content.get("return_code")
    return code != 0 if isinstance(code, int) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def _id(value: Any) -> str | None:
    return logged_id(value) if isinstance(value, str | int) else None
