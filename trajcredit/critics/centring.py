"""Centring: what a choice has beyond what the policy usually does at such a point. It needs no rewards."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import I64
from trajcredit.critics.columns import F32
from trajcredit.critics.describe import Description

__all__ = ["centred", "group_sums"]

PENALTY = 300.0
"""Ridge penalty of the prediction from the state: so many decisions weigh as much as what is thought beforehand."""
SITUATION, HABIT = 5.0, 3.0
"""Decisions that pull the mean of a cell to zero: of equal situations, of one task's choices after the same call."""


def centred(description: Description, group: I64, fold: I64) -> F32:
    """f32[D, C]: choice features minus what was to be expected there, so that a forced choice is zero.

    Taken off in turn: their ridge prediction from the state, fitted on the other folds; the mean of what is left over
    equal situations, shrunk by n / (n + 5); and over the task's own points after the same last call, n / (n + 3).

    group, fold  i64[D]  task and fold of each decision; all decisions of a task are in one fold
    """
    left = description.choice - _expected(description.state, description.choice, fold)
    left -= _cell_means(left, description.situation, SITUATION)
    habits = group * (int(description.last_call.max(initial=0)) + 1) + description.last_call
    left -= _cell_means(left, np.unique(habits, return_inverse=True)[1], HABIT)
    return left


def group_sums(matrix: F32, group: I64, n: int) -> F32:
    """Sums of the rows of each group: f32[n, C]; group i64[rows]."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    out = np.zeros((n, *matrix.shape[1:]), dtype=matrix.dtype)
    if len(order):
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        out[ordered[starts]] = np.add.reduceat(matrix[order], starts, axis=0)
    return out


def _cell_means(matrix: F32, cell: I64, pull: float) -> F32:
    count = np.bincount(cell)
    means = group_sums(matrix, cell, len(count)) / (count + pull)[:, None].astype(np.float32)
    return np.asarray(means[cell], dtype=np.float32)


def _expected(state: F32, choice: F32, fold: I64) -> F32:
    """Cross-fitted ridge prediction of the choices from the state, f32[D, C]."""
    seen = state - state.mean(axis=0, dtype=np.float64).astype(np.float32)
    usual = choice.mean(axis=0, dtype=np.float64).astype(np.float32)
    done = choice - usual
    square, cross = seen.T @ seen, seen.T @ done
    out = np.empty_like(choice)
    for f in np.unique(fold):
        mine = fold == f
        inside = seen[mine]
        system = np.asarray(square - inside.T @ inside, dtype=np.float64)
        system[np.diag_indices_from(system)] += PENALTY
        weights = np.linalg.solve(system, (cross - inside.T @ done[mine]).astype(np.float64))
        out[mine] = inside @ weights.astype(np.float32) + usual
    return out
