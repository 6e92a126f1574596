"""The sequence critic: a small recurrent network over decisions forecasts the outcome before and after each choice.

after_k  = before_k + added_k
added_k  = sum over kinds of features f of share_kf (1 + gain_f(memory, state))
before_k = base + sum of added_j, j < k, + luck(memory, state)

share_kf is what the centred choice adds by features of kind f under a linear model (`sequence_reads`): centred, so a
forced choice adds exactly zero. memory is what a gated recurrent unit (Cho et al. 2014) keeps of earlier decisions,
state a linear forecast from what is known. gain and luck start at zero, so training starts at the linear forecast and
goes on only as far as it helps on tasks held back (early stopping, Prechelt 1998). What it can see and a linear model
cannot is that a choice matters less once all is lost, more where nothing later mends it, and what results have told.
base is the mean outcome of the other rollouts of the task. Losses are those of return decomposition (Arjona-Medina et
al. 2019): the outcome against the sum of choices, and against every forecast on the way.

Measured on the oracle benchmark's development set: correlation of its forecasts with the true advantages 0.739, of
those of `compatible` 0.729; as a gradient they are more biased (efficiency 2.5 against 5.2 at 256 trajectories). 38,000
decisions take about a minute, with `compatible` a fifth of that.

Nobody is scored by a model that saw its group. Where the forecasts of a fold's models have no R2 above 0 on the tasks
that they held back, its forecast is the base.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Listed
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.critics.columns import F32
from trajcredit.critics.describe import Description
from trajcredit.critics.folds import FOLDS, folds_of, ranks
from trajcredit.critics.frames import Frame, described
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.sequence_network import forecasts, shapes, train
from trajcredit.critics.sequence_reads import PARTS, Reader, Reading, Readings
from trajcredit.critics.shares import situation_cells, stacked, stacked_shapes, unstacked
from trajcredit.critics.story import Story
from trajcredit.critics.taught import leave_one_out
from trajcredit.errors import InputError
from trajcredit.model import Note

__all__ = ["Networks", "Sequence", "fit_pool", "learn"]

HELD = 2
"""Networks of a fold, each stopped by another part of what it could learn from; their forecasts are averaged."""
MOST_KINDS = 32
"""Kinds of features that a kept model has room for."""


def fit_pool(stories: Listed[Story], groups: I64, names: Listed[str], outcome: F64) -> PoolFit:
    """Forecasts of all decisions of the stories of a pool, in order; as `compatible.fit_pool`."""
    fold = folds_of(names, FOLDS)
    model, told = learn(stories, groups, names, outcome, np.unique(fold).tolist())
    return model.say(told, groups, outcome, fold[groups])


def learn(
    stories: Listed[Story], groups: I64, names: Listed[str], outcome: F64, without: Listed[int]
) -> tuple[Sequence, Description]:
    """Models of a pool, each without one of the folds (ALL: of all groups), and the description they were fitted on.

    Everything is learnt in an order that no storage decides: rounding differs with the order of sums, and training
    would make more of it.
    """
    rank = ranks(names)
    mine = [(int(rank[g]), _mark(story)) for g, story in zip(groups.tolist(), stories, strict=True)]
    order = _order(mine, outcome)
    groups, outcome, names = rank[groups][order], outcome[order], [names[g] for g in np.argsort(rank).tolist()]
    frame, told = described([stories[t] for t in order.tolist()], groups)
    back = _rows(told.owner, np.argsort(order))
    if not len(told.owner) or not told.names:
        return Sequence(frame, {}), _taken(told, back, order)
    pool = Reading(told, groups, np.arange(len(names)), folds_of(names, FOLDS)[groups], outcome)
    read = {f: found for f in without if (found := pool.without(f)) is not None}
    return Sequence(frame, _trained(read, told.owner) if read else {}), _taken(told, back, order)


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """One fitted model: how decisions are read, the weights f32[HELD, ...] of its networks by name, and the R2 of the
    sum of choices on what they held back."""

    reader: Reader
    weights: dict[str, F32]
    skill: float


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """The critic of a pool: how it describes decisions, and a model without each fold; ALL: of all groups."""

    frame: Frame
    models: dict[int, Networks]

    def say(self, told: Description, groups: I64, outcome: F64, fold: I64) -> PoolFit:
        """Forecasts of the decisions of stories, described by this pool's frame; as `ridge.Ridge.say`."""
        order = _order(_looks(told, len(groups)), outcome)
        rows = _rows(told.owner, order)
        found = self._say(_taken(told, rows, np.argsort(order)), groups[order], outcome[order], fold[order])
        back = np.argsort(rows)
        before, after = (None if one is None else one[back] for one in (found.before, found.after))
        return PoolFit(found.advantage[back], found.columns, before, after, found.notes)

    def _say(self, told: Description, groups: I64, outcome: F64, fold: I64) -> PoolFit:
        advantage, owner = np.zeros(len(told.owner)), told.owner
        before = leave_one_out(outcome, groups)[owner]
        of = fold[owner]
        cell = situation_cells(told, self.frame.situations)
        for f in np.unique(of).tolist():
            model = self.models.get(f)
            if model is None or model.skill <= 0:
                continue
            rows = of == f
            seen = model.reader.read(told, rows, cell, groups[owner])
            level, added = forecasts(model.weights, seen, owner[rows])
            advantage[rows] = added * model.reader.unit
            before[rows] += level * model.reader.unit
        notes = (self._told(np.unique(of).tolist()),) if len(of) and self.frame.names else ()
        return PoolFit(advantage, len(self.frame.names), before, before + advantage, notes)

    def arrays(self) -> dict[str, F64]:
        """The models as arrays: those of `shares.stacked`, `value` f64[M, S] of the states, `numbers` f64[M, 3] of
        unit, skill and kinds of features, `weights` f64[M, HELD, W]; kinds filled up with zeros to MOST_KINDS."""
        models = list(self.models.values())
        if not models:
            return {}
        kinds = models[0].reader.shares.choice.shape[1]
        parts = stacked([one.reader.shares for one in models])
        for name in ("choice", "state", "cells"):
            parts[name] = np.pad(parts[name], ((0, 0), (0, 0), (0, MOST_KINDS - kinds)))
        flat = np.stack([np.concatenate([w.reshape(HELD, -1) for w in one.weights.values()], axis=1) for one in models])
        return {
            **parts,
            "value": np.stack([one.reader.state for one in models]),
            "numbers": np.array([(one.reader.unit, one.skill, kinds) for one in models]),
            "weights": np.pad(flat.astype(np.float64), ((0, 0), (0, 0), (0, _width(MOST_KINDS) - flat.shape[2]))),
        }

    @staticmethod
    def shapes(n: int, columns: int, states: int, cells: int, arguments: int) -> dict[str, tuple[int, ...]]:
        """Of the arrays of n models; nothing is kept of arguments."""
        own = {"value": (n, states), "numbers": (n, 3), "weights": (n, HELD, _width(MOST_KINDS))}
        return {**stacked_shapes(n, columns, states, cells, MOST_KINDS), **own} if n else {}

    @classmethod
    def of(cls, frame: Frame, folds: Listed[int], arrays: Mapping[str, F64]) -> Sequence:
        """The critic whose models, without these folds, `arrays` says; InputError where they are none."""
        models = {}
        for m, (fold, shares) in enumerate(zip(folds, unstacked(arrays, len(folds)), strict=True)):
            unit, skill, kinds = arrays["numbers"][m].tolist()
            if kinds not in range(1, MOST_KINDS + 1):
                raise InputError(f"a model of a sequence critic has 1 to {MOST_KINDS} kinds of features, not {kinds:g}")
            k, flat, at = int(kinds), arrays["weights"][m].astype(np.float32), 0
            weights = {}
            for name, (rows, columns) in shapes(k).items():
                weights[name] = np.ascontiguousarray(flat[:, at : at + rows * columns].reshape(HELD, rows, columns))
                at += rows * columns
            choice, state, cells = (
                np.ascontiguousarray(part[:, :k]) for part in (shares.choice, shares.state, shares.cells)
            )
            cut = replace(shares, choice=choice, state=state, cells=cells)
            models[fold] = Networks(Reader(cut, arrays["value"][m], unit), weights, skill)
        return cls(frame, models)

    def _told(self, folds: Listed[int]) -> Note:
        """What its models are worth, and how many say nothing."""
        known = [self.models[f].skill for f in folds if f in self.models]
        idle = len(folds) - sum(skill > 0 for skill in known)
        worth = f"R2 {np.mean(known):.2f} on tasks held back, mean of {len(known)} folds" if known else "no model"
        said = f"; in {idle} of {len(folds)} folds it has none above 0: their forecast is the mean of siblings"
        return Note("critic-sequence", f"critic sequence: {worth}{said if idle else ''}")


def _trained(read: dict[int, Readings], owner: I64) -> dict[int, Networks]:
    """The networks of every fold that has readings of all parts to learn from and to be held back."""
    some, number = np.unique(owner, return_inverse=True)
    ready = [f for f, one in read.items() if set(range(PARTS)) <= set(one.part[some].tolist())]
    if not ready:
        return {}
    chosen = [read[f] for f in ready]
    seen, target, part = ([getattr(one, name) for one in chosen] for name in ("seen", "target", "part"))
    found = train(seen, [one[some] for one in target], [one[some] for one in part], number, HELD)
    return {f: Networks(read[f].reader, one.weights, one.skill) for f, one in zip(ready, found, strict=True)}


def _order(marks: Listed[tuple[int, bytes]], outcome: F64) -> I64:
    """Places i64[T] of trajectories in the order of their marks; of equal ones, in that of outcomes."""
    keys = [(*mark, one == one, one if one == one else 0.0) for mark, one in zip(marks, outcome.tolist(), strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _rows(owner: I64, order: I64) -> I64:
    """Rows i64[D] of the decisions, trajectory after trajectory in that order."""
    place = np.argsort(order)
    return np.argsort(place[owner], kind="stable")


def _taken(told: Description, rows: I64, place: I64) -> Description:
    """The description of these rows, trajectory t now being number place[t]."""
    return replace(
        told,
        choice=told.choice[rows],
        state=told.state[rows],
        situation=told.situation[rows],
        last_call=told.last_call[rows],
        owner=place[told.owner[rows]],
        noted=told.noted[rows],
        new=told.new[rows],
    )


def _looks(told: Description, n: int) -> list[tuple[int, bytes]]:
    """A mark of how each of n trajectories is described."""
    ends = np.searchsorted(told.owner, np.arange(n + 1))
    marks = []
    for start, end in pairwise(ends.tolist()):
        digest = blake2b(digest_size=16)
        for part in (told.choice[start:end], told.state[start:end], told.situations[told.situation[start:end]]):
            digest.update(np.ascontiguousarray(part).tobytes())
        marks.append((0, digest.digest()))
    return marks


def _mark(story: Story) -> bytes:
    """A hash of what was asked, chosen and answered; names of tools aside, since another name is the same tool."""
    chosen = [(choice.is_message, choice.position, choice.arguments, choice.text) for choice in story.choices]
    told = repr((story.requests, chosen, story.events))
    return blake2b(told.encode(errors="surrogatepass"), digest_size=16).digest()


def _width(kinds: int) -> int:
    """How many weights a network has."""
    return sum(rows * columns for rows, columns in shapes(kinds).values())
