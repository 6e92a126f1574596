"""Whether a judge says the same twice, and the same as another judge or as people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.judges.estimates import Estimate, Sampling, divided, of_rows, of_share, of_sums, unknown
from trajcredit.kernels.agreement import cohen, linear, nominal
from trajcredit.kernels.ranks import counted_spearman, places

__all__ = ["CLASSES", "DEAD_ZONE", "Agreement", "SelfConsistency", "agreement", "classes", "self_consistency"]

CLASSES = ("negative", "neutral", "positive")
DEAD_ZONE = 0.05
"""Credit that is neutral on either side of 0, in units of credit: a twentieth of what a step can have at most."""
NOTHING_IN_COMMON = "no segment was scored by both"


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Of a judge that was asked several times, over the segments that it scored at least twice."""

    repeats: int
    spread: Estimate
    """Mean standard deviation of a segment's credits over repeats, in units of credit (n - 1 in the divisor)."""
    same_class: Estimate
    """Share of segments whose credit is negative, neutral or positive in every repeat, 0 to 1."""
    icc: Estimate
    """Intraclass correlation ICC(1,1): the share of all variance that is between segments; 1: repeats are identical."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges, or a judge and labels, over the segments that have a number of both."""

    name: str
    """The other."""
    kappa: Estimate
    """Cohen's kappa on CLASSES: 1 where all agree, 0 where as often as by chance."""
    weighted: Estimate
    """The same where negative and positive are twice as far apart as either from neutral."""
    spearman: Estimate
    """Rank correlation of the numbers themselves, -1 to 1."""
    confusion: tuple[tuple[int, ...], ...]
    """Segments by class: rows this judge's, columns the other's."""
    dead_zone: float


def classes(credit: F64, dead_zone: float) -> I64:
    """i64[n]: 0 below -dead_zone, 2 above dead_zone, else 1; of numbers only."""
    return 1 + (credit > dead_zone).astype(np.int64) - (credit < -dead_zone)


def self_consistency(repeats: F64, group: I64, sampling: Sampling, dead_zone: float = DEAD_ZONE) -> SelfConsistency:
    """Of the credits of R repeats.

    repeats  f64[R, S]  NaN = that repeat has no number on that segment
    group    i64[S]     what is drawn for intervals

    ICC(1,1) = (MSB - MSW) / (MSB + (k - 1) MSW), one-way: Shrout and Fleiss 1979, case 1. Where segments have unequal
    numbers of repeats, k is (N - sum k_i^2 / N) / (S - 1) (Searle, Casella and McCulloch 1992, section 3.6).
    """
    known = ~np.isnan(repeats)
    twice = known.sum(0) >= 2
    values, known, group = repeats[:, twice], known[:, twice], group[twice]
    k = known.sum(0).astype(np.float64)
    middle = values[known][0] if known.any() else 0.0  # taken off first: equal ones are then exactly 0
    mean = np.where(known, values - middle, 0.0).sum(0) / k
    square = np.where(known, values - middle - mean, 0.0) ** 2
    kind = np.where(known, classes(np.where(known, values, 0.0), dead_zone), 1)
    low, high = np.where(known, kind, 2).min(0, initial=2), np.where(known, kind, 0).max(0, initial=0)
    columns = np.column_stack(
        [
            np.ones(len(k)),
            np.sqrt(square.sum(0) / (k - 1.0)),
            k,
            k**2,
            k * mean,
            k * mean**2,
            square.sum(0),
        ]
    )
    why = "it takes segments that were scored twice at least"
    spread, icc = of_sums(columns, _consistency, group, sampling, why)
    same = of_share(low == high, group, sampling, why)
    return SelfConsistency(len(repeats), spread, same, icc if spread.value is None else _varying(icc))


def agreement(
    credit: F64, other: F64, group: I64, name: str, sampling: Sampling, dead_zone: float = DEAD_ZONE
) -> Agreement:
    """How far two columns of credits agree.

    credit, other  f64[S]  NaN = not scored; labels as -1, 0 and 1
    group          i64[S]  what is drawn for intervals
    """
    both = ~(np.isnan(credit) | np.isnan(other))
    first, second, group = credit[both], other[both], group[both]
    n = len(CLASSES)
    cell = n * classes(first, dead_zone) + classes(second, dead_zone)
    if not len(cell):
        nothing = unknown(NOTHING_IN_COMMON)
        return Agreement(name, nothing, nothing, nothing, ((0,) * n,) * n, dead_zone)
    columns = (cell[:, None] == np.arange(n * n)).astype(np.float64)

    def measures(sums: F64) -> F64:
        tables = sums.reshape(-1, n, n)
        return np.column_stack([cohen(tables, nominal(n)), cohen(tables, linear(n))])

    kappa, weighted = of_sums(columns, measures, group, sampling, "both put every segment in one and the same class")
    a, b = places(first), places(second)
    rank = of_rows(lambda w: counted_spearman(a, b, w), group, sampling, "it takes segments that differ in both")
    counts = columns.sum(0).astype(np.int64).reshape(n, n)
    return Agreement(name, kappa, weighted, rank, tuple(map(tuple, counts.tolist())), dead_zone)


def _consistency(sums: F64) -> F64:
    """Of every draw: mean spread, ICC."""
    segments, spread, k, k_squared, total, between, within = sums.T
    between = between - divided(total**2, k)
    size = divided(k - divided(k_squared, k), segments - 1.0)
    msb, msw = divided(between, segments - 1.0), divided(within, k - segments)
    bottom = msb + (size - 1.0) * msw
    icc = divided(msb - msw, bottom)
    return np.column_stack([divided(spread, segments), icc])


def _varying(icc: Estimate) -> Estimate:
    """The correlation, with the reason where it is null: it divides by the variance of all."""
    if icc.value is not None:
        return icc
    return unknown("nothing varies, neither between segments nor between repeats, or there is one segment")
