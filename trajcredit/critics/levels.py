"""Forecast advantages of choices -> the value of every point: the level of the group, plus what choices changed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch, decisions, turns_of

__all__ = ["levels"]


def levels(batch: Batch, forecast: F64, column: F64, before: F64, after: F64) -> tuple[F64, F64]:
    """V before and Q after every action, f64[N] each.

    forecast       f64[N]  advantages of decisions, 0 on other spans; column f64[N] what `spread` makes of it
    before, after  f64[N]  the critic's own forecasts of the whole outcome at decisions, NaN where it has none: there
                           the level of the group and the forecasts so far stand in for them

    Words beside decisions have the value before the first decision of their turn, and Q after the last.
    """
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    turn = turns_of(batch)
    actions = np.flatnonzero(batch.action_mask)
    opens = actions[np.unique(turn[actions], return_index=True)[1]]
    made, paid = _earlier(forecast, batch), _earlier(np.nan_to_num(batch.rewards), batch)
    level = _leave_one_out(batch)[owner] - paid
    value, q_value = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, np.nan)
    value[actions] = (level + made)[actions]
    # words after the calls of their turn come later than these, and carry them all the same
    chosen = decisions(batch)
    counted = np.where(chosen[actions], made[actions], made[opens[turn[actions]]])
    q_value[actions] = level[actions] + counted + column[actions]
    own = np.flatnonzero(chosen & np.isfinite(before) & np.isfinite(after))
    if len(own):
        first, last = np.full(len(opens), -1), np.full(len(opens), -1)
        first[turn[own][::-1]], last[turn[own]] = own[::-1], own
        told = actions[first[turn[actions]] >= 0]
        itself = np.isin(told, own)
        value[told] = before[np.where(itself, told, first[turn[told]])] - paid[told]
        q_value[told] = after[np.where(itself, told, last[turn[told]])] - paid[told]
    return value, q_value


def _earlier(column: F64, batch: Batch) -> F64:
    """Sum f64[N] of a column over the earlier spans of the same trajectory; one after the other, so that huge numbers
    of one leave the rest alone."""
    earlier = np.zeros(len(column))
    for start, end in pairwise(batch.span_offsets.tolist()):
        earlier[start + 1 : end] = np.cumsum(column[start : max(end - 1, start)])
    return earlier


def _leave_one_out(batch: Batch) -> F64:
    """Mean outcome f64[T] of the scored siblings; of all other trajectories where there is none, 0 without any."""
    scored = ~np.isnan(batch.outcome)
    reward = np.where(scored, batch.outcome, 0.0)
    count = np.bincount(batch.group[scored], minlength=len(batch.group_ids))[batch.group] - scored
    total = np.bincount(batch.group, reward, minlength=len(batch.group_ids))[batch.group] - reward
    others = int(scored.sum()) - scored
    overall = (reward.sum() - reward) / np.maximum(others, 1)
    return np.where(count > 0, total / np.maximum(count, 1), overall)
