"""A figure with its 95 % interval: groups are drawn with replacement, as rollouts of one task are not independent.

Every measure is taken again with groups counted several times or not at all. Most are made of sums, and all draws are
taken at once; those that rank rows go draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.draws import interval, weights
from trajcredit.kernels.shares import wilson

__all__ = ["LEAST_GROUPS", "Estimate", "Sampling", "divided", "of_ratio", "of_rows", "of_share", "of_sums", "unknown"]

LEAST_GROUPS = 10
"""Groups below which no interval is given: of so few, draws with replacement tell too narrow a one."""
AT_ONCE = 1 << 20
"""Weights drawn at a time."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over `n` rows of `groups` groups, with its 95 % interval; null with a reason where it cannot be told."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    groups: int
    why: str | None
    """Why the figure, or its interval, is null; null where both are there."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are drawn: the same numbers give the same interval."""

    draws: int = 2000
    seed: int = 0


def unknown(why: str) -> Estimate:
    """A figure that cannot be told."""
    return Estimate(None, None, None, 0, 0, why)


def divided(top: F64, bottom: F64) -> F64:
    """top / bottom, NaN where the bottom is 0: draws can miss all that a figure is of."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def of_sums(columns: F64, measures: Callable[[F64], F64], group: I64, sampling: Sampling, why: str) -> list[Estimate]:
    """Measures that are made of sums over rows.

    columns   f64[n, C]                what is summed
    measures  f64[D, C] -> f64[D, K]   sums of each draw -> the figures of each draw, NaN where there is none
    group     i64[n]                   any numbers
    why       what it takes, where a figure is null
    returns   K figures
    """
    place, size = _placed(group)
    sums = np.zeros((size, columns.shape[1]))
    np.add.at(sums, place, columns)
    found = np.concatenate([measures(some @ sums) for some in _drawn(size, sampling)])
    return [_estimate(found[:, k], len(group), size, why) for k in range(found.shape[1])]


def of_ratio(top: F64, bottom: F64, group: I64, sampling: Sampling, why: str) -> Estimate:
    """sum(top) / sum(bottom) over rows f64[n]: a mean where the bottom is 1, a weighted one where it is weights."""
    columns = np.column_stack([top, bottom])
    return of_sums(columns, lambda sums: divided(sums[:, :1], sums[:, 1:]), group, sampling, why)[0]


def of_share(flags: BOOL, group: I64, sampling: Sampling, why: str) -> Estimate:
    """The share of rows with the flag, bool[n].

    Where draws cannot tell an interval, since all rows agree or groups are few, it is Wilson's with every group taken
    for one observation: wide, as if rollouts of a group all came out the same.
    """
    found = of_ratio(flags.astype(np.float64), np.ones(len(flags)), group, sampling, why)
    if found.value is None or (found.low is not None and 0.0 < found.value < 1.0):
        return found
    return Estimate(found.value, *wilson(found.value, found.groups), found.n, found.groups, None)


def of_rows(measure: Callable[[F64], float], group: I64, sampling: Sampling, why: str) -> Estimate:
    """A measure that needs the rows themselves: `measure` takes how often each counts, f64[n]; NaN: there is none."""
    place, size = _placed(group)
    found = np.array([measure(one[place]) for some in _drawn(size, sampling) for one in some])
    return _estimate(found, len(group), size, why)


def _placed(group: I64) -> tuple[I64, int]:
    known, place = np.unique(group, return_inverse=True)
    return place, len(known)


def _drawn(groups: int, sampling: Sampling) -> Iterator[F64]:
    """Pieces f64[D, G] of all weights: first every group once, then the draws."""
    yield np.ones((1, groups))
    if groups < LEAST_GROUPS:
        return
    at_once = max(1, AT_ONCE // groups)
    some: list[F64] = []
    for weight in weights(np.zeros(groups, dtype=np.int64), sampling.draws, sampling.seed):
        some.append(weight)
        if len(some) == at_once:
            yield np.array(some)
            some = []
    if some:
        yield np.array(some)


def _estimate(found: F64, n: int, groups: int, why: str) -> Estimate:
    """Of the figure over all rows, then of each draw."""
    value = float(found[0])
    if isnan(value):
        return Estimate(None, None, None, n, groups, why)
    low, high = interval(found[1:])
    if isnan(low):
        few = f"no interval: {groups} of the {LEAST_GROUPS} groups that it takes"
        return Estimate(value, None, None, n, groups, few if groups < LEAST_GROUPS else why)
    return Estimate(value, low, high, n, groups, None)
