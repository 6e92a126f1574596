"""Shares: what the choice of a decision adds up to, beyond what was to be expected there; a rule that can be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U64
from trajcredit.critics.columns import F32
from trajcredit.critics.describe import Description
from trajcredit.errors import InputError

__all__ = ["Shares", "cell_sums", "rows_times", "situation_cells", "stacked", "stacked_shapes", "unstacked"]

BLOCK = 8192
"""Rows of single precision that are turned to double at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """(choice - usual) effects - (state - mean) expected - the mean of the situation - the task's own mean after such
    a call, for L sets of effects: centring (`Centring`) is linear, so only its products with the effects are kept.

    usual f64[C], choice f64[C, L]  of the columns of the choice
    mean f64[S], state f64[S, L]    of the columns of the state
    cells f64[K, L]                 of the situations of the fitted pool; of situations it has not seen nothing is known
    habit                           decisions that pull the mean of one task's choices after the same last call to zero
    """

    usual: F64
    choice: F64
    mean: F64
    state: F64
    cells: F64
    habit: float

    def of(self, told: Description, rows: BOOL, cell: I64, group: I64) -> F64:
        """f64[R, L]: shares of the R decisions that `rows` marks, all decisions of their tasks.

        cell   i64[D]  number of each decision's situation among the fitted ones; -1 not seen
        group  i64[D]  its task: the task's own habits are told by the decisions given here
        """
        shares = rows_times(told.choice[rows], self.choice, self.usual)
        shares -= rows_times(told.state[rows], self.state, self.mean)
        place = cell[rows]
        known = place >= 0
        shares[known] -= self.cells[place[known]]
        habit = np.unique(np.stack([group[rows], told.last_call[rows]]), axis=1, return_inverse=True)[1].ravel()
        count = np.bincount(habit)
        means = cell_sums(shares, habit, len(count)) / (count + self.habit)[:, None]
        shares -= means[habit]
        return shares


def stacked(models: Sequence[Shares]) -> dict[str, F64]:
    """The numbers of M models of one pool, in arrays whose first axis is the model; means and habit once for all."""
    return {
        "usual": models[0].usual,
        "mean": models[0].mean,
        "habit": np.array([models[0].habit]),
        "choice": np.stack([model.choice for model in models]),
        "state": np.stack([model.state for model in models]),
        "cells": np.stack([model.cells for model in models]),
    }


def unstacked(arrays: Mapping[str, F64], n: int) -> list[Shares]:
    """The n models of `stacked`; InputError where habits would be pulled away from zero."""
    if n and not arrays["habit"][0] >= 0:
        raise InputError(f"a mean is pulled to zero by at least 0 decisions, not by {arrays['habit'][0]:g}")
    parts = ("choice", "state", "cells")
    return [
        Shares(
            usual=arrays["usual"],
            mean=arrays["mean"],
            habit=float(arrays["habit"][0]),
            **{name: arrays[name][m] for name in parts},
        )
        for m in range(n)
    ]


def stacked_shapes(n: int, columns: int, states: int, cells: int, links: int) -> dict[str, tuple[int, ...]]:
    """Of the arrays of n models; none of 0 models."""
    if not n:
        return {}
    return {
        "usual": (columns,),
        "mean": (states,),
        "habit": (1,),
        "choice": (n, columns, links),
        "state": (n, states, links),
        "cells": (n, cells, links),
    }


def situation_cells(told: Description, known: U64) -> I64:
    """The number i64[D] of each decision's situation among those known, no two equal; -1 where it is none of them."""
    if not len(known):
        return np.full(len(told.situation), -1, dtype=np.int64)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], told.situations), len(known) - 1)
    found = np.where(known[order][place] == told.situations, order[place], -1)
    return np.asarray(found[told.situation], dtype=np.int64)


def cell_sums(values: F64, cell: I64, n: int) -> F64:
    """Sums f64[n, L] of the rows of each cell."""
    sums: F64 = np.stack([np.bincount(cell, column, n) for column in values.T], axis=1)
    return sums


def rows_times(matrix: F32, effects: F64, less: F64 | None = None) -> F64:
    """(matrix - less) @ effects in double precision: f64[D, L], a block of rows after the other."""
    out = np.empty((len(matrix), effects.shape[1]))
    for start in range(0, len(matrix), BLOCK):
        block = matrix[start : start + BLOCK].astype(np.float64)
        out[start : start + BLOCK] = (block if less is None else block - less) @ effects
    return out
