"""The ridge critic: V, a ridge regression of the outcome on the state; Q, V and what the centred choice adds to it.

One row a decision, not one a trajectory as `compatible` has it: every decision of a run is held to account for the
whole outcome, so what is said of a choice is noisier; but it forecasts the outcome itself, at every point, which
`compatible` does not (Sutton and Barto 2018, section 9.4: Monte Carlo targets, linear features).

V(s)    = base + level + s' v           fitted to R - mean of the group
Q(s, a) = V(s) + x' q                   x the choice, centred (`centring`); fitted to what V leaves of R, out of fold
base    = mean outcome of the other rollouts of the task; of all that were fitted where there is none

Centred choices are what the state does not foretell, so fitting q to the rest is fitting V and q together (Frisch,
Waugh 1933; Lovell 1963), and a forced choice has an advantage of exactly zero. Nobody is scored by a model that saw its
group; penalties are chosen inside the training folds, each by the out-of-fold R2 of the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.critics.centring import Centring
from trajcredit.critics.describe import Description
from trajcredit.critics.folds import FOLDS, folds_of
from trajcredit.critics.frames import Frame, described
from trajcredit.critics.grams import Grams
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.shares import Shares, rows_times, situation_cells, stacked, stacked_shapes, unstacked
from trajcredit.critics.story import Story
from trajcredit.critics.taught import leave_one_out, repeats, teaching

__all__ = ["Ridge", "Values", "fit_pool", "learn"]

STATE_PENALTIES = (30.0, 100.0, 300.0, 1000.0, 3000.0)
CHOICE_PENALTIES = (30.0, 100.0, 300.0, 1000.0)
"""Decisions that weigh as much as what is thought of a coefficient beforehand: that it is 0."""
PARTS = 3
"""Parts of the training folds, each forecast from the others to choose a penalty."""


def fit_pool(stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64) -> PoolFit:
    """Forecasts of all decisions of the stories of a pool, in order; as `compatible.fit_pool`."""
    fold = folds_of(names, FOLDS)
    model, told = learn(stories, groups, names, outcome, np.unique(fold).tolist())
    return model.say(told, groups, outcome, fold[groups])


def learn(
    stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64, without: Sequence[int]
) -> tuple[Ridge, Description]:
    """Models of a pool, each without one of the folds (ALL: of all groups), and the description they were fitted on."""
    frame, told = described(stories, groups)
    if not len(told.owner) or not told.names:
        return Ridge(frame, {}), told
    fitting = _Fitting(told, groups, folds_of(names, FOLDS)[groups], outcome)
    found = {f: fitting.without(f) for f in without}
    return Ridge(frame, {f: one for f, one in found.items() if one is not None}), told


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One fitted model: shares f64[., 1] of choices, V f64[S] of states less their means, its level; `base` where the
    task has no other rollouts. All in rewards."""

    shares: Shares
    value: F64
    level: float
    base: float


@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """The critic of a pool: how it describes decisions, and a model without each fold; ALL: of all groups.

    A fold without a model has outcomes that tell nothing: its forecast is the base.
    """

    frame: Frame
    models: dict[int, Values]

    def say(self, told: Description, groups: I64, outcome: F64, fold: I64) -> PoolFit:
        """Forecasts of the decisions of stories, described by this pool's frame.

        groups, fold  i64[T]  task of each story, and the fold whose model speaks of it; all stories of a task together
        outcome       f64[T]  of siblings: a story's own is left out of its forecasts
        """
        advantage, owner = np.zeros(len(told.owner)), told.owner
        siblings = leave_one_out(outcome, groups)
        before = siblings[owner]
        of = fold[owner]
        cell = situation_cells(told, self.frame.situations)
        for f in np.unique(of).tolist():
            rows = of == f
            model = self.models.get(f)
            if model is not None:
                before[rows] = np.where(np.isnan(before[rows]), model.base, before[rows]) + model.level
                before[rows] += rows_times(told.state[rows], model.value[:, None], model.shares.mean)[:, 0]
                advantage[rows] = model.shares.of(told, rows, cell, groups[owner])[:, 0]
        return PoolFit(advantage, len(self.frame.names), before, before + advantage)

    def arrays(self) -> dict[str, F64]:
        """The models as arrays: those of `shares.stacked`, `value` f64[M, S], `levels` f64[M, 2] of level and base."""
        if not self.models:
            return {}
        models = list(self.models.values())
        return {
            **stacked([one.shares for one in models]),
            "value": np.stack([one.value for one in models]),
            "levels": np.array([(one.level, one.base) for one in models]),
        }

    @staticmethod
    def shapes(n: int, columns: int, states: int, cells: int, arguments: int) -> dict[str, tuple[int, ...]]:
        """Of the arrays of n models; nothing is kept of arguments."""
        return {
            **stacked_shapes(n, columns, states, cells, 1),
            **({"value": (n, states), "levels": (n, 2)} if n else {}),
        }

    @classmethod
    def of(cls, frame: Frame, folds: Sequence[int], arrays: Mapping[str, F64]) -> Ridge:
        """The critic whose models, without these folds, `arrays` says."""
        models = [
            Values(one, arrays["value"][m], *map(float, arrays["levels"][m]))
            for m, one in enumerate(unstacked(arrays, len(folds)))
        ]
        return cls(frame, dict(zip(folds, models, strict=True)))


class _Fitting:
    """One pool, ready to be fitted without any one fold."""

    def __init__(self, told: Description, groups: I64, fold: I64, outcome: F64) -> None:
        self.groups, self.fold, self.outcome, self.owner = groups, fold, outcome, told.owner
        self.of = fold[told.owner]
        self.centring = Centring(told, groups[told.owner], self.of)
        self.repeats = repeats(self.centring.columns.matrix, told.owner, len(groups))
        # k equal columns are one that is sqrt(k) as large; what loops repeat weighs less
        self.scale = np.sqrt(self.centring.columns.times) / self.repeats
        self.teaches = teaching(outcome, groups)
        self.taught = self.teaches[told.owner]
        state = self.centring.state
        self.root = np.sqrt(state.times)
        seen = (state.matrix - self.centring.mean) * self.root.astype(np.float32)
        self.states = Grams(seen, self.of, self.taught)
        self.choices = Grams(self.centring.left * self.scale.astype(np.float32), self.of, self.taught)

    def without(self, left_out: int) -> Values | None:
        """The model fitted on all folds but one; None where their outcomes tell nothing."""
        train = self.teaches & (self.fold != left_out)
        rows = self.taught & (self.of != left_out)
        if not rows.any():
            return None
        against = np.zeros(len(self.outcome))
        against[train] = kernels.centre(self.outcome[train], np.unique(self.groups[train], return_inverse=True)[1])
        if not against.any():
            return None
        unit = ldexp(1.0, frexp(float(np.abs(against).max()))[1])  # a power of two: dividing by it rounds nothing
        against /= unit
        target = against[self.owner]
        level = float(target[rows].mean())
        target = np.where(rows, target - level, 0.0)
        folds = [f for f in np.unique(self.fold).tolist() if f != left_out]
        parts = [part for part in (folds[k::PARTS] for k in range(PARTS)) if part]
        guesses = self.states.forecasts(parts, target, STATE_PENALTIES)
        best = int(np.argmin(((target - guesses)[:, rows] ** 2).sum(axis=1)))
        value = self.states.solved(folds, target, STATE_PENALTIES[best])
        left = np.where(rows, target - guesses[best], 0.0)
        found = self.choices.forecasts(parts, left, CHOICE_PENALTIES)
        totals = [np.bincount(self.owner, one, len(against)) for one in found]
        best = int(np.argmin([((against - total)[train] ** 2).sum() for total in totals]))
        effects = self.choices.solved(folds, left, CHOICE_PENALTIES[best]) * self.scale * unit
        times = self.centring.columns.times[self.centring.columns.which]
        return Values(
            shares=self.centring.shares(effects[:, None], 1.0 / times, left_out),
            value=(value * unit / self.root)[self.centring.state.which],
            level=level * unit,
            base=float(self.outcome[train].mean()),
        )
