"""Which characters of a sampled text belong to which span, and so which tokens do.

Every character has an owner. What a span says is its own; the markup around goes by these rules: before the first span
it is the first one's, after the last (with the token that ends the turn) the last one's; between two spans what closes
the earlier one, up to and including the last closing tag, is the earlier one's and the rest the later one's. A token
belongs to the owner of its first character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trajcredit.arrays import I64

__all__ = ["Piece", "last_closing", "owner_of_tokens", "owners", "territories"]

_CLOSING = re.compile(
    r"</[^<>\s]+>|\[/[^\[\]\s]+\]|<[|｜](?=[^<>|｜]*[|｜]>)[^<>|｜]*?end[^<>|｜]*[|｜]>|<[^<>|\s]+\|>"
)
"""`</think>`, `[/TOOL_CALLS]`, `<|end|>`, `<tool_call|>`. The third one's end is looked for first: linear time."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start:end` of a text are of this span."""

    span: int
    start: int
    end: int


def territories(text: str, pieces: Sequence[Piece], whole: int) -> list[Piece]:
    """The text divided among spans without a gap, in order; all of it is `whole`'s where there are no pieces.

    `pieces` is what the spans say, in order of their places, not overlapping; neighbours of one span become one.
    """
    if not text:
        return []
    if not pieces:
        return [Piece(whole, 0, len(text))]
    cuts = [
        0,
        *(_cut(text, before.end, after.start) for before, after in pairwise(pieces)),
        len(text),
    ]
    divided: list[Piece] = []
    for piece, start, end in zip(pieces, cuts, cuts[1:], strict=False):
        if divided and divided[-1].span == piece.span:
            divided[-1] = Piece(piece.span, divided[-1].start, end)
        elif end > start:
            divided.append(Piece(piece.span, start, end))
    return divided


def last_closing(text: str, start: int, end: int) -> int | None:
    """Where the last closing tag between two places ends."""
    closing = list(_CLOSING.finditer(text, start, end))
    return closing[-1].end() if closing else None


def _cut(text: str, start: int, end: int) -> int:
    """Where the markup between two spans is divided."""
    return last_closing(text, start, end) or start


def owners(starts: I64, divided: Sequence[Piece]) -> list[Piece]:
    """The tokens of each territory, as pieces of the token sequence; one that holds no token's beginning is left out.

    starts   i64[n]  the character at which each token begins, never going back
    """
    found: list[Piece] = []
    for piece in divided:
        first, last = np.searchsorted(starts, [piece.start, piece.end])
        if last > first:
            found.append(Piece(piece.span, int(first), int(last)))
    return found


def owner_of_tokens(offsets: I64, pieces: Sequence[Piece]) -> I64:
    """i64[n] the position in `pieces` of each token's owner, -1 where its first character is nobody's.

    offsets  i64[n, 2]  characters (code points) of each token; where nothing but these characters is to be trained
    """
    found = np.full(len(offsets), -1, dtype=np.int64)
    for number, piece in enumerate(pieces):
        found[(offsets[:, 0] >= piece.start) & (offsets[:, 0] < piece.end)] = number
    return found
