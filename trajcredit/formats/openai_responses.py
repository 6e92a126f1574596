"""OpenAI Responses: requests and responses, pairs of them, bare lists of items, streamed events.

| item | is |
| --- | --- |
| `reasoning` | reasoning: its text, else its summary, else nothing where it is encrypted |
| `function_call`, `custom_tool_call`, `computer_call`, `local_shell_call`, ... | a call, known by `call_id` |
| `..._output` | its result; the API has no error flag |
| `mcp_call`, `web_search_call`, `file_search_call`, `code_interpreter_call`, ... | a call and its result in one |
| `mcp_list_tools`, `compaction`, what is not known | kept as it is, without credit |

Items that the model produced without an observation between them are one turn.

| note | says |
| --- | --- |
| `unknown-item` | an item of a type that is not known is kept as JSON |
| `cut-stream` | the stream ends before the response does: what there is of it is kept |
| `run-error` | the response says that it failed or is incomplete |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, Match, Seen, decoded
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.history import NULL, Exchange, Taken, conversations, each, failure
from trajcredit.formats.items import entries_of
from trajcredit.formats.labels import Labels, labels_of
from trajcredit.formats.parts import text_of, time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["OpenAIResponses"]

FORMAT = "openai_responses"
Object: TypeAlias = dict[str, Any]
CUT = Note("cut-stream", "the stream ends before the response does: what there is of it is kept")


class Body(msgspec.Struct, gc=False):
    """What is sent."""

    input: str | list[Object] | None = None
    instructions: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None
    previous_response_id: str | None = None


class Response(msgspec.Struct, gc=False):
    """What comes back."""

    id: str | None = None
    object: str | None = None
    output: list[Object] = []
    instructions: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None
    previous_response_id: str | None = None
    usage: Any = None
    status: str | None = None
    error: Any = None
    incomplete_details: Any = None
    created_at: Any = None
    completed_at: Any = None


class Row(Labels, gc=False):
    """Any record of such a log: a request, a response, or both."""

    input: str | list[Object] | None = None
    output: list[Object] | None = None
    instructions: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None
    previous_response_id: str | None = None
    usage: Any = None
    status: str | None = None
    error: Any = None
    incomplete_details: Any = None
    created_at: Any = None
    completed_at: Any = None
    object: str | None = None
    request: Body | None = None
    response: Response | None = None


class Event(msgspec.Struct, gc=False):
    """One event of a stream; the last ones hold the whole response."""

    type: str
    response: Response | None = None
    item: Object | None = None
    output_index: int = 0


_decode = msgspec.json.Decoder(Row | list[Object]).decode
_item = msgspec.json.Decoder(Object).decode
_event = msgspec.json.Decoder(Event).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """OpenAI Responses: items of requests and responses, chained or repeated history, hosted tools, streams.

    Left out: encrypted reasoning (a span without text stands for it), annotations, settings of a request.
    """

    def sniff(self, document: Document) -> Match:
        """`output` of a response, `input` with items, pairs of both, bare items, or events."""
        return Match.YES if any(map(_is_own, document.head)) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a conversation."""
        if any(_is_event(seen) for seen in document.head):
            return conversations(document, FORMAT, _of_stream(document))
        if any(_is_item(seen) and not seen.is_list for seen in document.head):
            return conversations(document, FORMAT, each(document, _item, _one_item))
        return conversations(document, FORMAT, each(document, _decode, _exchange))


# ---------------------------------------------------------------- sniffing


class _Look(msgspec.Struct, gc=False):
    type: Any = None
    role: Any = None
    id: Any = None
    call_id: Any = None
    object: Any = None


class _Body(msgspec.Struct, gc=False):
    input: str | list[_Look] | None = None
    output: str | list[_Look] | None = None
    object: Any = None
    model: Any = None
    instructions: Any = None


_body = msgspec.json.Decoder(_Body).decode
_look = msgspec.json.Decoder(_Look).decode
ITEMS = ("reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")


def _is_own(seen: Seen) -> bool:
    fields = seen.fields
    try:
        if _is_event(seen) or _is_item(seen):
            return True
        if "request" in fields or "response" in fields:
            bodies = [fields[key] for key in ("request", "response") if key in fields]
            return any(_is_body(_body(raw)) for raw in bodies if bytes(raw).startswith(b"{"))
        if fields.keys() & {"input", "output"}:
            return _is_body(_body(seen.raw)) if not seen.is_list else False
    except (msgspec.DecodeError, RecursionError):
        pass
    return False


def _is_body(body: _Body) -> bool:
    if body.object == "response" and isinstance(body.output, list):
        return True
    if isinstance(body.input, str):
        return isinstance(body.model, str) and body.output is None
    items = body.input or []
    return any(item.type in ITEMS or (item.type == "message" and item.role) for item in items) or (
        isinstance(body.model, str) and bool(items) and all(item.role or item.type for item in items)
    )


def _is_item(seen: Seen) -> bool:
    fields = seen.fields
    kind = bytes(fields["type"]).strip(b'"').decode("utf-8", "replace") if "type" in fields else ""
    return kind in ITEMS and bool(fields.keys() & {"call_id", "summary", "encrypted_content"})


def _is_event(seen: Seen) -> bool:
    return "type" in seen.fields and bytes(seen.fields["type"]).startswith(b'"response.')


# ---------------------------------------------------------------- exchanges


def _exchange(row: Row | list[Object]) -> Exchange:
    if isinstance(row, list):
        return Exchange(Labels(), messages=entries_of(row), alone=True)
    labels = labels_of(row)
    if row.request is None and row.response is None and row.object == "response":
        return _answered(Labels(), None, _response_of(row))
    body = row.request or Body(row.input, row.instructions, row.tools, row.model, row.previous_response_id)
    if body.input is None and row.response is None:
        raise InputError("neither `input` nor a `response` with `output`: no log of the Responses API")
    if row.request is None and row.response is None and row.output is not None:
        return _answered(labels, body, _response_of(row))
    return _answered(labels, body, row.response)


def _response_of(row: Row) -> Response:
    names = Response.__struct_fields__
    fields = {name: getattr(row, name) for name in names if hasattr(row, name)}
    fields["id"] = row.id if isinstance(row.id, str) else None
    fields["output"] = row.output or []
    return Response(**fields)


def _answered(labels: Labels, body: Body | None, response: Response | None) -> Exchange:
    """An exchange of a request and a response, either of which the log may lack."""
    said = body if body is not None and body.input is not None else None
    exchange = Exchange(labels)
    if said is not None:
        messages = said.input
        exchange.messages = (
            [Entry([Part("user", messages)])] if isinstance(messages, str) else entries_of(messages or [])
        )
    if response is not None:
        exchange.answers = [_answer(response)]
        exchange.answer_id = response.id
        exchange.cut = response.status == "incomplete"
    exchange.previous_id = (body.previous_response_id if body else None) or (
        response.previous_response_id if response else None
    )
    source = body or response
    if source is not None:
        text, opaque = text_of(source.instructions)
        exchange.system = [Entry([Part("system", text, opaque=opaque or None)])] if text else []
        exchange.tools, exchange.model = source.tools, (response.model if response else None) or source.model
    return exchange


def _answer(response: Response) -> list[Entry]:
    entries = entries_of(response.output)
    start, end = time_of(response.created_at), time_of(response.completed_at)
    usage = usage_of(response.usage)
    for entry in entries:
        if entry.acts:
            entry.started_at, entry.ended_at = start, end
            entry.usage, usage = usage, None
    if response.error is not None:
        entries.append(failure(response.error))
    elif response.status in ("failed", "incomplete") and response.incomplete_details is not None:
        entries.append(failure(response.incomplete_details))
    if entries and entries[0].acts:
        entries[0].joins = False
    return entries


def _one_item(item: Object) -> Exchange:
    if item.get("type") is None and item.get("role") is None:
        raise InputError("neither `type` nor `role`: no item")
    return Exchange(Labels(), answers=[entries_of([item])], goes_on=True)


def _of_stream(document: Document) -> Iterator[Taken | ParseError]:
    """A response for every `response.created`, from its last event, or from its items where that never came."""
    begun: tuple[Record, Response | None] | None = None
    items: dict[int, Object] = {}
    notes: list[Note] = []

    def cut() -> Iterator[Taken]:
        if begun is not None and items:
            record, response = begun
            partial = msgspec.structs.replace(response or Response(), output=[items[i] for i in sorted(items)])
            yield Taken(record, _answered(Labels(), None, partial), [*notes, CUT])

    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            event, mended = decoded(document, record, _event)
        except ParseError as error:
            yield error
            continue
        if event.type in ("response.created", "response.queued") or begun is None:
            yield from cut()
            begun, items, notes = (record, event.response), {}, []
        notes += mended
        if event.type == "response.output_item.done" and event.item is not None:
            items[event.output_index] = event.item
        if event.type in ("response.completed", "response.failed", "response.incomplete") and event.response:
            yield Taken(begun[0], _answered(Labels(), None, event.response), notes)
            begun, items, notes = None, {}, []
    yield from cut()
