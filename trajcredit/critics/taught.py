"""What the trajectories of a pool can teach, before any model is chosen."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.centring import group_sums
from trajcredit.critics.columns import F32

__all__ = ["leave_one_out", "repeats", "teaching"]


def teaching(outcome: F64, groups: I64) -> BOOL:
    """Trajectories with an outcome and a sibling that has one."""
    scored = ~np.isnan(outcome)
    members = np.bincount(groups[scored], minlength=int(groups.max(initial=-1)) + 1)
    return scored & (members[groups] > 1)


def repeats(choice: F32, owner: I64, n: int) -> F64:
    """How often a feature occurs in trajectories that have it, f64[C], at least 1: what loops repeat weighs less."""
    times = group_sums((choice != 0).astype(np.float32), owner, n)
    have = np.count_nonzero(times, axis=0)
    mean: F64 = np.maximum(times.sum(axis=0, dtype=np.float64) / np.maximum(have, 1), 1.0)
    return mean


def leave_one_out(outcome: F64, groups: I64) -> F64:
    """Mean outcome f64[T] of the scored siblings; NaN where there is none."""
    scored = ~np.isnan(outcome)
    reward = np.where(scored, outcome, 0.0)
    n = int(groups.max(initial=-1)) + 1
    count = np.bincount(groups[scored], minlength=n)[groups] - scored
    total = np.bincount(groups, reward, minlength=n)[groups] - reward
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
