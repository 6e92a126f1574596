"""Which of the conversations so far a request goes on with: its history is known by a common prefix, never by content.

A request repeats the history that it extends. Where it does not begin with all of a conversation but holds its last
answer, the context was rewritten in between (compaction, a new system prompt, a hand-off); where it holds nothing of
any, it starts a conversation of its own.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from trajcredit.formats.said import Key

__all__ = ["Context", "Contexts", "Found", "news"]

LATEST = 16
"""Contexts that begin alike and are compared with a request that goes on with none of them as a whole."""


@dataclass(slots=True, eq=False)
class Context:
    """What an agent had before it when it last spoke, with what it said, as keys."""

    owner: int
    """The number of the trajectory it belongs to."""
    scope: str | None
    keys: list[Key]
    answer: int
    """How many of the keys, the last ones, are the answer."""
    order: int = 0
    current: bool = True
    """No request has gone on with it: that one's context takes its place."""


@dataclass(frozen=True, slots=True)
class Found:
    """A context that a request goes on with, and how."""

    context: Context
    how: Literal["extends", "rewrites", "branches"]
    shared: int
    """Keys that both begin with."""


@dataclass(slots=True)
class Contexts:
    """The contexts of one trace, found by all their keys, by how they open and by how they end."""

    _whole: dict[int, list[Context]] = field(default_factory=dict)
    _opening: dict[tuple[str | None, tuple[Key, ...]], deque[Context]] = field(default_factory=dict)
    _end: dict[Key, deque[Context]] = field(default_factory=dict)
    _count: int = 0

    def add(self, context: Context) -> None:
        """A context that later requests may go on with."""
        self._count += 1
        context.order = self._count
        if context.keys:
            *_, mark = _marks(context.keys)
            same = self._whole.setdefault(mark, [])
            same[:] = [other for other in same if other.current and other.scope != context.scope]
            same.append(context)
            opening = (context.scope, _opening(context.keys))
            self._opening.setdefault(opening, deque(maxlen=LATEST)).append(context)
            self._end.setdefault(context.keys[-1], deque(maxlen=LATEST)).append(context)

    def find(self, keys: Sequence[Key], scope: str | None) -> Found | None:
        """What a request with these keys goes on with: rather all of a context than a part, rather in its own scope."""
        longest: Found | None = None
        for length, mark in reversed(list(enumerate(_marks(keys), 1))):
            for context in reversed(self._whole.get(mark, ())):
                if context.current and len(context.keys) == length and context.keys == list(keys[:length]):
                    if context.scope == scope:
                        return Found(context, "extends", length)
                    if longest is None and context.answer:
                        longest = Found(context, "extends", length)
        return longest or self._rewritten(keys) or self._branched(keys, scope)

    def _branched(self, keys: Sequence[Key], scope: str | None) -> Found | None:
        """The context of the same scope with which the request begins alike for the longest."""
        alike = self._opening.get((scope, _opening(keys)), ())
        shared = [(_shared(context.keys, keys), context.order, context) for context in alike]
        if not shared:
            return None
        length, _, context = max(shared, key=lambda found: found[:2])
        return Found(context, "branches", length)

    def _rewritten(self, keys: Sequence[Key]) -> Found | None:
        """The latest context whose last answer stands in the request as a whole."""
        best: Context | None = None
        for end, key in enumerate(keys, 1):
            for context in self._end.get(key, ()):
                answer = context.keys[len(context.keys) - context.answer :]
                fits = context.current and bool(answer) and list(keys[max(0, end - len(answer)) : end]) == answer
                if fits and (best is None or context.order > best.order):
                    best = context
        return Found(best, "rewrites", _shared(best.keys, keys)) if best is not None else None


def news(keys: Sequence[Key | None], known: Sequence[Key]) -> list[bool]:
    """Of a rewritten context which pieces are new: not the next ones, in their order, of those known before."""
    left = Counter(known)
    at = 0
    found: list[bool] = []
    for key in keys:
        repeats = key is None or left[key] > 0
        found.append(not repeats)
        while key is not None and repeats:
            at += 1
            left[known[at - 1]] -= 1
            if known[at - 1] == key:
                break
    return found


def _marks(keys: Sequence[Key]) -> Iterator[int]:
    """A number for the first key, the first two, and so on: equal for equal beginnings."""
    mark = 0
    for key in keys:
        mark = hash((mark, key))
        yield mark


def _opening(keys: Sequence[Key]) -> tuple[Key, ...]:
    """The keys up to the first that is no system prompt."""
    end = next((i for i, key in enumerate(keys) if key[0] != "system"), len(keys) - 1)
    return tuple(keys[: end + 1])


def _shared(a: Sequence[Key], b: Sequence[Key]) -> int:
    """How many keys both begin with."""
    n = min(len(a), len(b))
    if a[:n] == b[:n]:
        return n
    return next((i for i in range(n) if a[i] != b[i]), n)
