"""Two rollouts side by side: the calls and messages of one laid against those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import F64

__all__ = ["MOST_AT_ONCE", "Item", "Pair", "align"]

MOST_AT_ONCE = 1000
"""Items of either side that are laid against each other, after what both begin and end with; beyond, none are."""
GAP = 1.0
"""Cost of an item that only one side has; of two that are equal 0."""
PARTIAL = (0.5, 1.5)
"""Cost of two of one name: from all arguments but one equal, to none. Less than two gaps: they stay on one row."""

Key: TypeAlias = int | str
Same: TypeAlias = Literal["same", "differs", "a", "b"]
"""Equal; of one name, otherwise not equal; only in a; only in b."""


@dataclass(frozen=True, slots=True)
class Item:
    """A call or a message: equal where keys are equal; of one name with others of one kind or tool."""

    span: int
    name: str
    key: Key
    parts: frozenset[tuple[str, str]] = frozenset()
    """Arguments with their values: the more of them are equal, the nearer two calls are."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Positions among the items of each side; null where the other side has nothing like it."""

    state: Same
    a: int | None
    b: int | None


def align(a: Sequence[Item], b: Sequence[Item]) -> tuple[list[Pair], int]:
    """The cheapest global alignment (Needleman and Wunsch 1970), and how many items were too many to be aligned.

    Only items of one name share a row. Swapping a and b swaps the sides of every row. At most MOST_AT_ONCE**2 steps: of
    longer middles the rest follows unaligned, one side after the other.
    """
    swapped = _order(b) < _order(a)
    first, second = (b, a) if swapped else (a, b)
    pairs, left = _aligned(first, second)
    found = [_swapped(pair) for pair in pairs] if swapped else pairs
    return _one_side_first(found), left


def _aligned(a: Sequence[Item], b: Sequence[Item]) -> tuple[list[Pair], int]:
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    ends = len(a) - tail, len(b) - tail
    stops = min(ends[0], head + MOST_AT_ONCE), min(ends[1], head + MOST_AT_ONCE)
    pairs = [Pair("same", i, i) for i in range(head)]
    pairs += [_moved(pair, head) for pair in _middle(a[head : stops[0]], b[head : stops[1]])]
    pairs += [Pair("a", i, None) for i in range(stops[0], ends[0])]
    pairs += [Pair("b", None, j) for j in range(stops[1], ends[1])]
    pairs += [Pair("same", ends[0] + i, ends[1] + i) for i in range(tail)]
    return pairs, (ends[0] - stops[0]) + (ends[1] - stops[1])


def _middle(a: Sequence[Item], b: Sequence[Item]) -> list[Pair]:
    costs = _costs(a, b)
    best = _table(costs)
    pairs, i, j = [], len(a), len(b)
    while i or j:
        here = best[i + j, i]
        if i and j and np.isclose(here, best[i + j - 2, i - 1] + costs[i - 1, j - 1], rtol=0, atol=1e-9):
            i, j = i - 1, j - 1
            pairs.append(Pair("same" if a[i].key == b[j].key else "differs", i, j))
        elif i and np.isclose(here, best[i + j - 1, i - 1] + GAP, rtol=0, atol=1e-9):
            i -= 1
            pairs.append(Pair("a", i, None))
        else:
            j -= 1
            pairs.append(Pair("b", None, j))
    return pairs[::-1]


def _table(costs: F64) -> F64:
    """best[d, i]: the least cost of the first i items of a against the first d - i of b, one diagonal d at a time."""
    n, m = costs.shape
    best = np.full((n + m + 1, n + 1), np.inf)
    best[0, 0] = 0
    for d in range(1, n + m + 1):
        low, high = max(0, d - m), min(d, n)
        i = np.arange(low, high + 1)
        here = np.full(len(i), np.inf)
        from_b = i < d
        here[from_b] = best[d - 1, i[from_b]] + GAP
        from_a = i > 0
        here[from_a] = np.minimum(here[from_a], best[d - 1, i[from_a] - 1] + GAP)
        both = from_a & from_b
        at = i[both]
        here[both] = np.minimum(here[both], best[d - 2, at - 1] + costs[at - 1, d - at - 1])
        best[d, i] = here
    return best


def _costs(a: Sequence[Item], b: Sequence[Item]) -> F64:
    """f64[n, m]; infinite where names differ."""
    keys = _numbers([one.key for one in (*a, *b)])
    names = _numbers([one.name for one in (*a, *b)])
    shared, n = _shared(a, b), len(a)
    sizes = np.array([len(one.parts) for one in (*a, *b)], dtype=np.float64)
    most = np.maximum(np.maximum(sizes[:n, None], sizes[None, n:]), 1)
    near, far = PARTIAL
    costs: F64 = far - (far - near) * shared / most
    costs[names[:n, None] != names[None, n:]] = np.inf
    costs[keys[:n, None] == keys[None, n:]] = 0
    return costs


def _shared(a: Sequence[Item], b: Sequence[Item]) -> F64:
    """How many arguments are equal, of each of a and each of b."""
    found = np.zeros((len(a), len(b)))
    places: dict[tuple[str, str], list[int]] = {}
    for j, one in enumerate(b):
        for part in one.parts:
            places.setdefault(part, []).append(j)
    for i, one in enumerate(a):
        for part in one.parts:
            found[i, places.get(part, [])] += 1
    return found


def _numbers(values: Sequence[Key]) -> npt.NDArray[np.int64]:
    numbers: dict[Key, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _common(a: Sequence[Item], b: Sequence[Item]) -> int:
    """How many both begin with."""
    for at, (one, other) in enumerate(zip(a, b, strict=False)):
        if one.key != other.key or one.name != other.name:
            return at
    return min(len(a), len(b))


def _order(items: Sequence[Item]) -> tuple[int, list[tuple[str, str]]]:
    return len(items), [(one.name, str(one.key)) for one in items]


def _moved(pair: Pair, by: int) -> Pair:
    return Pair(pair.state, None if pair.a is None else pair.a + by, None if pair.b is None else pair.b + by)


def _swapped(pair: Pair) -> Pair:
    states: dict[Same, Same] = {"a": "b", "b": "a"}
    return Pair(states.get(pair.state, pair.state), pair.b, pair.a)


def _one_side_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Between two rows that both sides have, what only a has comes before what only b has."""
    found: list[Pair] = []
    waiting: list[Pair] = []
    for pair in pairs:
        if pair.state in ("a", "b"):
            waiting.append(pair)
        else:
            found += [*sorted(waiting, key=lambda one: one.state), pair]
            waiting = []
    return [*found, *sorted(waiting, key=lambda one: one.state)]
