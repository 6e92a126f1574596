"""Whether a judge says more of the outcome than how often runs pass: its Brier score against that of the base rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.judges.estimates import LEAST_GROUPS, Estimate, Sampling, divided, of_sums, unknown

__all__ = ["BaseRate", "Scores", "Verdict", "left_out_mean", "worse_than_base_rate"]

Scores: TypeAlias = Literal["raw", "calibrated"]
Verdict: TypeAlias = Literal["worse", "not_told_from", "better", "too_few", "one_outcome"]


@dataclass(frozen=True, slots=True)
class BaseRate:
    """One judge against always saying the base rate."""

    scores: Scores
    verdict: Verdict
    """`worse`: the interval of `difference` is above 0; `better`: it is below 0, and so is that of `in_hindsight`."""
    difference: Estimate
    """The judge's Brier score minus that of the base rate, which is taken from other groups: above 0 it is worse."""
    in_hindsight: Estimate
    """The same against the share of these very runs that passed: no constant does as well."""
    skill: Estimate
    """1 - Brier score / that of the base rate: 1 perfect, 0 as good as the base rate, below 0 worse."""
    base: float | None
    """The Brier score of the base rate."""
    says: str

    @property
    def warns(self) -> bool:
        """Whether one has to know before one uses the scores."""
        return self.verdict in ("worse", "not_told_from")


def left_out_mean(outcome: F64, part: I64) -> F64:
    """The mean outcome f64[n] of the rows of all other parts; NaN where there are none.

    outcome  f64[n]
    part     i64[n]  groups: leave-group-out; folds: what a constant score becomes by a map fitted on the others
    """
    place = np.unique(part, return_inverse=True)[1]
    total, n = np.bincount(place, outcome), np.bincount(place)
    return divided(total.sum() - total, (n.sum() - n).astype(np.float64))[place]


def worse_than_base_rate(
    score: F64, passed: F64, part: I64, group: I64, scores: Scores, sampling: Sampling
) -> BaseRate:
    """The finding over trajectories that have a score and an outcome.

    score   f64[n]  in [0, 1]; NaN = none
    passed  f64[n]  0 or 1; NaN = none
    part    i64[n]  the base rate of a row is the mean outcome of the other parts: `group` for scores as they are, the
                    folds for scores that were calibrated on the other folds. So neither side saw a row's own group
    group   i64[n]  what is drawn for intervals
    scores  what these scores are

    The reference forecast of the Brier skill score (Murphy 1973), here left-out: the mean of all would know the outcome
    that it is asked for. Both sides are measured on the same draws.
    """
    known = ~(np.isnan(score) | np.isnan(passed))
    score, passed, part, group = score[known], passed[known], part[known], group[known]
    if len(np.unique(part)) < 2:
        return _silent(scores, "too_few", "it takes scores and outcomes in two groups at least")
    if len(np.unique(passed)) < 2:
        return _silent(scores, "one_outcome", "it takes runs that passed and runs that did not")
    base = left_out_mean(passed, part)
    own, other = (score - passed) ** 2, (base - passed) ** 2
    columns = np.column_stack([own, other, passed, np.ones(len(own))])
    difference, hindsight, skill = of_sums(columns, _measures, group, sampling, "the base rate is right of every run")
    verdict = _verdict(difference, hindsight)
    says = _says(scores, verdict, float(own.mean()), float(other.mean()), difference)
    return BaseRate(scores, verdict, difference, hindsight, skill, float(other.mean()), says)


def _measures(sums: F64) -> F64:
    """Of every draw: difference to the base rate of other groups, to the share of its own runs that passed; skill."""
    own, other, passed, n = sums.T
    share = passed / n
    return np.column_stack([(own - other) / n, own / n - share * (1.0 - share), 1.0 - divided(own, other)])


def _verdict(difference: Estimate, in_hindsight: Estimate) -> Verdict:
    """A constant near the true rate does a little better than the mean of other groups, which is low where the left-out
    runs passed: that is no skill, so `better` has to hold against the best constant too."""
    if difference.low is None or difference.high is None or in_hindsight.high is None:
        return "too_few"
    if difference.low > 0:
        return "worse"
    return "better" if max(difference.high, in_hindsight.high) < 0 else "not_told_from"


def _says(scores: Scores, verdict: Verdict, own: float, base: float, difference: Estimate) -> str:
    """A sentence with the figures in it."""
    what = "Brier score of its scores" if scores == "raw" else "Brier score of its scores, calibrated on other groups,"
    figures = f"{what} {own:.3f}, of always saying the base rate {base:.3f}"
    if verdict == "too_few":
        return f"{figures}; {difference.groups} groups, and it takes {LEAST_GROUPS} to compare them"
    ends = f"difference {difference.value:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"
    ends = f"{ends}, {difference.groups} groups"
    if verdict == "worse":
        return f"worse than the base rate: {figures}; {ends}"
    if verdict == "better":
        return f"better than the base rate: {figures}; {ends}"
    return f"not told from the base rate: {figures}; {ends}"


def _silent(scores: Scores, verdict: Verdict, why: str) -> BaseRate:
    return BaseRate(
        scores, verdict, unknown(why), unknown(why), unknown(why), None, f"not compared with the base rate: {why}"
    )
