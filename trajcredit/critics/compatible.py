"""The compatible critic: returns regressed on sums of centred choice features; a choice's share is its advantage.

Return = start value + sum of advantages + luck. So what a choice adds beyond what the policy usually does at such a
point (`centring`) is fitted to outcomes through its sum over the trajectory: the episodic natural actor-critic with
compatible features (Peters, Vijayakumar, Schaal 2005), features of the transcript in place of the policy's score. Two
links are fitted and their forecasts averaged: straight, where choices add up, and logistic, where one wrong choice can
leave nothing to win for those after it. How far each kind of feature is believed comes from the data
(`components`). Nobody is scored by a model that saw its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, ldexp

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.centring import centred, group_sums
from trajcredit.critics.columns import F32
from trajcredit.critics.components import variance_components
from trajcredit.critics.describe import Description, describe
from trajcredit.critics.folds import folds_of, ranks
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.regression import logistic, straight
from trajcredit.critics.story import Story
from trajcredit.critics.words import vocabulary

__all__ = ["FOLDS", "fit_pool"]

FOLDS = 10
MOST_COLUMNS = 1500
"""Columns of choices, and of states: of more, those that most groups share."""
MOST_CELLS = 60_000_000
"""Numbers of one description held at once: long pools get fewer columns."""
MOST_FOR_COMPONENTS = 480
"""Trajectories whose outcomes tell how much each kind of feature is believed."""


def fit_pool(stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64) -> PoolFit:
    """Forecasts of all decisions of the stories of a pool, in order.

    groups   i64[T]  task of each story, numbers 0 to G - 1
    names            G names of the tasks: folds follow from them
    outcome  f64[T]  NaN where there is none: such a story is forecast, and teaches nothing
    """
    words = vocabulary(stories, groups.tolist())
    n = sum(len(story.choices) for story in stories)
    told = describe(stories, groups, words, min(MOST_COLUMNS, max(64, MOST_CELLS // max(n, 1))))
    if not n or not told.names:
        return PoolFit(np.zeros(n), 0)
    fold = folds_of(names, FOLDS)
    model = _Model(told, groups, ranks(names), fold[groups], outcome)
    advantage = np.zeros(n)
    for f in np.unique(fold):
        mine = model.fold[told.owner] == f
        advantage[mine] = model.forecast(f)
    return PoolFit(advantage, len(told.names))


class _Model:
    """One pool, ready to be fitted without any one fold."""

    def __init__(self, told: Description, groups: I64, rank: I64, fold: I64, outcome: F64) -> None:
        self.owner, self.groups, self.fold = told.owner, groups, fold
        self.outcome = outcome
        self.features = centred(told, groups[told.owner], fold[told.owner])
        kinds = sorted({name.split("|")[0] for name in told.names})
        self.kind = np.array([kinds.index(name.split("|")[0]) for name in told.names], dtype=np.int64)
        self.n_kinds = len(kinds)
        self.rank = rank
        self.repeats = _repeats(told.choice, told.owner, len(groups))
        self.sums = group_sums(self.features, told.owner, len(groups)).astype(np.float64) / self.repeats
        self.teaches = _teaching(outcome, groups)

    def forecast(self, left_out: int) -> F64:
        """Advantages of the decisions of one fold, from a model fitted on the others: the mean of both links."""
        mine = self.fold[self.owner] == left_out
        train = np.flatnonzero(self.teaches & (self.fold != left_out))
        features, owner = self.features[mine].astype(np.float64), self.owner[mine]
        if not len(train):
            return np.zeros(len(owner))
        group = np.unique(self.groups[train], return_inverse=True)[1]
        design = self.sums[train] - _means(self.sums[train], group)
        target = kernels.centre(self.outcome[train], group)
        if not target.any():
            return np.zeros(len(owner))
        unit = ldexp(1.0, frexp(float(np.abs(target).max()))[1])  # a power of two: dividing by it rounds nothing
        some = _enough(group, self.rank[self.groups[train]], target)
        parts = variance_components(design[some], target[some] / unit, self.kind, self.n_kinds)
        prior = parts.kinds[self.kind]
        added = features @ (straight(design, target / unit, prior, parts.noise) / self.repeats)
        jumps = self._linked(train, group, self.outcome[train] / unit, prior, features, owner)
        found: F64 = 0.5 * unit * (added + jumps)
        return found

    def _linked(self, train: I64, group: I64, outcome: F64, prior: F64, features: F64, owner: I64) -> F64:
        """Advantages as jumps of the logistic forecast; fitted on tasks whose outcomes differ."""
        low, high = _extremes(outcome, group)
        span = float((high - low).max())
        mixed = high[group] > low[group]
        rows, which = train[mixed], np.unique(group[mixed], return_inverse=True)[1]
        share = (outcome[mixed] - low[group[mixed]]) / span
        scale = float(share.var()) * span  # a difference d in reward is one of about d / (span var) in log-odds
        member = np.zeros((len(rows), int(which.max(initial=-1)) + 1))
        member[np.arange(len(rows)), which] = 1.0
        fitted = logistic(self.sums[rows], share, member, prior / max(scale**2, 1e-12), span)
        effect = features @ (fitted.effects / self.repeats)
        before = _before(effect, owner)
        jump: F64 = fitted.forecast(before + effect) - fitted.forecast(before)
        return jump


def _teaching(outcome: F64, groups: I64) -> BOOL:
    """Trajectories with an outcome and a sibling that has one."""
    scored = ~np.isnan(outcome)
    members = np.bincount(groups[scored], minlength=int(groups.max(initial=-1)) + 1)
    return scored & (members[groups] > 1)


def _repeats(choice: F32, owner: I64, n: int) -> F64:
    """How often a feature occurs in trajectories that have it, f64[C], at least 1: what loops repeat weighs less."""
    times = group_sums((choice != 0).astype(np.float32), owner, n)
    have = np.count_nonzero(times, axis=0)
    mean: F64 = np.maximum(times.sum(axis=0, dtype=np.float64) / np.maximum(have, 1), 1.0)
    return mean


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
