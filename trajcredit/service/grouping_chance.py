"""How often chance divides rewards as widely: where many splits are looked at, the widest of them is always wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

import numpy as np

from trajcredit.arrays import BOOL, F64

__all__ = ["Chance", "chance", "explained"]

MOST_WAYS = 5000
"""Ways to deal out the rewards that are all gone through; of more, some are drawn."""
DRAWN = 2000
FEWEST_DRAWN = 200
WORK = 400_000_000
"""Multiplications at most: with very many splits fewer ways are drawn."""
AT_ONCE = 100
SEED = 0
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Chance:
    """In `as_wide` of `ways` to deal the same rewards out among the rollouts some split is as wide as the one found."""

    p: float
    """as_wide / ways where all ways were gone through, else (1 + as_wide) / (1 + ways): never 0."""
    as_wide: int
    ways: int
    exact: bool
    """Whether these are all ways that there are."""


def explained(rewards: F64, low: BOOL, high: BOOL) -> F64:
    """How much of the squared spread of rewards each split explains: n m / (n + m) times its gap of means squared.

    rewards    f64[R, n]  one way to deal them out a row
    low, high  bool[P, n] the rollouts on either side of each split; at least one each
    returns    f64[R, P]

    The criterion of regression trees (Breiman et al. 1984, section 8.3). The bare gap would nearly always name one
    rollout against another.
    """
    n, m = low.sum(axis=1), high.sum(axis=1)
    gap = (rewards @ high.T.astype(np.float64)) / m - (rewards @ low.T.astype(np.float64)) / n
    result: F64 = (n * m / (n + m)) * gap**2
    return result


def chance(rewards: F64, low: BOOL, high: BOOL) -> Chance:
    """How often the widest of all splits is as wide as now when the rewards are dealt out anew; arguments as above.

    A permutation test of the largest statistic, which takes all splits into account at once (Westfall and Young 1993).
    """
    at_once = explained(rewards[None, :], low, high).max()
    enough = at_once - NEAR * abs(at_once)
    budget = max(FEWEST_DRAWN, WORK // max(1, low.size))
    ways = _ways(rewards)
    exact = ways <= min(MOST_WAYS, budget)
    dealt = _all(rewards) if exact else _some(rewards, min(DRAWN, budget))
    as_wide = total = 0
    for piece in dealt:
        as_wide += int((explained(piece, low, high).max(axis=1) >= enough).sum())
        total += len(piece)
    return Chance(as_wide / total if exact else (1 + as_wide) / (1 + total), as_wide, total, exact)


def _ways(rewards: F64) -> int:
    """Ways to deal them out; equal rewards are the same."""
    return factorial(len(rewards)) // prod(map(factorial, Counter(rewards.tolist()).values()))


def _all(rewards: F64) -> Iterator[F64]:
    found = np.array(list(_arrangements(sorted(Counter(rewards.tolist()).items()), len(rewards))))
    yield from np.array_split(found, -(-len(found) // AT_ONCE))


def _arrangements(counts: Sequence[tuple[float, int]], n: int) -> Iterator[list[float]]:
    if n == 0:
        yield []
        return
    for i, (value, count) in enumerate(counts):
        if count:
            rest = [*counts[:i], (value, count - 1), *counts[i + 1 :]]
            for tail in _arrangements(rest, n - 1):
                yield [value, *tail]


def _some(rewards: F64, ways: int) -> Iterator[F64]:
    draw = np.random.default_rng(SEED)
    for first in range(0, ways, AT_ONCE):
        count = min(AT_ONCE, ways - first)
        yield draw.permuted(np.tile(rewards, (count, 1)), axis=1)
