"""What a sequence critic reads of every decision: linear forecasts, each from a model that did not see the task.

The network that reads them is small because they are few: what the choice adds by each kind of feature, and what the
state foretells. They are targets' offspring, so they are nested: a trajectory that the network learns from is read by a
model fitted on other parts of the training folds, as one that it will speak of is read by a model of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.centring import Centring, group_sums
from trajcredit.critics.columns import F32
from trajcredit.critics.components import contrasts, variance_components
from trajcredit.critics.describe import Description
from trajcredit.critics.regression import straight
from trajcredit.critics.shares import Shares, rows_times
from trajcredit.critics.taught import leave_one_out, repeats, teaching

__all__ = ["PARTS", "Reader", "Reading", "Readings"]

PARTS = 4
"""Parts of the training folds: each is read by models of the others."""
MOST_STATES = 400
"""Columns of the state that a forecast is read from: of more, those that are true most often."""
PENALTY = 20.0
"""Trajectories that weigh as much as what is thought of a column of the state beforehand: that it tells nothing."""
MOST_FOR_COMPONENTS = 480
"""Trajectories whose outcomes tell how much each kind of feature is believed."""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """How decisions are read: shares of the choice f64[., K], one a kind of feature, and state f64[S]; in `unit`s."""

    shares: Shares
    state: F64
    unit: float

    def read(self, told: Description, rows: BOOL, cell: I64, group: I64) -> F32:
        """f32[R, K + 1] of the decisions that `rows` marks, as in `Shares.of`: what the choice adds by each kind of
        feature, then the forecast that the state makes."""
        choice = self.shares.of(told, rows, cell, group)
        state = rows_times(told.state[rows], self.state[:, None], self.shares.mean)
        return np.hstack([choice, state]).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """What a network without one fold learns from.

    reader              reads the fold that was left out
    seen    f32[D, K+1] readings of the training decisions, nested; 0 elsewhere
    target  f64[T]      outcome less that of the siblings, in units of the reader; 0 where it teaches nothing
    part    i64[T]      part of each training trajectory; -1 of others
    """

    reader: Reader
    seen: F32
    target: F64
    part: I64


class Reading:
    """One pool, ready to be read without any one fold.

    groups, fold  i64[T]  task and fold of each story
    rank          i64[G]  place of each task; outcome f64[T], NaN where there is none
    """

    def __init__(self, told: Description, groups: I64, rank: I64, fold: I64, outcome: F64) -> None:
        self.told, self.groups, self.fold, self.outcome = told, groups, fold, outcome
        self.owner = told.owner
        self.centring = Centring(told, groups[told.owner], fold[told.owner])
        columns = self.centring.columns
        kinds = sorted({name.split("|")[0] for name in told.names})
        self.kind = np.array([kinds.index(name.split("|")[0]) for name in told.names], dtype=np.int64)
        self.counts = np.zeros((len(kinds), columns.matrix.shape[1]))
        np.add.at(self.counts, (self.kind, columns.which), 1.0)
        self.repeats = repeats(columns.matrix, told.owner, len(groups))
        self.sums = group_sums(self.centring.left, told.owner, len(groups)).astype(np.float64) / self.repeats
        self.teaches = teaching(outcome, groups)
        self.rank = rank
        self.part = _parts(groups, rank, self.teaches)
        self._states()

    def _states(self) -> None:
        """Squares of the states by cell, fold and part: each trajectory counts once, however many decisions it has."""
        state = self.centring.state
        often = np.count_nonzero(state.matrix, axis=0)
        self.kept = np.sort(np.argsort(-often, kind="stable")[:MOST_STATES])
        self.root = np.sqrt(state.times[self.kept])
        self.state = (state.matrix[:, self.kept] - self.centring.mean[self.kept]) * self.root.astype(np.float32)
        weight = 1 / np.maximum(np.bincount(self.owner, minlength=len(self.groups)), 1)
        self.weighed = self.state * weight[self.owner, None].astype(np.float32)
        self.cell = self.fold * PARTS + self.part
        n, width = (int(self.fold.max(initial=0)) + 1) * PARTS, len(self.kept)
        self.squares = np.zeros((n, width, width))
        for c in np.unique(self.cell[self.teaches]).tolist():
            mine = (self.teaches & (self.cell == c))[self.owner]
            self.squares[c] = self.weighed[mine].T @ self.state[mine]

    def without(self, left_out: int) -> Readings | None:
        """Readings for a network without a fold (-1: of all); None where the outcomes of the others tell nothing."""
        train = self.teaches & (self.fold != left_out)
        if not train.any():
            return None
        rows = np.flatnonzero(train)
        group = np.unique(self.groups[rows], return_inverse=True)[1]
        against = np.zeros(len(self.outcome))
        against[rows] = kernels.centre(self.outcome[rows], group)
        if not against.any():
            return None
        unit = ldexp(1.0, frexp(float(np.abs(against).max()))[1])  # a power of two: dividing by it rounds nothing
        target = np.where(train, (self.outcome - leave_one_out(self.outcome, self.groups)) / unit, 0.0)
        spread = float(np.sqrt((target[rows] ** 2).mean()))
        against, target, unit = against / unit / spread, target / spread, unit * spread
        design = np.zeros_like(self.sums)
        design[rows] = self.sums[rows] - _means(self.sums[rows], group)
        kinds, noise = self._components(rows, group, design, against)
        prior = kinds @ self.counts
        seen = np.zeros((len(self.owner), len(kinds) + 1), dtype=np.float32)
        for part in np.unique(self.part[rows]).tolist():
            others = rows[self.part[rows] != part]
            mine = (train & (self.part == part))[self.owner]
            effects = self._split(straight(design[others], against[others], prior, noise), kinds, prior)
            seen[mine, :-1] = self.centring.left[mine] @ effects.astype(np.float32)
            seen[mine, -1] = self.state[mine] @ self._foretold(target, others).astype(np.float32)
        effects = self._split(straight(design[rows], against[rows], prior, noise), kinds, prior)
        portion = kinds[self.kind] / prior[self.centring.columns.which]
        state = np.zeros(self.centring.state.matrix.shape[1])
        state[self.kept] = self._foretold(target, rows) * self.root
        each = state[self.centring.state.which] / self.centring.state.times[self.centring.state.which]
        reader = Reader(self.centring.shares(effects, portion, left_out), each, unit)
        return Readings(reader, seen, target, np.where(train, self.part, -1))

    def _components(self, rows: I64, group: I64, design: F64, against: F64) -> tuple[F64, float]:
        """Variances of kinds f64[K], and of luck, by the outcomes of some tasks: first those that differ."""
        differs = np.bincount(group, np.abs(against[rows]))[group] == 0
        order = np.lexsort((self.rank[self.groups[rows]], differs))
        size = np.bincount(group)
        first = np.unique(group[order], return_index=True)[1]
        taken = group[order][np.sort(first)]
        enough = np.isin(group, taken[np.cumsum(size[taken]) - size[taken] < MOST_FOR_COMPONENTS])
        some = rows[enough]
        within = contrasts(np.column_stack([design[some], against[some]]), group[enough])
        parts = variance_components(within[:, :-1], within[:, -1], self.counts, len(some) - len(within))
        return parts.kinds, parts.noise

    def _split(self, effects: F64, kinds: F64, prior: F64) -> F64:
        """Effects of columns f64[U] -> f64[U, K]: of a column that stands for several features, by their variances."""
        portion = kinds[:, None] * self.counts / prior
        return np.asarray((effects / self.repeats * portion).T, dtype=np.float64)

    def _foretold(self, target: F64, rows: I64) -> F64:
        """Ridge of the target on the states of some trajectories, f64 one a kept column."""
        which = np.zeros(len(self.groups), dtype=bool)
        which[rows] = True
        system = self.squares[np.unique(self.cell[rows])].sum(axis=0)
        system[np.diag_indices_from(system)] += PENALTY
        mine = which[self.owner]
        cross = self.weighed[mine].T.astype(np.float64) @ target[self.owner[mine]]
        return np.asarray(np.linalg.solve(system, cross), dtype=np.float64)


def _parts(groups: I64, rank: I64, teaches: BOOL) -> I64:
    """Part i64[T] of each trajectory: tasks that teach, in the order of their ranks, in PARTS runs of equal length."""
    tasks = np.unique(groups[teaches])
    place = np.zeros(len(rank), dtype=np.int64)
    place[tasks[np.argsort(rank[tasks])]] = np.arange(len(tasks)) * PARTS // max(len(tasks), 1)
    part: I64 = place[groups]
    return part


def _means(values: F64, group: I64) -> F64:
    """The mean of each row's group, f64[T, C]."""
    count = np.bincount(group)
    total = np.zeros((len(count), values.shape[1]))
    np.add.at(total, group, values)
    means: F64 = (total / count[:, None])[group]
    return means
