"""Gemini generateContent: requests and responses, pairs of them, bare contents, streamed responses; either spelling.

| part | is |
| --- | --- |
| `text`, with `thought: true` | text, reasoning |
| `functionCall`, `functionResponse` | a call, its result: by `id`, else by name; `error` in the response is one |
| `executableCode`, `codeExecutionResult` | a call of `code_execution` that Gemini ran, and its result |

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
from trajcredit.formats.document import Document, Match, Seen, decoded
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.gemini_parts import Content, entry_of, text_parts
from trajcredit.formats.history import NULL, Exchange, Taken, conversations, each, failure
from trajcredit.formats.labels import Labels, labels_of
from trajcredit.formats.parts import time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory, TurnTokens
from trajcredit.registry import formats

__all__ = ["Gemini"]

FORMAT = "gemini"
CUT = Note("cut-stream", "the stream ends before the response does: what there is of it is kept")


class Token(msgspec.Struct, gc=False, rename="camel"):
    """One sampled token."""

    token_id: int | None = None
    log_probability: float | None = None


class LogProbs(msgspec.Struct, gc=False, rename="camel"):
    """Of the sampled tokens."""

    chosen_candidates: list[Token] | None = None


class Candidate(msgspec.Struct, gc=False):
    """One answer, or a piece of it."""

    content: Content | None = None
    index: int = 0
    finishReason: str | None = None  # noqa: N815 - as logged
    finish_reason: str | None = None
    logprobsResult: LogProbs | None = None  # noqa: N815


class Response(msgspec.Struct, gc=False):
    """What comes back."""

    candidates: list[Candidate] | None = None
    usageMetadata: Any = None  # noqa: N815
    usage_metadata: Any = None
    modelVersion: str | None = None  # noqa: N815
    model_version: str | None = None
    responseId: str | None = None  # noqa: N815
    response_id: str | None = None
    createTime: Any = None  # noqa: N815
    error: Any = None


class Body(msgspec.Struct, gc=False):
    """What is sent."""

    contents: str | Content | list[Content | str] | None = None
    systemInstruction: Any = None  # noqa: N815
    system_instruction: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None


class Row(Labels, gc=False):
    """Any record of such a log."""

    contents: str | Content | list[Content | str] | None = None
    systemInstruction: Any = None  # noqa: N815
    system_instruction: Any = None
    tools: msgspec.Raw = NULL
    model: str | None = None
    request: Body | None = None
    response: Response | None = None


_decode = msgspec.json.Decoder(Row | list[Content]).decode
_response = msgspec.json.Decoder(Response).decode
_content = msgspec.json.Decoder(Content).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Gemini:
    """Gemini generateContent: contents with parts, requests and responses, thoughts, code execution, streams.

    Left out: signatures of thoughts, safety ratings, grounding, settings of a request.
    """

    def sniff(self, document: Document) -> Match:
        """`contents`, `candidates`, or contents themselves."""
        return Match.YES if any(map(_is_own, document.head)) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a conversation."""
        heads = document.head
        if any("candidates" in seen.fields for seen in heads):
            return conversations(document, FORMAT, _responses(document))
        if heads and all({"role", "parts"} <= seen.fields.keys() and not seen.is_list for seen in heads):
            return conversations(document, FORMAT, each(document, _content, _one_content))
        return conversations(document, FORMAT, each(document, _decode, _exchange))


def _is_own(seen: Seen) -> bool:
    fields = seen.fields
    if "contents" in fields:
        return b'"parts"' in bytes(fields["contents"]) or b'"candidates"' in bytes(fields.get("response", b""))
    if "candidates" in fields:
        return b'"content"' in bytes(fields["candidates"]) or b'"finishReason"' in bytes(fields["candidates"])
    if "request" in fields:
        return b'"contents"' in bytes(fields["request"]) and b'"parts"' in bytes(fields["request"])
    return "parts" in fields and bytes(fields.get("role", b"")) in (b'"user"', b'"model"', b'"function"')


# ---------------------------------------------------------------- exchanges


def _exchange(row: Row | list[Content]) -> Exchange:
    if isinstance(row, list):
        return Exchange(Labels(), messages=[entry_of(content) for content in row], alone=True)
    labels = labels_of(row)
    body = row.request or Body(row.contents, row.systemInstruction, row.system_instruction, row.tools, row.model)
    if body.contents is None and row.response is None:
        raise InputError("neither `contents` nor `response`: no Gemini log")
    exchange = Exchange(labels, _system(body.systemInstruction or body.system_instruction))
    if body.contents is not None:
        contents = body.contents if isinstance(body.contents, list) else [body.contents]
        exchange.messages = [
            Entry([Part("user", content)]) if isinstance(content, str) else entry_of(content) for content in contents
        ]
    exchange.tools, exchange.model = body.tools, body.model
    return _answered(exchange, row.response)


def _system(instruction: Any) -> list[Entry]:
    if isinstance(instruction, str):
        return [Entry([Part("system", instruction)])] if instruction else []
    parts = text_parts(instruction.get("parts"), "system") if isinstance(instruction, dict) else []
    return [Entry(parts)] if parts else []


def _answered(exchange: Exchange, response: Response | None) -> Exchange:
    if response is None:
        return exchange
    exchange.model = response.modelVersion or response.model_version or exchange.model
    usage = usage_of(response.usageMetadata or response.usage_metadata)
    for candidate in response.candidates or ():
        entry = entry_of(candidate.content or Content("model"))
        entry.acts, entry.usage, entry.tokens = True, usage, _tokens(candidate)
        entry.started_at = time_of(response.createTime)
        exchange.answers.append([entry])
        exchange.cut = (candidate.finishReason or candidate.finish_reason) == "MAX_TOKENS"
        usage = None
    if response.error is not None:
        exchange.answers.append([failure(response.error)])
    return exchange


def _tokens(candidate: Candidate) -> TurnTokens | None:
    chosen = candidate.logprobsResult.chosen_candidates if candidate.logprobsResult else None
    if not chosen:
        return None
    ids = [token.token_id for token in chosen if token.token_id is not None]
    logprobs = [token.log_probability for token in chosen if token.log_probability is not None]
    complete = len(ids) == len(chosen), len(logprobs) == len(chosen)
    return (
        TurnTokens(0, None, ids if complete[0] else None, logprobs if complete[1] else None) if any(complete) else None
    )


def _one_content(content: Content) -> Exchange:
    return Exchange(Labels(), answers=[[entry_of(content)]], goes_on=True)


# ---------------------------------------------------------------- responses alone, and streamed


def _responses(document: Document) -> Iterator[Taken | ParseError]:
    """Responses; those of one id that follow each other are pieces of one."""
    begun: tuple[Record, Response, list[Note]] | None = None
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            piece, mended = decoded(document, record, _response)
            if begun is not None and _goes_on(begun[1], piece):
                _extend(begun[1], piece)
                begun[2].extend(mended)
                continue
            if begun is not None:
                yield _taken(*begun)
            begun = record, piece, list(mended)
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error), record if isinstance(record, Record) else None)
    if begun is not None:
        try:
            yield _taken(*begun)
        except InputError as error:
            yield document.error(str(error), begun[0])


def _taken(record: Record, response: Response, notes: list[Note]) -> Taken:
    cut = [] if all(map(_is_done, response.candidates or ())) else [CUT]
    return Taken(record, _answered(Exchange(Labels()), response), notes + cut)


def _is_done(candidate: Candidate) -> bool:
    return (candidate.finishReason or candidate.finish_reason) is not None


def _goes_on(response: Response, piece: Response) -> bool:
    known = response.responseId or response.response_id
    same = known is not None and known == (piece.responseId or piece.response_id)
    unnamed = known is None and (piece.responseId or piece.response_id) is None
    return same or (unnamed and not all(map(_is_done, response.candidates or ())))


def _extend(response: Response, piece: Response) -> None:
    """More parts, and what only the last piece knows."""
    candidates = {candidate.index: candidate for candidate in response.candidates or ()}
    for more in piece.candidates or ():
        candidate = candidates.setdefault(more.index, more)
        if candidate is more:
            continue
        if more.content is not None:
            before = candidate.content or Content("model", [])
            candidate.content = Content(before.role or more.content.role, [*before.parts, *more.content.parts])
        candidate.finishReason = more.finishReason or more.finish_reason or candidate.finishReason
    response.candidates = [candidates[index] for index in sorted(candidates)]
    response.usageMetadata = piece.usageMetadata or piece.usage_metadata or response.usageMetadata
    response.error = piece.error or response.error
