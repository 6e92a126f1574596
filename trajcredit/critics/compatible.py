"""The compatible critic: returns regressed on sums of centred choice features; a choice's share is its advantage.

Return = start value + sum of advantages + luck. So what a choice adds beyond what the policy usually does at such a
point (`centring`) is fitted to outcomes through its sum over the trajectory: the episodic natural actor-critic with
compatible features (Peters, Vijayakumar, Schaal 2005), features of the transcript in place of the policy's score. Two
links are fitted and their forecasts averaged: straight, where choices add up, and logistic, where one wrong choice can
leave nothing to win for those after it. How far each kind of feature is believed comes from the data
(`components`). Nobody is scored by a model that saw its group. What a run's siblings tell of the very values it used
comes on top (`siblings`), from their outcomes and never its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import frexp, ldexp

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.centring import Centring, group_sums
from trajcredit.critics.components import contrasts, variance_components
from trajcredit.critics.describe import Description
from trajcredit.critics.folds import FOLDS, folds_of, ranks
from trajcredit.critics.frames import Frame, described
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.regression import Linked, logistic, straight
from trajcredit.critics.shares import Shares, situation_cells, stacked, stacked_shapes, unstacked
from trajcredit.critics.siblings import matters, placed, tasks_of, told_by_siblings
from trajcredit.critics.story import Story
from trajcredit.critics.taught import repeats, teaching

__all__ = ["Compatible", "Links", "fit_pool", "learn"]

MOST_FOR_COMPONENTS = 480
"""Trajectories whose outcomes tell how much each kind of feature is believed."""


def fit_pool(stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64) -> PoolFit:
    """Forecasts of all decisions of the stories of a pool, in order.

    groups   i64[T]  task of each story, numbers 0 to G - 1
    names            G names of the tasks: folds follow from them
    outcome  f64[T]  NaN where there is none: such a story is forecast, and teaches nothing
    """
    fold = folds_of(names, FOLDS)
    model, told = learn(stories, groups, names, outcome, np.unique(fold).tolist())
    return model.say(told, groups, outcome, fold[groups])


def learn(
    stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64, without: Sequence[int]
) -> tuple[Compatible, Description]:
    """Models of a pool, each without one of the folds (ALL: of all groups), and the description they were fitted on."""
    frame, told = described(stories, groups)
    if not len(told.owner) or not told.names:
        return Compatible(frame, {}), told
    fold = folds_of(names, FOLDS)
    fitting = _Fitting(told, groups, ranks(names), fold[groups], outcome)
    found = {f: fitting.without(f) for f in without}
    return Compatible(frame, {f: one for f, one in found.items() if one is not None}), told


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """One fitted model: shares under the effects of the straight and of the logistic link, rewards in `unit`; how much
    the values of each of the frame's arguments matter, f64[P] (`siblings`)."""

    shares: Shares
    level: float
    span: float
    unit: float
    matters: F64

    def jumps(self, shares: F64, owner: I64) -> F64:
        """Advantages f64[R] of decisions with these shares f64[R, 2]: the mean of both links."""
        linked = Linked(self.level, self.span)
        before = _before(shares[:, 1], owner)
        after = linked.forecast(before + shares[:, 1])
        found: F64 = 0.5 * self.unit * (shares[:, 0] + (after - linked.forecast(before)))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Compatible:
    """The critic of a pool: how it describes decisions, and a model without each fold; ALL: of all groups.

    A fold without a model has outcomes that tell nothing: its forecast is 0.
    """

    frame: Frame
    models: dict[int, Links]

    def say(self, told: Description, groups: I64, outcome: F64, fold: I64) -> PoolFit:
        """Forecasts of the decisions of stories, described by this pool's frame.

        groups, fold  i64[T]  task of each story, and the fold whose model speaks of it; all stories of a task together
        outcome       f64[T]  of the siblings of a run, never its own: what they tell of the values it used
        """
        advantage = np.zeros(len(told.owner))
        of = fold[told.owner]
        cell = situation_cells(told, self.frame.situations)
        for f in np.unique(of).tolist():
            if f in self.models:
                rows, model = of == f, self.models[f]
                shares = model.shares.of(told, rows, cell, groups[told.owner])
                advantage[rows] = model.jumps(shares, told.owner[rows])
        added = self._by_siblings(told, groups, outcome - _sums(advantage, told.owner, len(groups)), fold)
        return PoolFit(advantage + added, len(self.frame.names), by_siblings=added)

    def _by_siblings(self, told: Description, groups: I64, left: F64, fold: I64) -> F64:
        """What siblings add to the forecast of every decision."""
        tasks = tasks_of(placed(told.uses, self.frame.arguments), told.owner, groups)
        added = np.zeros(len(told.owner))
        for f, model in self.models.items():
            mine = [task for task in tasks if fold[task.runs[0]] == f]
            added += told_by_siblings(mine, left, model.matters, len(added))
        return added

    def arrays(self) -> dict[str, F64]:
        """The models as arrays: those of `shares.stacked`, `links` f64[M, 3] of level, span and unit, `matters`
        f64[M, P] of the frame's arguments."""
        if not self.models:
            return {}
        links = np.array([(one.level, one.span, one.unit) for one in self.models.values()])
        matters = np.stack([one.matters for one in self.models.values()])
        return {**stacked([one.shares for one in self.models.values()]), "links": links, "matters": matters}

    @staticmethod
    def shapes(n: int, columns: int, states: int, cells: int, arguments: int) -> dict[str, tuple[int, ...]]:
        """Of the arrays of n models."""
        own = {"links": (n, 3), "matters": (n, arguments)}
        return {**stacked_shapes(n, columns, states, cells, 2), **(own if n else {})}

    @classmethod
    def of(cls, frame: Frame, folds: Sequence[int], arrays: Mapping[str, F64]) -> Compatible:
        """The critic whose models, without these folds, `arrays` says."""
        found = {}
        for m, (f, shares) in enumerate(zip(folds, unstacked(arrays, len(folds)), strict=True)):
            level, span, unit = map(float, arrays["links"][m])
            found[f] = Links(shares, level, span, unit, arrays["matters"][m])
        return cls(frame, found)


class _Fitting:
    """One pool, ready to be fitted without any one fold."""

    def __init__(self, told: Description, groups: I64, rank: I64, fold: I64, outcome: F64) -> None:
        self.groups, self.fold, self.outcome, self.rank = groups, fold, outcome, rank
        self.centring = Centring(told, groups[told.owner], fold[told.owner])
        columns = self.centring.columns
        kinds = sorted({name.split("|")[0] for name in told.names})
        self.kind = np.array([kinds.index(name.split("|")[0]) for name in told.names], dtype=np.int64)
        self.counts = np.zeros((len(kinds), columns.matrix.shape[1]))
        np.add.at(self.counts, (self.kind, columns.which), 1.0)
        self.repeats = repeats(columns.matrix, told.owner, len(groups))
        self.sums = group_sums(self.centring.left, told.owner, len(groups)).astype(np.float64) / self.repeats
        self.teaches = teaching(outcome, groups)
        self.told, self.cell = told, situation_cells(told, told.situations)
        self.tasks = sorted(tasks_of(told.uses, told.owner, groups), key=lambda task: int(rank[groups[task.runs[0]]]))

    def without(self, left_out: int) -> Links | None:
        """The model fitted on all folds but one; None where their outcomes tell nothing."""
        train = np.flatnonzero(self.teaches & (self.fold != left_out))
        if not len(train):
            return None
        group = np.unique(self.groups[train], return_inverse=True)[1]
        design = self.sums[train] - _means(self.sums[train], group)
        target = kernels.centre(self.outcome[train], group)
        if not target.any():
            return None
        unit = ldexp(1.0, frexp(float(np.abs(target).max()))[1])  # a power of two: dividing by it rounds nothing
        some = _enough(group, self.rank[self.groups[train]], target)
        within = contrasts(np.column_stack([design[some], target[some] / unit]), group[some])
        parts = variance_components(within[:, :-1], within[:, -1], self.counts, int(some.sum()) - len(within))
        prior = parts.kinds @ self.counts  # of a column that stands for many: their sum
        added = straight(design, target / unit, prior, parts.noise)
        linked, effects = self._linked(train, group, self.outcome[train] / unit, prior)
        both = np.stack([added, effects], axis=1) / self.repeats[:, None]
        portion = parts.kinds[self.kind] / prior[self.centring.columns.which]
        shares = self.centring.shares(both, portion, left_out)
        links = Links(shares, linked.level, linked.span, unit, np.zeros(len(self.told.uses.arguments)))
        return replace(links, matters=self._matters(links, left_out))

    def _matters(self, links: Links, left_out: int) -> F64:
        """How much values matter, by what the model leaves of the outcomes it was fitted to: it has seen none of the
        fold that it is without."""
        tasks = [task for task in self.tasks if self.fold[task.runs[0]] != left_out]
        sizes = np.array([len(task.runs) for task in tasks], dtype=np.int64)
        tasks = tasks[: int((np.cumsum(sizes) - sizes < MOST_FOR_COMPONENTS).sum())]
        if not tasks:
            return links.matters
        runs = np.zeros(len(self.groups), dtype=bool)
        runs[[t for task in tasks for t in task.runs.tolist()]] = True
        rows = runs[self.told.owner]
        owner = self.told.owner[rows]
        said = links.jumps(links.shares.of(self.told, rows, self.cell, self.groups[self.told.owner]), owner)
        left = np.where(runs, self.outcome - _sums(said, owner, len(runs)), np.nan)
        return matters(tasks, left, len(links.matters))

    def _linked(self, train: I64, group: I64, outcome: F64, prior: F64) -> tuple[Linked, F64]:
        """The logistic link and its effects; fitted on tasks whose outcomes differ."""
        low, high = _extremes(outcome, group)
        span = float((high - low).max())
        mixed = high[group] > low[group]
        rows, which = train[mixed], np.unique(group[mixed], return_inverse=True)[1]
        share = (outcome[mixed] - low[group[mixed]]) / span
        scale = float(share.var()) * span  # a difference d in reward is one of about d / (span var) in log-odds
        member = np.zeros((len(rows), int(which.max(initial=-1)) + 1))
        member[np.arange(len(rows)), which] = 1.0
        level, effects = logistic(self.sums[rows], share, member, prior / max(scale**2, 1e-12))
        return Linked(level, span), effects


def _sums(values: F64, owner: I64, n: int) -> F64:
    """Sum f64[n] over the decisions of each trajectory."""
    return np.bincount(owner, values, n).astype(np.float64)


def _means(values: F64, group: I64) -> F64:
    """The mean of each row's group, f64[T, C]."""
    count = np.bincount(group)
    total = np.zeros((len(count), values.shape[1]))
    np.add.at(total, group, values)
    means: F64 = (total / count[:, None])[group]
    return means


def _extremes(values: F64, group: I64) -> tuple[F64, F64]:
    low = np.full(int(group.max()) + 1, np.inf)
    high = np.full(len(low), -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return low, high


def _enough(group: I64, rank: I64, target: F64) -> BOOL:
    """The members of as many groups, in the order of their ranks, as have MOST_FOR_COMPONENTS together; bool[T].

    Where wins are so rare that no outcome of these differs, groups whose outcomes differ come first.
    """
    first = _first(group, rank)
    if target[first].any():
        return first
    differs = np.bincount(group, np.abs(target))[group] > 0
    return _first(group, np.where(differs, rank, rank + len(group) + int(rank.max(initial=0))))


def _first(group: I64, rank: I64) -> BOOL:
    order = np.argsort(rank, kind="stable")
    size = np.bincount(group)[group[order]]
    first = np.concatenate(([True], np.diff(rank[order]) != 0))
    before = np.cumsum(np.where(first, size, 0)) - size
    some: BOOL = np.zeros(len(group), dtype=bool)
    some[order] = before < MOST_FOR_COMPONENTS
    return some


def _before(effect: F64, owner: I64) -> F64:
    """Sum of the effects of earlier decisions of the same trajectory; owners ascend."""
    total = np.cumsum(effect) - effect
    first = np.concatenate(([True], owner[1:] != owner[:-1]))
    started: F64 = total - total[np.flatnonzero(first)][np.cumsum(first) - 1]
    return started
