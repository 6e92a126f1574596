"""Forecast advantages of choices -> the value of every point: the level of the group, plus what choices changed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch, decisions, turns_of

__all__ = ["levels"]


def levels(batch: Batch, forecast: F64, column: F64) -> tuple[F64, F64]:
    """V before and Q after every action, f64[N] each; forecast 0 beside decisions, column what `spread` makes of it."""
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    turn = turns_of(batch)
    actions = np.flatnonzero(batch.action_mask)
    opens = actions[np.unique(turn[actions], return_index=True)[1]]
    made, paid = _earlier(forecast, batch), _earlier(np.nan_to_num(batch.rewards), batch)
    level = _leave_one_out(batch)[owner] - paid
    value, q_value = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, np.nan)
    value[actions] = (level + made)[actions]
    # words after the calls of their turn come later than these, and carry them all the same
    counted = np.where(decisions(batch)[actions], made[actions], made[opens[turn[actions]]])
    q_value[actions] = level[actions] + counted + column[actions]
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
