"""A running belief that the rollout will do well, updated by what happens; credit is its change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import log
from typing import ClassVar, Literal

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.events import Events, better, events_of, numbered
from trajcredit.attributors.terms import has_credit
from trajcredit.batching import Batch, turns_of
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Belief"]

FOLDS = 10
NAMES = ("this call or message, after the last one", "where its values come from", "a repeat or not",
         "its result failed or not", "its turn told anything new or not")  # fmt: skip
ROUNDS = 30
CAREFUL = 1.0
"""Precision of what is thought of the temper and the base beforehand: that both are 0."""
SHOWN = 8


@attributors.register("belief")
@dataclass(frozen=True, slots=True)
class Belief:
    """Recursive Bayesian updating of P(does well) by the likelihood ratios of events; credit is what they change.

    l_k = l_{k-1} + temper x sum over the events e of choice k of log P(e | well) / P(e | not well), P = 1 / (1 +
    exp(-l)). Events need no task knowledge: which tool is called, or that a message is sent or ends the run, given the
    last call; which earlier spans its values come from, whether it repeats an earlier call, whether its result failed,
    each given the tool; whether the results of its turn told anything new. To do well is to be above the mean outcome
    of one's group: of outcomes 0 and 1 the success itself, and the same under any constant added to a group's rewards;
    at the mean counts half, and a group whose outcomes are all equal teaches nothing.

    Likelihoods are counted: (n(e, well) + c p) / (n(well) + c), n among events given the same, p the share of e among
    all of them, c = `pseudo`, so what was never seen has ratio 1. A rollout is judged by counts of other tasks of its
    pool (ten folds of tasks). Events depend on each other, so their ratios claim too much: the temper, a slope in
    [0, 1], and l_0 are fitted by logistic regression on the other tasks, each of them counted without itself.

    `scale=log_odds`: credit_k is the change of l. `scale=probability`: the change of P over the turn, shared over its
    calls as their changes of l. Words beside calls carry the sum of their turn. credit = advantage; over choices it
    adds up to the last belief minus the first, not to the reward: the rollout's own outcome does not enter.

    Naive Bayes with a temper; the updating is that of sequential tests (Wald 1945) and of weights of evidence (Good
    1950). It assumes that what goes along with doing well in other tasks does so here. It misleads as every
    correlation does: a good rollout's habits are praised as causes, and a long loop counts again and again.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): correlation with the true advantage 0.442 (0.207), the culprit blamed first
    0.419 of the time (0.110). As a gradient it is biased: efficiency 0.35 at 64 trajectories, 0.09 at 256 (1). For
    reading, where no critic can be fitted.
    """

    scale: Literal["probability", "log_odds"] = "probability"
    """Credit in chances of doing well, or in nats."""
    pseudo: float = 5.0
    """c: events that pull a likelihood to that of all rollouts, 0.01..1000000."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "batch"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("belief", "scale", self.scale, ("probability", "log_odds"))
        within("belief", "pseudo", self.pseudo, 0.01, 1e6)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = the change of belief that a choice and its result make."""
        found = self._found(batch)
        numbers = np.full(batch.n_spans, np.nan)
        numbers[found.events.span] = found.change
        turn = turns_of(batch)
        words = np.flatnonzero(batch.action_mask & np.isnan(numbers))
        total = np.bincount(found.events.turn, found.change, int(turn.max(initial=-1)) + 1)
        numbers[words] = total[turn[words]]
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        credit = np.where(batch.action_mask & ~np.isnan(batch.outcome)[owner], numbers, np.nan)
        return Attribution(credit, credit, _notes(found))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """One term a kind of event: what it changed of the belief."""
        if not has_credit(batch, span):
            return ()
        found = self._found(batch)
        itself = np.flatnonzero(found.events.span == span)
        mine = itself if len(itself) else np.flatnonzero(found.events.turn == turns_of(batch)[span])
        terms = []
        for kind, name in enumerate(NAMES):
            nats = float(found.nats[mine, kind].sum())
            value = float((found.nats[mine, kind] * found.slope[mine]).sum())
            spans = tuple(found.events.span[mine[:SHOWN]].tolist())
            terms.append(Term(f"{name}: {nats:+.3g} nats", value, spans))
        return tuple(terms)

    def _found(self, batch: Batch) -> _Found:
        events = events_of(batch)
        did = better(batch)
        given, seen = _happened(batch, events)
        owner = events.owner
        fold = _folds(batch.group_ids)[batch.group]
        nats = np.zeros(seen.shape)
        start = np.zeros(batch.n_trajectories)
        tempers: dict[int, list[float]] = {}
        counts = _Counts(given, seen, did[owner], self.pseudo)
        for pool in np.unique(batch.pool).tolist():
            for f in np.unique(fold[batch.pool == pool]).tolist():
                mine = (batch.pool == pool) & (fold == f)
                train = (batch.pool == pool) & (fold != f) & ~np.isnan(did)
                if not train.any():
                    continue
                rows = train[owner]
                evidence = counts.ratios(rows, rows, batch.group[owner])
                total = np.bincount(owner[rows], evidence.sum(axis=1), batch.n_trajectories)[train]
                base, temper = _calibrated(total, did[train])
                tempers.setdefault(pool, []).append(temper)
                start[mine] = base
                judged = mine[owner]
                nats[judged] = temper * counts.ratios(rows, judged, None)
        return _Found(events, nats, *_updated(batch, events, nats, start, self.scale), tempers)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """By decision: tempered log-ratios f64[D, kinds], what a nat of each is worth f64[D], the change f64[D]; by pool
    the tempers of its folds."""

    events: Events
    nats: F64
    slope: F64
    change: F64
    tempers: dict[int, list[float]]


class _Counts:
    """How often events occur in rollouts that did well and in those that did not; given, seen i64[D, kinds]."""

    def __init__(self, given: I64, seen: I64, did: F64, pseudo: float) -> None:
        self.given, self.seen, self.did, self.pseudo = given, seen, did, pseudo
        self.n_given, self.n_seen = int(given.max(initial=-1)) + 1, int(seen.max(initial=-1)) + 1

    def ratios(self, rows: BOOL, judged: BOOL, group: I64 | None) -> F64:
        """Log-ratios f64[J, kinds] of the decisions `judged`, by those that `rows` marks; `group` of each decision
        leaves those of its own out (then rows and judged are the same)."""
        well = self.did[rows, None]
        shares: list[F64] = []
        for weight in (well, 1 - well):
            of = np.broadcast_to(weight, self.seen[rows].shape).ravel()
            for number, n in ((self.seen, self.n_seen), (self.given, self.n_given)):
                count = np.bincount(number[rows].ravel(), of, n).astype(np.float64)[number[judged]]
                if group is not None:
                    count = count - self._own(number, rows, judged, of, group)
                shares.append(count)
        well_seen, well_given, ill_seen, ill_given = shares
        usual = (well_seen + ill_seen) / np.maximum(well_given + ill_given, 1e-300)
        known = usual > 0
        top = (well_seen + self.pseudo * usual) / (well_given + self.pseudo)
        low = (ill_seen + self.pseudo * usual) / (ill_given + self.pseudo)
        ratio: F64 = np.log(np.where(known, top, 1.0)) - np.log(np.where(known, low, 1.0))
        return ratio

    def _own(self, number: I64, rows: BOOL, judged: BOOL, of: F64, group: I64) -> F64:
        """What the own group of each decision adds to its counts; here rows are those that are judged."""
        kinds = number.shape[1]
        cell = numbered(number[rows].ravel(), np.repeat(group[rows], kinds))
        own: F64 = np.bincount(cell, of).astype(np.float64)[cell].reshape(-1, kinds)
        return own


def _happened(batch: Batch, events: Events) -> tuple[I64, I64]:
    """What is given and what happened, i64[D, kinds] each, numbered over all kinds; in the order of NAMES."""
    pool = batch.pool[events.owner]
    pairs = (
        (events.last, events.act),
        (events.act, events.origin),
        (events.act, events.repeat),
        (events.act, events.failed),
        (events.act, events.told),
    )
    given = np.stack([numbered(pool, given) for given, _ in pairs], axis=1)
    seen = np.stack([numbered(pool, given, event) for given, event in pairs], axis=1)
    return _apart(given), _apart(seen)


def _apart(numbers: I64) -> I64:
    """Numbers of each column moved beyond those of the columns before."""
    size = numbers.max(axis=0, initial=-1) + 1
    moved: I64 = numbers + np.cumsum(size) - size
    return moved


def _calibrated(evidence: F64, did: F64) -> tuple[float, float]:
    """Base and temper of P = 1 / (1 + exp(-(base + temper x evidence))): the posterior mode, temper held to [0, 1]."""
    design = np.stack([np.ones_like(evidence), evidence], axis=1)
    found = np.zeros(2)
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (did - chance) - CAREFUL * found
        bend = (design * (chance * (1 - chance))[:, None]).T @ design + CAREFUL * np.eye(2)
        step = np.linalg.solve(bend, slope)
        found = found + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    temper = min(max(float(found[1]), 0.0), 1.0)
    if temper == found[1]:
        return float(found[0]), temper
    rate = (float(did.sum()) + 0.5) / (len(did) + 1)  # held: the base alone
    return (log(rate / (1 - rate)) if temper == 0.0 else float(found[0])), temper


def _updated(batch: Batch, events: Events, nats: F64, start: F64, scale: str) -> tuple[F64, F64]:
    """What one nat of each decision is worth f64[D], and its change f64[D]: of P over its turn, or in nats."""
    own = nats.sum(axis=1)
    if scale == "log_odds" or not len(own):
        return np.ones(len(own)), own
    turn = np.cumsum(np.append(True, events.turn[1:] != events.turn[:-1])[: len(own)]) - 1
    first = np.unique(turn, return_index=True)[1]
    owner = events.owner[first]
    moved = np.bincount(turn, own)
    before = np.zeros(len(moved))
    for begin, end in _runs(owner):
        before[begin:end] = start[owner[begin]] + np.concatenate(([0.0], np.cumsum(moved[begin : end - 1])))
    chance, after = _chance(before), _chance(before + moved)
    flat = np.abs(moved) < 1e-9
    slope = np.where(flat, chance * (1 - chance), (after - chance) / np.where(flat, 1.0, moved))
    return slope[turn], own * slope[turn]


def _runs(owner: I64) -> Sequence[tuple[int, int]]:
    edges = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])).tolist()
    return list(zip(edges, [*edges[1:], len(owner)], strict=True))


def _chance(odds: F64) -> F64:
    chance: F64 = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
    return chance


def _folds(names: Sequence[str]) -> I64:
    """Fold i64[G] of each group: it follows from the names, not from their order."""
    marks = [(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest(), name) for name in names]
    fold = np.empty(len(names), dtype=np.int64)
    fold[sorted(range(len(names)), key=marks.__getitem__)] = np.arange(len(names)) % max(1, min(FOLDS, len(names)))
    return fold


def _notes(found: _Found) -> tuple[Note, ...]:
    """How far the evidence is believed, by pool."""
    told = [f"pool {pool}: temper {np.mean(some):.2f}" for pool, some in list(found.tempers.items())[:SHOWN]]
    if not any(temper for some in found.tempers.values() for temper in some):
        return (Note("belief-untaught", "no other task tells doing well from doing badly: the belief does not move"),)
    more = f"; and {len(found.tempers) - SHOWN} more pools" if len(found.tempers) > SHOWN else ""
    return (
        Note("belief-temper", "; ".join(told) + more + " (1: events as good as independent, 0: they tell nothing)"),
    )
