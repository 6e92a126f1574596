"""From what a judge says of steps to what it says of the state, and of the whole run."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64

__all__ = ["final_scores", "owners", "running_totals"]


def owners(offsets: I64) -> I64:
    """The trajectory i64[N] that each row belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def final_scores(scores: F64, action_mask: BOOL, offsets: I64) -> F64:
    """The last score of each trajectory.

    scores       f64[N]    of the state after span i; NaN = no opinion: the state before it stands
    action_mask  bool[N]   states after other spans are left out
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[T]    NaN where no action has a score
    """
    last = np.full(len(offsets) - 1, -1)
    scored = np.flatnonzero(action_mask & ~np.isnan(scores))
    np.maximum.at(last, owners(offsets)[scored], scored)
    found: F64 = np.append(scores, np.nan)[last]
    return found


def running_totals(credit: F64, offsets: I64) -> F64:
    """The credit given so far, after each segment: what a judge of segments says of the state.

    credit   f64[S]    NaN = no opinion: adds nothing, and has no total
    offsets  i64[T+1]
    returns  f64[S]
    """
    total = np.full(len(credit), np.nan)
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        own = credit[start:end]
        total[start:end] = np.where(np.isnan(own), np.nan, np.nancumsum(own))
    return total
