"""Text found in a trajectory: in all of it, whatever part of it a reader has loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from trajcredit.errors import InputError
from trajcredit.model import Span, body
from trajcredit.store import Store, shown

__all__ = ["LONGEST", "MOST_HITS", "Found", "find", "fold"]

LONGEST = 200
"""Characters that are looked for."""
MOST_HITS = 5000
"""Hits whose place is told; the rest is counted."""
SECONDS = 2.0
"""After that no further span is begun."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a text stands. `span` and `start` run in parallel, one entry a hit; so do `spans` and `counts`."""

    q: str
    length: int
    """Characters of a hit."""
    span: tuple[int, ...]
    start: tuple[int | None, ...]
    """The first character of the hit, counted from 0 as in `model.body`; null: it is in the name of the tool."""
    spans: tuple[int, ...]
    """The spans that have hits, all of those searched."""
    counts: tuple[int, ...]
    """How many each has."""
    total: int
    """All hits in the spans searched; only the first `MOST_HITS` are placed."""
    next: int | None
    """The first span that was not searched, because it took too long; null where all were."""


def find(store: Store, project: str, ref: str, q: str, first: int = 0, clock: Callable[[], float] = monotonic) -> Found:
    """Every place of a text from span `first` on, upper and lower case alike; hits do not overlap.

    Of a call its arguments and its name are searched. InputError where there is nothing to look for, or no such span.
    """
    if not 1 <= len(q) <= LONGEST:
        raise InputError(f"q has {len(q):,} characters: expected 1 to {LONGEST}")
    wanted = fold(q)
    with store.read() as conn:
        some = shown.spans_from(conn, project, ref, first)
    until = clock() + SECONDS
    hits: list[tuple[int, int | None]] = []
    counts: dict[int, int] = {}
    following: int | None = None
    for index, span in enumerate(some, first):
        if index > first and clock() > until:
            following = index
            break
        placed, more = _hits(span, wanted, MOST_HITS - len(hits))
        hits += [(index, start) for start in placed]
        if placed or more:
            counts[index] = len(placed) + more
    return Found(
        q=q,
        length=len(q),
        span=tuple(index for index, _ in hits),
        start=tuple(start for _, start in hits),
        spans=tuple(counts),
        counts=tuple(counts.values()),
        total=sum(counts.values()),
        next=following,
    )


def fold(text: str) -> str:
    """Without upper case, character by character, so that places in it are places in the text.

    Lower case is as long as the text but for one character, and the sigma at the end of a word is another one.
    """
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


def _hits(span: Span, wanted: str, most: int) -> tuple[list[int | None], int]:
    """The first places, the name of the tool before the text, and how many there are beyond them."""
    placed: list[int | None] = [None] if span.name is not None and wanted in fold(span.name) else []
    text, at = fold(body(span)), 0
    while len(placed) < most and (start := text.find(wanted, at)) >= 0:
        placed.append(start)
        at = start + len(wanted)
    return placed[:most], text.count(wanted, at) + len(placed[most:])
