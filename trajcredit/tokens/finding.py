"""Where the spans of a turn stand in a text that was sampled: each found in order, word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.model import Span, Trajectory
from trajcredit.tokens.messages import ChatMessage, arguments_text, chat_messages
from trajcredit.tokens.territories import Piece, last_closing

__all__ = [
    "NotFoundInTextError",
    "Wanted",
    "found_in_order",
    "wanted_of_call",
    "wanted_of_message",
    "wanted_of_turn",
    "with_arguments",
]

GAP = 64
"""Most characters of markup between the name of a call and its arguments."""

_decode = msgspec.json.Decoder().decode


class NotFoundInTextError(InputError):
    """What a span says does not stand in the text."""

    def __init__(self, span: int, reason: str) -> None:
        self.span = span
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for: a text, or the name of a call with its arguments in the forms they may be written in."""

    span: int
    text: str
    arguments: tuple[str, ...] | None = None
    """None for a text."""


def wanted_of_call(index: int, span: Span) -> Wanted:
    """What a call says, whatever stands around it."""
    return Wanted(index, span.name or "", _forms(arguments_text(span)))


def wanted_of_message(message: ChatMessage) -> list[Wanted]:
    """What an assistant message says, in the order of reasoning, content and calls."""
    found: list[Wanted] = []
    calls = iter(message.calls)
    for part in message.parts:
        if part.field == "call":
            call = next(calls)
            found.append(Wanted(part.span, call.name, _forms(call.arguments)))
        else:
            text = (message.reasoning if part.field == "reasoning" else message.content) or ""
            found.append(Wanted(part.span, text[part.start : part.end]))
    return found


def wanted_of_turn(spans: Sequence[Span], which: Sequence[int]) -> list[list[Wanted]]:
    """What the spans of one turn say, in the orders it may have been said: that of the log first.

    InputError where a call names no tool.
    """
    alone = Trajectory(id="turn", spans=[msgspec.structs.replace(spans[i], result_of=None) for i in which])
    found = [w for message in chat_messages(alone) for w in wanted_of_message(message)]
    as_messages = [Wanted(which[w.span], w.text, w.arguments) for w in found]
    logged: list[tuple[int, Wanted]] = []
    holder = -1
    for wanted in as_messages:
        inside = wanted.arguments is None and spans[wanted.span].kind == "tool_call"  # a call that a text still holds
        holder = holder if inside else wanted.span
        logged.append((holder, wanted))
    in_order = [wanted for _, wanted in sorted(logged, key=lambda pair: pair[0])]
    return [in_order, as_messages] if in_order != as_messages else [in_order]


def found_in_order(text: str, wanted: Sequence[Wanted]) -> list[Piece]:
    """Where each stands, one after the other; whoever says nothing has no piece. White space around a text may differ.

    NotFoundInTextError names the first span that cannot be found behind those before it.
    """
    pieces: list[tuple[Wanted, Piece]] = []
    at = 0
    for one in wanted:
        if not one.text.strip():
            continue
        piece = _text(text, one, at) if one.arguments is None else _call(text, one, at)
        if piece is None:
            what = "its text" if one.arguments is None else f"the name {one.text!r}"
            raise NotFoundInTextError(one.span, f"{what} does not stand in what was sampled: {text[at : at + 60]!r}")
        pieces.append((one, piece))
        at = piece.end if one.arguments is None else _arguments_end(text, piece.end, len(text), one.arguments)
    return with_arguments(text, pieces)


def with_arguments(text: str, found: Sequence[tuple[Wanted, Piece]]) -> list[Piece]:
    """The pieces, those of calls up to the end of their arguments.

    The last one needs no end, nor does one that a closing tag ends. NotFoundInTextError where nothing tells where the
    arguments of a call end that another span follows.
    """
    pieces: list[Piece] = []
    for n, (one, piece) in enumerate(found):
        after = found[n + 1][1].start if n + 1 < len(found) else len(text)
        end = piece.end
        if one.arguments is not None:
            end = _arguments_end(text, piece.end, after, one.arguments)
            if end == piece.end and n + 1 < len(found) and last_closing(text, end, after) is None:
                end = _values_end(text, end, after, one)
        pieces.append(Piece(piece.span, piece.start, end))
    return pieces


def _arguments_end(text: str, start: int, end: int, forms: Sequence[str]) -> int:
    """Where the arguments of a call end that begin shortly behind `start`; `start` where none of the forms does."""
    best = None
    for form in forms:
        at = text.find(form, start, min(end, start + GAP + len(form)))
        if at >= 0 and (best is None or at < best[0] or (at == best[0] and at + len(form) > best[1])):
            best = (at, at + len(form))
    return start if best is None else best[1]


def _values_end(text: str, start: int, end: int, one: Wanted) -> int:
    """Where the last value of arguments ends that are written in a way of their own, with the brackets behind it."""
    try:
        value = _decode((one.arguments or ("",))[0])
    except (msgspec.DecodeError, RecursionError):
        value = None
    leaves = [leaf for leaf in _leaves(value) if leaf]
    last = max((at + len(leaf) for leaf in leaves if (at := text.rfind(leaf, start, end)) >= 0), default=None)
    if last is None and leaves:
        raise NotFoundInTextError(one.span, f"the arguments of {one.text} are not found before what follows them")
    closing = re.compile(r"[\s\"')\]}]*").match(text, start if last is None else last, end)
    assert closing is not None
    return closing.start() + len(closing[0].rstrip())


def _leaves(value: Any) -> Iterator[str]:
    """The texts that stand for the values in nested arguments."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
        yield json.dumps(value, ensure_ascii=False)[1:-1]
    elif value is not None:
        yield json.dumps(value)
        yield str(value)


def _text(text: str, one: Wanted, at: int) -> Piece | None:
    core = one.text.strip()
    for found in _places(text, core, at):
        if not _in_tag(text, at, found):
            start, end = found, found + len(core)
            before = one.text[: len(one.text) - len(one.text.lstrip())]
            after = one.text[len(one.text.rstrip()) :]
            if start - len(before) >= at and text.startswith(before, start - len(before)):
                start -= len(before)
            return Piece(one.span, start, end + len(after) if text.startswith(after, end) else end)
    return None


def _call(text: str, one: Wanted, at: int) -> Piece | None:
    name = re.escape(one.text)
    for pattern in (f'(?<="){name}(?=")', f"(?<==){name}(?=>)", f"(?<=<){name}(?=>)", rf"(?<![\w/]){name}(?=\()"):
        if (piece := _named(text, one, at, pattern)) is not None:
            return piece
    return _named(text, one, at, rf"(?<![\w/]){name}(?!\w)")


def _named(text: str, one: Wanted, at: int, pattern: str) -> Piece | None:
    for match in re.compile(pattern).finditer(text, at):
        if not _in_tag(text, at, match.start(), closing=True):
            return Piece(one.span, match.start(), match.end())
    return None


def _places(text: str, core: str, at: int) -> Iterator[int]:
    while (at := text.find(core, at)) >= 0:
        yield at
        at += 1


def _in_tag(text: str, start: int, at: int, closing: bool = False) -> bool:
    """Whether a place lies inside of a tag of the markup that begins at `start`; `closing`: of a closing one."""
    opened = text.rfind("<", start, at)
    inside = opened >= 0 and text.rfind(">", opened, at) < 0
    return inside and (not closing or text.startswith("</", opened))


def _forms(arguments: str) -> tuple[str, ...]:
    """The arguments as logged, and as JSON writers would write them."""
    try:
        value: Any = _decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return (arguments,)
    forms = (
        arguments,
        json.dumps(value, ensure_ascii=False),
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, ensure_ascii=False, indent=2),
        json.dumps(value, ensure_ascii=False, sort_keys=True),
    )
    return tuple(dict.fromkeys(forms))
