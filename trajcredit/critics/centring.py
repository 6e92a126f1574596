"""Centring: what a choice has beyond what the policy usually does at such a point. It needs no rewards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.critics.columns import F32
from trajcredit.critics.describe import Description
from trajcredit.critics.shares import Shares, cell_sums, rows_times

__all__ = ["Centring", "Distinct", "distinct", "group_sums", "pull_of"]

PENALTY = 300.0
"""Ridge penalty of the prediction from the state: so many decisions weigh as much as what is thought beforehand."""
LEAST_PULL, MOST_PULL = 1.0, 1000.0
"""Between these lies what pulls the mean of a cell to zero; the most where nothing tells cells apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """The columns of a matrix that differ: f32[D, U], which of them each column is, i64[C], and how many each is.

    Many features of one pool are equal in every decision. Ridge treats k equal columns as one that is sqrt(k) as large,
    so nothing is lost by solving for one.
    """

    matrix: F32
    which: I64
    times: I64


def distinct(matrix: F32) -> Distinct:
    """In order of first appearance."""
    known: dict[bytes, int] = {}
    across = np.ascontiguousarray(matrix.T)
    which = np.array([known.setdefault(column.tobytes(), len(known)) for column in across], dtype=np.int64)
    first = np.zeros(len(known), dtype=np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return Distinct(np.ascontiguousarray(across[first].T), which, np.bincount(which, minlength=len(known)))


class Centring:
    """Choice features of a pool minus what was to be expected there, so that a forced choice is zero.

    Taken off in turn: their ridge prediction from the state, fitted on the other folds; the mean of what is left over
    equal situations; and over the task's own points after the same last call. Both means are shrunk by n / (n + pull),
    the pull as large as such cells differ little (`pull_of`).

    habit    the pull of the latter: how little tasks differ in what they usually do after a call
    left     f32[D, U]  what remains of the distinct choice features
    columns, state      the distinct features of choices and of states; mean f32[S] of the latter

    group, fold  i64[D]  task and fold of each decision; all decisions of a task are in one fold
    """

    def __init__(self, told: Description, group: I64, fold: I64) -> None:
        self.columns, self.state = distinct(told.choice), distinct(told.state)
        self._situation, self._n_situations = told.situation, len(told.situations)
        self.mean, self._usual = _mean(self.state.matrix), _mean(self.columns.matrix)
        self._root = np.sqrt(self.state.times)
        seen = (self.state.matrix - self.mean) * self._root.astype(np.float32)
        done = self.columns.matrix - self._usual
        self._weights, self._surprise = _predicted(seen, done, fold)
        count = np.bincount(self._situation, minlength=self._n_situations)
        self._pull = (count + pull_of(self._surprise, self._situation))[:, None]
        means = group_sums(self._surprise, self._situation, self._n_situations) / self._pull.astype(np.float32)
        self.left: F32 = np.asarray(self._surprise - means[self._situation], dtype=np.float32)
        cells = cells_of(group, told.last_call)
        self.habit = pull_of(self.left, cells)
        self.left -= _cell_means(self.left, cells, self.habit)

    def shares(self, effects: F64, portion: F64, fold: int) -> Shares:
        """What a decision's centred features add up to under these effects, as a rule for decisions told by the pool's
        own columns; the state is predicted from as for the decisions of this fold, by what the others show; -1: by all.

        effects  f64[U, L]  of each distinct feature
        portion  f64[C]     how much of it is of each column that is that feature; of these they add up to 1
        """
        state = (self._weights[fold] @ effects) / self._root[:, None]
        choice, of_state = self.columns.which, self.state.which
        surprise = rows_times(self._surprise, effects)
        return Shares(
            usual=self._usual[choice].astype(np.float64),
            choice=effects[choice] * portion[:, None],
            mean=self.mean[of_state].astype(np.float64),
            state=state[of_state],
            cells=cell_sums(surprise, self._situation, self._n_situations) / self._pull,
            habit=self.habit,
        )


def cells_of(group: I64, last_call: I64) -> I64:
    """Numbers of the points of one task after the same last call."""
    both = group * (int(last_call.max(initial=0)) + 1) + last_call
    return np.asarray(np.unique(both, return_inverse=True)[1], dtype=np.int64)


def pull_of(left: F32, cell: I64) -> float:
    """How many rows pull the mean of a cell to zero: variance within cells over variance between them, which makes
    n / (n + pull) the best linear unbiased prediction of what a cell has of its own (Henderson 1975).

    By moments, all columns together: of n rows in m cells, the squares within cells add up to (n - m) within, and
    those of their means, a row each, to n between + m within (Searle, Casella, McCulloch 1992, section 3.6, means
    known to be zero). Kept between LEAST_PULL and MOST_PULL: the latter where cells differ by no more than chance, or
    no cell has two rows.

    left f32[n, C], cell i64[n]
    """
    count = np.bincount(cell)
    cells = int(np.count_nonzero(count))
    spare = len(cell) - cells
    if spare <= 0:
        return MOST_PULL
    sums = group_sums(left, cell, len(count)).astype(np.float64)
    means = float((np.einsum("mc,mc->m", sums, sums) / np.maximum(count, 1)).sum())
    total = float(np.einsum("nc,nc->", left, left, dtype=np.float64, casting="safe"))
    within = max(total - means, 0.0) / spare
    between = (means - cells * within) / len(cell)
    if between * MOST_PULL <= within:
        return MOST_PULL
    return max(within / between, LEAST_PULL)


def group_sums(matrix: F32, group: I64, n: int) -> F32:
    """Sums of the rows of each group: f32[n, C]; group i64[rows]."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    out = np.zeros((n, *matrix.shape[1:]), dtype=matrix.dtype)
    if len(order):
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        out[ordered[starts]] = np.add.reduceat(matrix[order], starts, axis=0)
    return out


def _mean(matrix: F32) -> F32:
    mean: F32 = np.zeros(matrix.shape[1], dtype=np.float32)
    if len(matrix):
        mean[:] = matrix.mean(axis=0, dtype=np.float64)
    return mean


def _cell_means(matrix: F32, cell: I64, pull: float) -> F32:
    count = np.bincount(cell)
    means = group_sums(matrix, cell, len(count)) / (count + pull)[:, None].astype(np.float32)
    return np.asarray(means[cell], dtype=np.float32)


def _predicted(seen: F32, done: F32, fold: I64) -> tuple[dict[int, F64], F32]:
    """Ridge of the choices on the state: coefficients f64[S, U] without each fold (-1: of all), and what each
    decision's prediction without its own fold leaves, f32[D, U]."""
    square, cross = seen.T @ seen, seen.T @ done
    weights = {-1: _solved(square, cross)}
    left = np.empty_like(done)
    for f in np.unique(fold).tolist():
        mine = fold == f
        inside = seen[mine]
        weights[f] = _solved(square - inside.T @ inside, cross - inside.T @ done[mine])
        left[mine] = done[mine] - inside @ weights[f].astype(np.float32)
    return weights, left


def _solved(square: F32, cross: F32) -> F64:
    system = square.astype(np.float64)
    system[np.diag_indices_from(system)] += PENALTY
    return np.asarray(np.linalg.solve(system, cross.astype(np.float64)), dtype=np.float64)
