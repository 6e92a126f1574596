"""OpenAI Chat Completions as they were sent: requests with their responses, responses alone, streamed chunks.

| in the log | is |
| --- | --- |
| `request` and `response`, or `messages` and `response` | one exchange: repeated history is taken once |
| `raw_messages` beside `messages` | the same with calls that are not written as text: taken instead |
| several `choices` | several answers: a trajectory each, in one group |
| `token_ids`, `prompt_token_ids`, `logprobs` | the tokens of the turn |
| chunks, as events, lines or a list | the response they add up to; a call goes on by `index`, else by id |

| note | says |
| --- | --- |
| `cut-stream` | a stream ends before the response does: what there is of it is kept |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import Call, Function, Message, entry_of
from trajcredit.formats.document import Document, Match, Seen, decoded
from trajcredit.formats.history import NULL, Exchange, Taken, conversations, each, failure
from trajcredit.formats.labels import Labels, labels_of
from trajcredit.formats.parts import json_text, time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory, TurnTokens
from trajcredit.registry import formats

__all__ = ["OpenAICompletions"]

FORMAT = "openai_completions"
CUT = Note("cut-stream", "the stream ends before the response does: what there is of it is kept")


class LogProb(msgspec.Struct, gc=False):
    """Of one sampled token."""

    logprob: float | None = None


class LogProbs(msgspec.Struct, gc=False):
    """Of the sampled tokens."""

    content: list[LogProb] | None = None


class DeltaCall(Call, gc=False):
    """A piece of a call."""

    index: int | None = None


class Delta(msgspec.Struct, gc=False):
    """A piece of an answer."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[DeltaCall] | None = None
    function_call: Function | None = None


class Choice(msgspec.Struct, gc=False):
    """One answer, or a piece of it."""

    index: int = 0
    message: Message | None = None
    delta: Delta | None = None
    finish_reason: str | None = None
    logprobs: LogProbs | None = None
    token_ids: list[int] | None = None


class Response(msgspec.Struct, gc=False):
    """What comes back, or a chunk of it."""

    id: str | None = None
    choices: list[Choice] | None = None
    model: str | None = None
    usage: Any = None
    created: Any = None
    error: Any = None
    prompt_token_ids: list[int] | None = None


class Body(msgspec.Struct, gc=False):
    """What is sent."""

    messages: list[Message] = []
    tools: msgspec.Raw = NULL
    functions: msgspec.Raw = NULL
    model: str | None = None


class Row(Labels, gc=False):
    """Any record of such a log."""

    request: Body | None = None
    response: Response | list[Response] | str | None = None
    messages: list[Message] | None = None
    raw_messages: list[Message] | None = None
    tools: msgspec.Raw = NULL
    functions: msgspec.Raw = NULL
    kwargs: Body | None = None
    choices: list[Choice] | None = None
    model: str | None = None
    usage: Any = None
    created: Any = None
    error: Any = None
    cost: Any = None
    prompt_token_ids: list[int] | None = None


_decode = msgspec.json.Decoder(Row).decode
_chunk = msgspec.json.Decoder(Response).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenAICompletions:
    """OpenAI Chat Completions logs: request and response pairs, responses, streamed chunks; history taken once.

    Left out: `top_logprobs`, settings of a request such as the temperature; pictures and sound, for which a marker
    stands.
    """

    def sniff(self, document: Document) -> Match:
        """`choices`, or a request or messages beside a response that has them."""
        return max((_how_sure(seen) for seen in document.head), default=Match.NO)

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a conversation."""
        if any(_is_chunk(seen) for seen in document.head):
            return conversations(document, FORMAT, _of_chunks(document))
        return conversations(document, FORMAT, each(document, _decode, _exchange))


def _how_sure(seen: Seen) -> Match:
    fields = seen.fields
    if seen.is_list:
        return Match.YES if _is_chunk(seen) else Match.NO
    if "choices" in fields:
        return Match.YES
    if "response" in fields and (b'"choices"' in bytes(fields["response"])):
        return Match.YES if fields.keys() & {"request", "messages"} else Match.FALLBACK
    return Match.FALLBACK if "request" in fields and b'"messages"' in bytes(fields["request"]) else Match.NO


def _is_chunk(seen: Seen) -> bool:
    fields = seen.fields
    if "choices" not in fields:
        return False
    return b"chat.completion.chunk" in bytes(fields.get("object", b"")) or b'"delta"' in bytes(fields["choices"])


# ---------------------------------------------------------------- exchanges


def _exchange(row: Row) -> Exchange:
    if row.choices is not None:
        response: Response | None = Response(
            None, row.choices, row.model, row.usage, row.created, row.error, row.prompt_token_ids
        )
        if row.messages is None:
            return _answered(Exchange(Labels()), response, None)
    elif isinstance(row.response, list):
        response = _joined(row.response)[0]
    elif isinstance(row.response, str):
        response = Response(error=row.response)
    else:
        response = row.response
    labels = labels_of(row)
    body = row.request or Body(row.raw_messages or row.messages or [], row.tools, row.functions, row.model)
    if row.request is None and row.messages is None and row.raw_messages is None and response is None:
        raise InputError("neither `request` nor `messages` nor `response` nor `choices`: no log of this API")
    exchange = Exchange(labels)
    if row.request is not None or row.messages is not None or row.raw_messages is not None:
        exchange.messages = [entry_of(message) for message in body.messages]
    declared = (body.tools, body.functions, row.kwargs.tools if row.kwargs else NULL)
    exchange.tools = next((tools for tools in declared if tools != NULL), NULL)
    exchange.model = body.model
    return _answered(exchange, response, row.cost)


def _answered(exchange: Exchange, response: Response | None, cost: Any) -> Exchange:
    if response is None:
        return exchange
    exchange.model = response.model or exchange.model
    usage, created = usage_of(response.usage, cost), time_of(response.created)
    for choice in response.choices or ():
        entry = entry_of(choice.message or Message("assistant"))
        entry.acts, entry.usage, entry.started_at = True, usage, created
        entry.tokens = _tokens(choice, response.prompt_token_ids)
        exchange.answers.append([entry])
        exchange.cut = choice.finish_reason == "length"
        usage = None  # one bill for all of them
    if response.error is not None:
        exchange.answers = [[*(exchange.answers[0] if exchange.answers else []), failure(response.error)]]
    return exchange


def _tokens(choice: Choice, prompt_ids: list[int] | None) -> TurnTokens | None:
    content = choice.logprobs.content if choice.logprobs is not None else None
    numbers = [token.logprob for token in content or ()]
    logprobs = [number for number in numbers if number is not None]
    known = logprobs if content and len(logprobs) == len(numbers) else None
    if known is None and choice.token_ids is None and prompt_ids is None:
        return None
    return TurnTokens(0, prompt_ids, choice.token_ids, known)


# ---------------------------------------------------------------- chunks


class _Stream:
    """One response as it comes in."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.response = Response(choices=[])
        self._choices: dict[int, Choice] = {}
        self._last: dict[int, DeltaCall] = {}

    def take(self, chunk: Response) -> None:
        """Add one chunk."""
        whole = self.response
        whole.model = chunk.model or whole.model
        whole.usage = chunk.usage or whole.usage
        whole.created = whole.created or chunk.created
        whole.error = chunk.error or whole.error
        whole.prompt_token_ids = chunk.prompt_token_ids or whole.prompt_token_ids
        for piece in chunk.choices or ():
            choice = self._choices.setdefault(piece.index, Choice(piece.index, Message("assistant", None, [])))
            choice.finish_reason = piece.finish_reason or choice.finish_reason
            _add_tokens(choice, piece)
            if piece.delta is not None:
                self._extend(choice, piece.delta)

    def done(self) -> tuple[Response, bool]:
        """The response, and whether all of it came."""
        self.response.choices = [self._choices[index] for index in sorted(self._choices)]
        for choice in self.response.choices:
            _settle(choice.message or Message("assistant"))
            if choice.token_ids is None and choice.logprobs is not None and not choice.logprobs.content:
                choice.logprobs = None
        return self.response, all(choice.finish_reason for choice in self.response.choices)

    def _extend(self, choice: Choice, delta: Delta) -> None:
        message = choice.message or Message("assistant", None, [])
        _append(message, "content", delta.content)
        _append(message, "reasoning_content", delta.reasoning_content or delta.reasoning)
        _append(message, "refusal", delta.refusal)
        for piece in delta.tool_calls or ():
            self._extend_call(choice, message, piece)
        if delta.function_call is not None:
            called = message.function_call = message.function_call or Function()
            called.name = called.name or delta.function_call.name
            _append(called, "arguments", delta.function_call.arguments)

    def _extend_call(self, choice: Choice, message: Message, piece: DeltaCall) -> None:
        """Index 0 is an index, an empty id is no id; where there is no index, another id is another call."""
        calls: list[Any] = message.tool_calls if message.tool_calls is not None else []
        if piece.index is not None:
            call = next((c for c in reversed(calls) if c.index == piece.index), None)
        else:
            call = self._last.get(choice.index)
        if call is not None and piece.id and call.id and piece.id != call.id:
            call = None
        if call is None and piece.index is None and not piece.id and piece.function and not piece.function.name:
            call = self._last.get(choice.index)
        if call is None:
            call = DeltaCall(piece.id or None, Function(), index=piece.index)
            calls.append(call)
        self._last[choice.index] = call
        call.id = call.id or piece.id or None
        given = piece.function or piece.custom
        if given is not None and call.function is not None:
            call.function.name = call.function.name or given.name
            _append(call.function, "arguments", given.arguments if given.arguments is not None else given.input)


def _append(to: Any, name: str, text: Any) -> None:
    """Pieces are joined once all are there: one by one that takes the square of their number."""
    if text is None:
        return
    pieces = getattr(to, name)
    if not isinstance(pieces, list):
        setattr(to, name, pieces := [])
    pieces.append(text if isinstance(text, str) else json_text(text))


def _settle(message: Message) -> None:
    called = [call.function for call in message.tool_calls or () if call.function is not None]
    for holder, name in (
        *((message, name) for name in ("content", "reasoning_content", "refusal")),
        *((function, "arguments") for function in (*called, message.function_call) if function is not None),
    ):
        pieces = getattr(holder, name)
        if isinstance(pieces, list):
            setattr(holder, name, "".join(pieces))


def _add_tokens(choice: Choice, piece: Choice) -> None:
    if piece.token_ids is not None:
        choice.token_ids = choice.token_ids if choice.token_ids is not None else []
        choice.token_ids += piece.token_ids
    if piece.logprobs is not None and piece.logprobs.content:
        choice.logprobs = choice.logprobs or LogProbs([])
        choice.logprobs.content = choice.logprobs.content or []
        choice.logprobs.content += piece.logprobs.content


def _joined(chunks: list[Response]) -> tuple[Response, bool]:
    stream = _Stream()
    for chunk in chunks:
        stream.take(chunk)
    return stream.done()


def _of_chunks(document: Document) -> Iterator[Taken | ParseError]:
    """The responses of a log of chunks, in the order in which they begin; chunks of several may be mixed."""
    streams: dict[str | None, tuple[Record, _Stream]] = {}
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            chunk, mended = decoded(document, record, _chunk)
        except ParseError as error:
            yield error
            continue
        _, stream = streams.setdefault(chunk.id, (record, _Stream()))
        stream.take(chunk)
        stream.notes += mended
    for begun, stream in streams.values():
        response, whole = stream.done()
        try:
            yield Taken(begun, _answered(Exchange(Labels()), response, None), stream.notes + ([] if whole else [CUT]))
        except InputError as error:
            yield document.error(str(error), begun)
