"""The arithmetic of the dashboard: pure functions of flat arrays, none of which knows where the numbers are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.kernels.ranks import midranks

__all__ = [
    "DRAWS",
    "SEED",
    "Interval",
    "PassAtK",
    "deciles",
    "ks",
    "mean_interval",
    "pass_at_k",
    "settled",
    "snapped",
    "step_bins",
    "unbiased",
    "wilson",
]

DRAWS, SEED = 2000, 0
"""Of every bootstrap; the same numbers give the same interval."""
LOW, HIGH = 2.5, 97.5
Z = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""
SAME = 1e-9
"""Credits of a trajectory that differ by less, as a part of its largest, are equal: the rest is rounding."""
ROUNDING = 1e-12
MOST_BINS = 30
IN_MEMORY = 1 << 20
"""Numbers drawn at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval; the ends are null where too little is there to tell."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The chance that one of k rollouts passes, the mean over `groups`; `left_out`: groups of fewer than k rollouts."""

    k: int
    value: float
    low: float | None
    high: float | None
    groups: int
    left_out: int


def unbiased(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k): the chance that one of k drawn from n rollouts is among the c that passed.

    The estimator of Chen et al. 2021 (arXiv 2107.03374), section 2.1, as a product, which no n makes overflow. k <= n.
    """
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def ks(most: int) -> list[int]:
    """The k that are shown where the largest group has so many rollouts: 1 to 8, then doubling, then all of it."""
    shown = {k for k in range(1, 9) if k <= most}
    doubled = 16
    while doubled <= most:
        shown.add(doubled)
        doubled *= 2
    return sorted(shown | ({most} if most > 0 else set()))


def pass_at_k(groups: Iterable[tuple[int, int]], draws: int = DRAWS, seed: int = SEED) -> list[PassAtK]:
    """One for each of `ks`, from the rollouts and the passes (n, c) of every group.

    The interval is the percentile bootstrap over groups (Efron 1979). Groups of equal (n, c) are drawn together, by a
    multinomial: the same distribution as one by one, and no order of groups changes a draw.
    """
    counts = Counter(groups)
    kinds = sorted(counts)
    found = []
    for k in ks(max((n for n, _ in kinds), default=0)):
        some = [kind for kind in kinds if kind[0] >= k]
        weight = np.array([counts[kind] for kind in some], dtype=np.int64)
        values = np.array([unbiased(n, c, k) for n, c in some])
        total = int(weight.sum())
        value = float(values @ weight / total)
        low, high = _drawn(values, weight, draws, np.random.default_rng([seed, k]))
        found.append(PassAtK(k, value, low, high, total, counts.total() - total))
    return found


def mean_interval(values: F64, draws: int = DRAWS, seed: int = SEED) -> Interval | None:
    """The mean and the percentile bootstrap of it; null of nothing, without an interval of one."""
    if not len(values):
        return None
    distinct, weight = np.unique(values, return_counts=True)
    low, high = _drawn(distinct, weight, draws, np.random.default_rng(seed))
    return Interval(float(distinct @ weight / len(values)), low, high)


def wilson(hits: int, n: int) -> Interval | None:
    """A share with its 95 % score interval (Wilson 1927); null where n is 0."""
    if not n:
        return None
    share, square = hits / n, Z * Z / n
    middle, half = share + square / 2, Z * sqrt(share * (1 - share) / n + square / (4 * n))
    return Interval(share, max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square)))


def snapped(credit: F64, owner: I64, size: int) -> F64:
    """Credit as a part of the largest size of its owner, rounded to SAME: equal but for rounding becomes equal."""
    largest = np.zeros(size)
    np.maximum.at(largest, owner, np.abs(credit))
    scale = np.where(largest > 0, largest, 1.0)[owner]
    return np.round(credit / scale / SAME) + 0.0


def settled(total: float, size: float) -> float:
    """A sum, 0 where it is rounding alone: at most ROUNDING of the sum of the sizes of what was added.

    Credit of a group mostly cancels; what floats leave of it must not be drawn as an effect.
    """
    return 0.0 if abs(total) <= ROUNDING * size else total


def deciles(lengths: F64) -> I64:
    """i64[n]: the tenth (0..9) of all that each is in; equal lengths are always in one, so some may be empty."""
    ranks = midranks(lengths, np.zeros(len(lengths), dtype=np.int64))
    return np.floor(10 * (ranks - 0.5) / max(len(lengths), 1)).astype(np.int64)


def step_bins(steps: Sequence[int], most: int = MOST_BINS) -> list[tuple[int, int]]:
    """Ranges of training steps, both ends included: one a step, or as many equally wide ones as fit `most`."""
    distinct = sorted(set(steps))
    if len(distinct) <= most:
        return [(step, step) for step in distinct]
    first, last = distinct[0], distinct[-1]
    width = -(-(last - first + 1) // most)
    return [(start, min(start + width - 1, last)) for start in range(first, last + 1, width)]


def _drawn(values: F64, weight: I64, draws: int, random: np.random.Generator) -> tuple[float | None, float | None]:
    """The ends of the interval of the mean of values, the i-th of which is there weight[i] times."""
    total = int(weight.sum())
    if total < 2:
        return None, None
    at_once = max(1, IN_MEMORY // len(values))
    means = [
        random.multinomial(total, weight / total, size=min(at_once, draws - start)) @ values / total
        for start in range(0, draws, at_once)
    ]
    low, high = np.percentile(np.concatenate(means), [LOW, HIGH])
    return float(low), float(high)
