"""What one message or item of a log says, as the spans it becomes, whatever the provider's form is.

Providers nest calls, results and reasoning in ways of their own; a reader turns each message into an `Entry`, and
`write` puts entries on a transcript. `said` is what two copies of one message have in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError
from trajcredit.formats.parts import Arguments
from trajcredit.formats.transcript import Transcript
from trajcredit.model import ACTION_KINDS, SpanKind, SpanTokens, TurnTokens

__all__ = ["Entry", "Part", "bounded", "said", "write", "write_all"]

MOST_COPIED = 1_000_000
"""Messages that the branches of one record may have in all."""


class Part(msgspec.Struct, gc=False):
    """One span to be."""

    kind: SpanKind
    text: str = ""
    call_id: str | None = None
    name: str | None = None
    arguments: Arguments | None = None
    error: bool | None = None
    opaque: list[str] | None = None
    """Types of the content parts that are no text."""
    inferred: bool = False
    tokens: SpanTokens | None = None


class Entry(msgspec.Struct, gc=False):
    """One message or item."""

    parts: list[Part]
    acts: bool = False
    """The policy produced it: it begins a turn."""
    joins: bool = False
    """It belongs to the turn of the entry before it, if that acts."""
    agent: str | None = None
    usage: dict[str, int | float] | None = None
    started_at: str | None = None
    ended_at: str | None = None
    note: tuple[str, str] | None = None
    """What is to be said about it: code and sentence."""
    tokens: TurnTokens | None = None
    """Of the whole turn; its number is that of the turn once it is written."""
    mask: list[int] | None = None
    """Of the sampled ids of `tokens`: 1 where they are trained; null: all are."""


def bounded(copies: int, entries: int, what: str) -> None:
    """Refuse a record that has its beginning so often that a small file would fill the memory."""
    if copies > 1 and copies * entries > MOST_COPIED:
        raise InputError(f"{copies} {what}, each with up to {entries} messages: more than {MOST_COPIED} in all")


def write_all(transcript: Transcript, entries: Iterable[Entry], first: int | None = 0) -> list[TurnTokens]:
    """Several entries; the first has this place in the log's own list, null: they are in none. Gives their tokens."""
    turns: list[TurnTokens] = []
    acted = False
    for index, entry in enumerate(entries, first or 0):
        write(transcript, entry, None if first is None else index, goes_on=acted and entry.joins)
        acted = entry.acts and not (entry.parts and entry.parts[-1].kind == "tool_result")
        if entry.tokens is not None:
            turns.append(replace(entry.tokens, turn=transcript.turn))
    return turns


def write(transcript: Transcript, entry: Entry, index: int | None, goes_on: bool = False) -> None:
    """The spans of one entry; after a result inside of it (of a tool that the provider runs) a new turn begins."""
    if entry.acts and not goes_on:
        transcript.begin_turn()
    first = len(transcript.spans)
    observed = False
    for part in entry.parts:
        if part.kind in ACTION_KINDS and (observed or transcript.turn < 0):
            transcript.begin_turn()
        observed = part.kind == "tool_result"
        _write(transcript, part, index, entry.agent)
    if entry.started_at is not None or entry.ended_at is not None:
        transcript.mark(first, started_at=entry.started_at, ended_at=entry.ended_at)
    if entry.usage is not None:
        transcript.count(entry.usage, first)
    if entry.note is not None:
        transcript.note(*entry.note, span=first if first < len(transcript.spans) else None)
    if entry.tokens is not None and len(transcript.spans) == first + 1:  # else nobody knows where the cuts are
        of_all = SpanTokens(entry.tokens.sampled_ids, entry.tokens.logprobs, entry.mask)
        transcript.mark(first, tokens=of_all)
    elif entry.tokens is not None and entry.mask is not None:
        _mask_first(transcript, first, entry.mask)


def _mask_first(transcript: Transcript, first: int, mask: list[int]) -> None:
    """The mask of a turn of several spans, on the first of them: dropped, it would train what it leaves out."""
    for at, span in enumerate(transcript.spans[first:], first):
        if span.kind in ACTION_KINDS and span.turn == transcript.turn:
            transcript.spans[at] = replace(span, tokens=SpanTokens(mask=mask))
            return


def _write(transcript: Transcript, part: Part, index: int | None, agent: str | None) -> None:
    at = len(transcript.spans)
    match part.kind:
        case "tool_call":
            transcript.call(part.name, part.call_id, part.arguments or Arguments({}, None), index, agent)
        case "tool_result":
            transcript.result(part.text, part.call_id, part.name, part.error, index, agent)
        case kind:
            transcript.add(kind, part.text, index, agent)
    if part.inferred or part.tokens is not None:
        transcript.mark(at, inferred=part.inferred or None, tokens=part.tokens)
    if part.opaque:
        transcript.opaque(part.opaque)


def said(entry: Entry) -> Hashable:
    """What a copy of this message in a later request says too; null where nothing of it need come again.

    Clients drop reasoning, join or split texts, and give ids to calls that had none.
    """
    texts: dict[str, str] = {}
    calls: list[Hashable] = []
    for part in entry.parts:
        if part.kind == "tool_call":
            calls.append((part.name, _arguments(part.arguments)))
        elif part.kind == "tool_result":
            calls.append(part.text)
        elif part.kind not in ("reasoning", "meta"):
            texts[part.kind] = texts.get(part.kind, "") + part.text
    words = tuple((kind, "".join(text.split())) for kind, text in texts.items() if text and not text.isspace())
    return (words, tuple(calls)) if words or calls else None


_sorted = msgspec.json.Encoder(order="deterministic")


def _arguments(arguments: Arguments | None) -> Any:
    if arguments is None:
        return b"{}"
    return arguments.raw if arguments.value is None and arguments.raw else _sorted.encode(arguments.value)
