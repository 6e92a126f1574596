"""Scores put on the scale of outcomes by a map that never saw the outcomes of their own group."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.folds import FOLDS, folds_of
from trajcredit.kernels.isotonic import isotonic, mapped

__all__ = ["calibrated", "calibrated_states", "cross_fitted", "folds"]


def folds(group: I64) -> I64:
    """Fold i64[T] of each trajectory, the same for all of its group: as those of critics, with the number as name."""
    known, place = np.unique(group, return_inverse=True)
    fold: I64 = folds_of([str(number) for number in known.tolist()], FOLDS)[place]
    return fold


def cross_fitted(score: F64, outcome: F64, weight: F64, fold: I64) -> F64:
    """Each score under the isotonic regression of outcome on score over the rows of the other folds.

    score    f64[n]  NaN = none: neither taught nor mapped
    outcome  f64[n]  NaN = none yet: not taught
    weight   f64[n]  >= 0; what a row counts in the fit
    fold     i64[n]
    returns  f64[n]  in units of the outcome; NaN without a score, and where no other fold has an outcome

    Isotonic calibration: Zadrozny and Elkan 2002; the map itself: `kernels.isotonic`. Within a fold it keeps the order
    of scores, though different ones may become equal.
    """
    known = ~(np.isnan(score) | np.isnan(outcome))
    found = np.full(len(score), np.nan)
    for number in np.unique(fold).tolist():
        taught, own = known & (fold != number), fold == number
        found[own] = mapped(*isotonic(score[taught], outcome[taught], weight[taught]), score[own])
    return found


def calibrated(scores: F64, action_mask: BOOL, span_offsets: I64, outcome: F64, group: I64) -> F64:
    """What runs in such a state come to: a judge's score of the state after an action, cross-fitted to the outcome.

    scores        f64[N]    NaN = no opinion
    action_mask   bool[N]   states after other spans are left out
    span_offsets  i64[T+1]  trajectory t owns spans span_offsets[t]:span_offsets[t+1]
    outcome       f64[T]    NaN = none yet: mapped, not taught
    group         i64[T]    nobody is mapped by a map that saw its group
    returns       f64[N]    in units of the outcome; NaN where there is no score, and where no other fold has an outcome

    One map for states early and late: isotonic regression (Zadrozny and Elkan 2002) of the final outcome on the score
    over all scored states of the trajectories of the other folds, each trajectory weighing 1 in total.
    """
    nothing = np.full(len(outcome), np.nan)
    return calibrated_states(scores, nothing, action_mask, span_offsets, outcome, folds(group))[0]


def calibrated_states(
    scores: F64, start: F64, action_mask: BOOL, span_offsets: I64, outcome: F64, fold: I64
) -> tuple[F64, F64]:
    """`calibrated`, with folds i64[T] as they are given, and the score f64[T] before the first action under the same
    map: f64[N], f64[T]. Starts are mapped and not taught, so that those which a judge gives to all teach nothing."""
    owner = np.repeat(np.arange(len(outcome)), np.diff(span_offsets))
    score = np.where(action_mask, scores, np.nan)
    states = np.bincount(owner, ~np.isnan(score), minlength=len(outcome))
    weight = 1.0 / np.maximum(states, 1.0)
    found = cross_fitted(
        np.concatenate([score, start]),
        np.concatenate([outcome[owner], np.full(len(start), np.nan)]),
        np.concatenate([weight[owner], weight]),
        np.concatenate([fold[owner], fold]),
    )
    return found[: len(score)], found[len(score) :]
