"""What a judge's scores should not follow at equal outcome: where a step stands in the run, and how long a text is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.judges.estimates import Estimate, Sampling, divided, of_ratio, of_rows
from trajcredit.judges.states import owners
from trajcredit.kernels.ranks import counted_spearman, places, spearman

__all__ = ["PLACES", "LengthBias", "Place", "PositionBias", "length_bias", "position_bias", "relative_position"]

PLACES = 10
"""Tenths of a run."""
FEW_STEPS = "it takes runs with two scored steps, not all alike"
NO_SIBLINGS = "it takes rollouts of one task with one outcome that differ in both"
NO_ORDER = "it takes rows that differ in both"


@dataclass(frozen=True, slots=True)
class Place:
    """Steps whose relative position is in [low, high), the last place with its end."""

    low: float
    high: float
    passed: Estimate
    """Mean step of runs that passed, in units of the score."""
    failed: Estimate


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How the step of the score depends on its relative position, 0 the first scored step of a run and 1 the last.

    Taken within runs, so that no difference between them counts. A judge that reads blame may well be harsher late in
    runs that failed; what it does alike in runs that passed and in runs that failed is the habit.
    """

    slope: Estimate
    """Change of a step from the first place to the last, in units of the score."""
    passed: Estimate
    """The slope in runs that passed."""
    failed: Estimate
    rank: Estimate
    """Spearman's correlation of step and position, -1 to 1: within each run, weighted by its steps - 1."""
    profile: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class LengthBias:
    """Spearman's correlations with length in characters, -1 to 1."""

    final: Estimate
    """Of a run's final score."""
    final_within: Estimate
    """The same within rollouts of one task with the same outcome, weighted by their number - 1."""
    segment: Estimate | None
    """Of a segment's step or credit; null where no segments were given."""
    segment_within: Estimate | None


def relative_position(scored: BOOL, offsets: I64) -> F64:
    """f64[S]: k / (K - 1) of the k-th of the K scored rows of a trajectory; NaN elsewhere, and where K < 2.

    scored   bool[S]
    offsets  i64[T+1]
    """
    owner = owners(offsets)
    n = np.bincount(owner[scored], minlength=len(offsets) - 1).astype(np.float64)[owner]
    before = np.concatenate([[0], np.cumsum(scored)])
    number = before[:-1] - before[offsets[:-1]][owner]
    return np.where(scored, divided(number.astype(np.float64), n - 1), np.nan)


def position_bias(step: F64, offsets: I64, passed: F64, group: I64, sampling: Sampling) -> PositionBias:
    """Of the steps of a judge's score, or of its credits.

    step     f64[S]    change of the score at a segment or span; NaN = not scored
    offsets  i64[T+1]  trajectory t owns rows offsets[t]:offsets[t+1]
    passed   f64[T]    0 or 1; NaN = unknown: then only the slope over all runs counts it
    group    i64[T]    what is drawn for intervals

    slope = sum_t mean_k (u - u_t)(d - d_t) / sum_t mean_k (u - u_t)^2: least squares with an intercept for every run,
    every run weighing the same however many steps it has.
    """
    position = relative_position(~np.isnan(step), offsets)
    row = np.flatnonzero(~np.isnan(position))
    owner = owners(offsets)[row]
    columns = _moments(position[row], step[row], owner, len(passed))
    known = np.flatnonzero(columns[:, 1] > 0)

    def slope(of: I64) -> Estimate:
        return of_ratio(columns[of, 0], columns[of, 1], group[of], sampling, FEW_STEPS)

    rho = spearman(step[row], position[row], owner, len(passed))
    return PositionBias(
        slope=slope(known),
        passed=slope(known[passed[known] == 1.0]),
        failed=slope(known[passed[known] == 0.0]),
        rank=_weighted(rho, columns[:, 2] - 1.0, group, sampling, FEW_STEPS),
        profile=_profile(position[row], step[row], passed[owner], group[owner], sampling),
    )


def length_bias(
    final: F64,
    characters: F64,
    passed: F64,
    group: I64,
    sampling: Sampling,
    segments: tuple[F64, F64, I64] | None = None,
) -> LengthBias:
    """Of final scores, and of segments where they are given.

    final, characters  f64[T]    NaN = not scored, not known
    passed             f64[T]    0 or 1; NaN = unknown: then only the correlation over all counts it
    group              i64[T]    what is drawn for intervals
    segments           step or credit f64[S], characters f64[S], offsets i64[T+1]
    """
    over = _spearman(final, characters, group, sampling)
    within = _within(final, characters, passed, group, sampling)
    if segments is None:
        return LengthBias(over, within, None, None)
    step, length, offsets = segments
    owner = owners(offsets)
    return LengthBias(
        over,
        within,
        _spearman(step, length, group[owner], sampling),
        _within(step, length, passed[owner], group[owner], sampling),
    )


def _moments(position: F64, step: F64, owner: I64, size: int) -> F64:
    """f64[T, 3]: mean product of what position and step are from their means, mean square of position, rows."""
    n = np.bincount(owner, minlength=size).astype(np.float64)
    far, off = (
        values - divided(np.bincount(owner, values, size).astype(np.float64), n)[owner] for values in (position, step)
    )
    means = [np.bincount(owner, product, size) / np.maximum(n, 1.0) for product in (far * off, far * far)]
    return np.column_stack([*means, n])


def _profile(position: F64, step: F64, passed: F64, group: I64, sampling: Sampling) -> tuple[Place, ...]:
    """The mean step in every tenth of a run."""
    place = np.minimum((position * PLACES).astype(np.int64), PLACES - 1)

    def means(outcome: float) -> list[Estimate]:
        found = []
        for k in range(PLACES):
            own = (passed == outcome) & (place == k)
            found.append(of_ratio(step[own], np.ones(int(own.sum())), group[own], sampling, "no step here"))
        return found

    edges = np.linspace(0.0, 1.0, PLACES + 1).tolist()
    return tuple(map(Place, edges[:-1], edges[1:], means(1.0), means(0.0)))


def _spearman(first: F64, second: F64, group: I64, sampling: Sampling) -> Estimate:
    known = ~(np.isnan(first) | np.isnan(second))
    a, b = places(first[known]), places(second[known])
    return of_rows(lambda weight: counted_spearman(a, b, weight), group[known], sampling, NO_ORDER)


def _within(first: F64, second: F64, passed: F64, group: I64, sampling: Sampling) -> Estimate:
    """The mean of Spearman's correlations of each group's rows with one outcome, weighted by rows - 1.

    1 / (n - 1) is the variance of a rank correlation of n (Kendall and Gibbons 1990): the weights are its inverse.
    """
    known = ~(np.isnan(first) | np.isnan(second) | np.isnan(passed))
    keys = np.column_stack([group[known], passed[known].astype(np.int64)])
    strata, stratum = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(stratum, kind="stable")
    size = len(strata)
    rho = spearman(first[known][order], second[known][order], stratum[order], size)
    weight = (np.bincount(stratum, minlength=size) - 1).astype(np.float64)
    return _weighted(rho, weight, strata[:, 0], sampling, NO_SIBLINGS)


def _weighted(rho: F64, weight: F64, group: I64, sampling: Sampling, why: str) -> Estimate:
    """Mean of the correlations that there are."""
    there = ~np.isnan(rho)
    return of_ratio(rho[there] * weight[there], weight[there], group[there], sampling, why)
