"""Whether a judge's scores are the chances they look like: reliability curve, calibration error, Brier score, AUC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.judges.estimates import Estimate, Sampling, of_ratio, of_rows, of_share, of_sums
from trajcredit.kernels.ranks import area_under_curve, places

__all__ = [
    "BINS",
    "Bin",
    "Calibration",
    "Curve",
    "auc",
    "brier",
    "calibration",
    "curve",
    "edges_by_count",
    "edges_by_width",
]

BINS = 10
LUCK = 200
"""Draws of outcomes behind the calibration error by luck."""
NOTHING = "no score with an outcome"


@dataclass(frozen=True, slots=True)
class Bin:
    """Trajectories with scores in (low, high], the first bin with its lower edge; bins without any are left out."""

    low: float
    high: float
    n: int
    score: float
    """Their mean score."""
    passed: Estimate
    """The share of them that passed."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A reliability curve: on the diagonal a score of 0.7 passes 7 times in 10."""

    bins: tuple[Bin, ...]
    ece: Estimate
    """Expected calibration error: |share passed - mean score|, the mean over trajectories. 0 to 1."""
    ece_by_luck: float
    """The ECE to expect of these scores if they were the chances to pass, run by run: more is miscalibration."""
    mce: Estimate
    """Maximum calibration error: the largest of these differences. 0 to 1."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of scores in [0, 1] that are read as the chance to pass."""

    equal_width: Curve
    equal_count: Curve
    brier: Estimate
    """Mean squared difference of score and outcome. 0 best, 1 worst."""


def edges_by_width(bins: int = BINS) -> F64:
    """f64[B+1]: as wide as each other."""
    return np.linspace(0.0, 1.0, bins + 1)


def edges_by_count(score: F64, bins: int = BINS) -> F64:
    """f64[B+1]: quantiles of the scores. Ties make edges equal: then fewer bins have anything in them."""
    edges: F64 = np.percentile(score, np.linspace(0.0, 1.0, bins + 1) * 100)
    return edges


def calibration(score: F64, passed: F64, group: I64, sampling: Sampling, bins: int = BINS) -> Calibration:
    """Of trajectories that have both.

    score   f64[n]  in [0, 1]
    passed  f64[n]  0 or 1
    group   i64[n]  what is drawn for intervals
    """
    return Calibration(
        equal_width=curve(score, passed, group, edges_by_width(bins), sampling),
        equal_count=curve(score, passed, group, edges_by_count(score, bins), sampling),
        brier=brier(score, passed, group, sampling),
    )


def curve(score: F64, passed: F64, group: I64, edges: F64, sampling: Sampling) -> Curve:
    """The reliability curve over bins with these edges f64[B+1]; n > 0.

    Bins as scikit-learn's `calibration_curve`: a score at an edge is in the bin below it. ECE and MCE: Naeini, Cooper
    and Hauskrecht 2015; Guo et al. 2017 (arXiv 1706.04599), eq. 3 and 5. Edges stay where they are in all draws. Both
    errors are above 0 by luck alone, more so of few runs, and so are their intervals: `ece_by_luck` is what to hold the
    first one against.
    """
    inside = np.searchsorted(edges[1:-1], score)[:, None] == np.arange(len(edges) - 1)
    filled = np.flatnonzero(inside.any(0))
    own = inside[:, filled].astype(np.float64)
    columns = np.column_stack([own, own * score[:, None], own * passed[:, None]])

    def errors(sums: F64) -> F64:
        n, scored, hits = np.split(sums, 3, axis=1)
        apart = np.abs(hits - scored)
        return np.column_stack([apart.sum(1) / n.sum(1), np.max(apart / np.maximum(n, 1.0), axis=1)])

    ece, mce = of_sums(columns, errors, group, sampling, NOTHING)
    drawn = []
    for k in filled.tolist():
        here = inside[:, k]
        share = of_share(passed[here] == 1.0, group[here], sampling, NOTHING)
        drawn.append(Bin(float(edges[k]), float(edges[k + 1]), share.n, float(score[here].mean()), share))
    return Curve(tuple(drawn), ece, _by_luck(score, inside.argmax(1), sampling), mce)


def _by_luck(score: F64, place: I64, sampling: Sampling) -> float:
    """Mean ECE over outcomes drawn with the scores as chances, independently: rollouts of a task stray further."""
    random = np.random.default_rng(sampling.seed)
    apart = 0.0
    for _ in range(LUCK):
        drawn = random.random(len(score)) < score
        apart += float(np.abs(np.bincount(place, drawn - score)).sum())
    return apart / (LUCK * len(score))


def brier(score: F64, passed: F64, group: I64, sampling: Sampling) -> Estimate:
    """mean (score - passed)^2 (Brier 1950, halved as usual for two outcomes)."""
    return of_ratio((score - passed) ** 2, np.ones(len(score)), group, sampling, NOTHING)


def auc(score: F64, passed: F64, group: I64, sampling: Sampling) -> Estimate:
    """The chance that a run that passed is scored above one that did not, ties one half; scores on any scale."""
    place, positive = places(score), passed == 1.0
    return of_rows(
        lambda weight: area_under_curve(place, positive, weight),
        group,
        sampling,
        "it takes runs that passed and runs that did not",
    )
