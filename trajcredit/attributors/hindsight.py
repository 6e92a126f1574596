"""How much likelier a choice is, seen from the outcome, than it was: credit in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import within
from trajcredit.attributors.events import Events, better, events_of, numbered
from trajcredit.attributors.terms import against_group, has_credit
from trajcredit.batching import Batch, spread, turns_of
from trajcredit.kernels import centre, leave_one_out, members
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Hindsight"]


@attributors.register("hindsight")
@dataclass(frozen=True, slots=True)
class Hindsight:
    """Hindsight credit assignment, conditional on the return (Harutyunyan et al. 2019, arXiv 1912.02503, theorem 2).

    credit_k = advantage_k = (1 - pi / h) (R - b), pi the probability of choice k where it was made, h the same among
    rollouts that did as well as this one, b the mean outcome of the siblings. The theorem has the return Z for R - b;
    1 - pi / h is zero on average over what follows a choice, so b costs no bias and takes off the noise of a task that
    is easy or hard (as a baseline does; where h has support). "As well" is above or below the mean of the group: with
    outcomes 0 and 1 that is the outcome itself; at the mean there is nothing to credit.

    Both are counted. Of n others at the same point n_a chose alike; of n_z of them that did as well, n_az:
    pi / h = (n_a + c) / (n_az n / n_z + c), c = `pseudo`, so what nobody else chose has ratio 1 and no credit. The
    others are siblings in the same state (`state_key`) making the same call, this rollout left out; where fewer than
    `least` of them came there, rollouts of other tasks that share tools, after the same last call, making a call of
    that tool with values from the same sources (own task left out). 1 - pi / h is held to -`limit`..1: it has no lower
    bound, and one rare choice would outweigh all others. Where there is nothing to compare, credit is 0, and counted
    in a note. Words beside calls carry the sum of their turn.

    It assumes that equal state keys, or equal last calls, are equal situations. It misleads where they are not, in
    small groups (counts of one or two), and where a choice tells of a good rollout without causing it: h follows
    correlation.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): correlation with the true advantage 0.273 (0.207), the culprit blamed first
    0.384 of the time (0.110). As a gradient it is biased: efficiency 0.46 at 64 trajectories, 0.09 at 256 (1).
    """

    pseudo: float = 1.0
    """c: choices alike that are added to what was counted, in 0.01..1000; more is more careful."""
    least: int = 2
    """Others that must have come to the state; with fewer, other tasks are asked."""
    limit: float = 1.0
    """1 - pi / h is cut off below at minus this, 0..1000."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "batch"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("hindsight", "pseudo", self.pseudo, 0.01, 1000)
        within("hindsight", "least", self.least, 1, 2**31)
        within("hindsight", "limit", self.limit, 0, 1000)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = (1 - pi / h) (R - b)."""
        found = self._found(batch)
        numbers, chosen = np.zeros(batch.n_spans), np.zeros(batch.n_spans, dtype=bool)
        events = found.events
        chosen[events.span] = True
        numbers[events.span] = found.factor * found.against[events.owner]
        credit = spread(batch, numbers, chosen)
        return Attribution(credit, credit, self._notes(batch, found))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome and the mean of the siblings, each times 1 - pi / h; with what was counted."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        found = self._found(batch)
        itself = np.flatnonzero(found.events.span == span)
        mine = itself if len(itself) else np.flatnonzero(found.events.turn == turns_of(batch)[span])
        factor = float(found.factor[mine].sum())
        k = int(mine[0])
        said = f"1 - pi / h = {factor:.3g}"
        if len(mine) == 1 and found.n[k]:
            n_a, n, n_az, n_z = (int(one[k]) for one in (found.alike, found.n, found.alike_well, found.well))
            where = "siblings in this state" if found.near[k] else "rollouts of other tasks at such a point"
            said = f"1 - pi / h = {factor:.3g} ({n_a} of {n} {where} chose alike, {n_az} of the {n_z} that did as well)"
        elif len(mine) == 1:
            said = "1 - pi / h = 0: nothing to compare"
        if found.alone[t]:
            return (Term("one scored rollout: no sibling to hold it against", 0.0),)
        outcome, siblings = against_group(batch, t, float(found.against[t]), "siblings")
        return (
            Term(f"outcome, x {said}", factor * outcome.value, outcome.spans),
            Term(f"{siblings.name}, x {factor:.3g}", factor * siblings.value, siblings.spans),
        )

    def _found(self, batch: Batch) -> _Found:
        events = events_of(batch)
        owner = events.owner
        against = leave_one_out(centre(batch.outcome, batch.group), batch.group)
        alone = members(batch.outcome, batch.group) == 1
        against = np.where(alone & ~np.isnan(batch.outcome), 0.0, against)
        did = better(batch)[owner]
        group, pool = batch.group[owner], batch.pool[owner]
        state = numbered(group, _codes(batch.state_key[events.span]))
        call = numbered(events.act, _codes(batch.call_key[events.span]))
        near = _others(state, call, did, owner)
        far = _others(numbered(pool, events.last), numbered(events.act, events.origin, events.repeat), did, group)
        close = near[1] >= self.least
        alike, n, alike_well, well = (np.where(close, a, b) for a, b in zip(near, far, strict=True))
        likely = np.where(well > 0, alike_well * n / np.maximum(well, 1), 0.0) + self.pseudo
        factor = np.where(well > 0, 1 - (alike + self.pseudo) / likely, 0.0)
        factor = np.clip(np.where(np.isnan(did), 0.0, factor), -self.limit, 1.0)
        return _Found(events, against, alone, factor, close, alike, np.where(well > 0, n, 0), alike_well, well)

    def _notes(self, batch: Batch, found: _Found) -> tuple[Note, ...]:
        scored = ~np.isnan(batch.outcome[found.events.owner])
        nothing = scored & (found.n == 0)
        if not nothing.any():
            return ()
        said = f"{int(nothing.sum())} of {int(scored.sum())} choices have nothing to compare them with: credit 0 there"
        return (Note("hindsight-alone", f"{said} (no other rollout that did as well came to such a point)"),)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """R - b f64[T], groups of one bool[T]; by decision 1 - pi / h f64[D], whether siblings tell it bool[D], and counts
    i64[D]: others that chose alike, others (0: none to compare), the same of those that did as well."""

    events: Events
    against: F64
    alone: BOOL
    factor: F64
    near: BOOL
    alike: I64
    n: I64
    alike_well: I64
    well: I64


def _codes(keys: U64) -> I64:
    found: I64 = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return found


def _others(point: I64, act: I64, did: F64, own: I64) -> tuple[I64, I64, I64, I64]:
    """Of every decision i64[D]: how many others at its point chose alike, how many there are, and the same of those
    that did as well; `own` marks what is left out with it. Decisions whose `did` is NaN are not counted."""
    known = ~np.isnan(did)
    well = np.where(known, did * 2, -1).astype(np.int64)
    return (
        _less_own(numbered(point, act), own, known),
        _less_own(point, own, known),
        _less_own(numbered(point, act, well), own, known),
        _less_own(numbered(point, well), own, known),
    )


def _less_own(cell: I64, own: I64, known: BOOL) -> I64:
    mine = numbered(cell, own)
    found: I64 = np.bincount(cell, known)[cell].astype(np.int64) - np.bincount(mine, known)[mine].astype(np.int64)
    return found
