"""Several judges as one: what they say of each step, averaged, with weights that no run had a say in for itself."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.errors import InputError
from trajcredit.judges.base_rate import left_out_mean
from trajcredit.judges.crossfit import cross_fitted, folds

__all__ = ["How", "combined", "skill_weights"]

How: TypeAlias = Literal["mean", "median"]


def combined(steps: F64, how: How = "mean", weight: F64 | None = None) -> F64:
    """One step for each span out of those of J judges.

    steps    f64[J, N]  NaN = that judge has no opinion: the others decide
    how      `median` is moved by no single judge where there are three; weights do not go with it
    weight   f64[J, N]  >= 0, of a mean; not given: all alike
    returns  f64[N]     NaN where no judge has an opinion; with weights also where none of those has a weight

    Judges have to be on one scale: steps of scores in [0, 1] all, or credits in [-1, 1] all.
    """
    if how not in get_args(How):
        raise InputError(f"how: {how!r}, and it is one of {', '.join(get_args(How))}")
    if how == "median" and weight is not None:
        raise InputError("weight: a median takes none")
    known = ~np.isnan(steps)
    if how == "median":
        found = np.full(steps.shape[1], np.nan)
        some = known.any(0)
        found[some] = np.nanmedian(steps[:, some], axis=0)
        return found
    counted = known.astype(np.float64) if weight is None else np.where(known, weight, 0.0)
    total = counted.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (counted * np.where(known, steps, 0.0)).sum(0) / total, np.nan)


def skill_weights(final: F64, outcome: F64, group: I64) -> F64:
    """What each judge's word is worth on each trajectory, by how well its final scores forecast outcomes elsewhere.

    final    f64[J, T]  final scores, on any scale; NaN = none
    outcome  f64[T]     NaN = none yet
    group    i64[T]
    returns  f64[J, T]  in [0, 1], of each trajectory 1 in total: the Brier skill of the judge, at least 0, over the sum
                        of all; 1 / J throughout where no judge has any

    For the trajectories of a fold, the skill is that of scores calibrated and cross-fitted within the other folds
    alone: no outcome of a group reaches the weights of that group. A forecast of the outcome is not yet a reading of
    blame: held against labels, weights can do worse than the plain mean.
    """
    fold = folds(group)
    weight = np.empty(final.shape)
    for number in np.unique(fold).tolist():
        others = fold != number
        skill = np.array([_skill(one[others], outcome[others], fold[others]) for one in final])
        total = skill.sum()
        weight[:, ~others] = (skill / total if total > 0 else np.full(len(final), 1.0 / len(final)))[:, None]
    return weight


def _skill(score: F64, outcome: F64, fold: I64) -> float:
    """1 - squared error of the calibrated score / that of the mean of other folds; 0 where it is below, or unknown."""
    known = ~(np.isnan(score) | np.isnan(outcome))
    score, outcome, fold = score[known], outcome[known], fold[known]
    said = cross_fitted(score, outcome, np.ones(len(score)), fold)
    base = left_out_mean(outcome, fold) if len(fold) else score
    there = ~(np.isnan(said) | np.isnan(base))
    error, reference = (float(((one[there] - outcome[there]) ** 2).sum()) for one in (said, base))
    return max(0.0, 1.0 - error / reference) if reference > 0 else 0.0
