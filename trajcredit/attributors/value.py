"""Jumps of a critic's values: what a turn and its results changed of what is to be expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.steps import Steps, steps_of
from trajcredit.attributors.terms import has_credit
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Value"]


@attributors.register("value")
@dataclass(frozen=True, slots=True)
class Value:
    """How much the forecast jumps over a turn: what was chosen and what came of it.

    J_m = r_m + V_{m+1} - V_m over turns (policy invocations), r_m the rewards of the turn's actions, V_m the value at
    its first action, V after the end 0 where the episode ended by itself, the logged bootstrap where it was cut off.
    The jumps of a rollout add up to R - V_1, plus the bootstrap of one that was cut off, exactly. That is the temporal
    difference of a critic (Sutton 1988), GAE with lambda 0 by turns (Schulman et al. 2016, arXiv 1506.02438).

    A turn of one choice (a call, or a message without calls) has its jump. Calls of one message do not see each other's
    results: each has the effect of its own choice, Q - V, where the critic has a Q for all of them, and an even share
    of the rest of the jump. Words beside calls carry the sum of their turn, since they led to all of it (`words=turn`;
    in sums over a rollout each choice counts once), or nothing (`words=zero`: all actions add up).

    It assumes a critic that is right to well within what a choice changes. It misleads where it is not: its errors
    become credit, of opposite signs on neighbours. And it praises luck: a result that nobody could foresee is in the
    jump of the call that brought it. `doubly_robust` leaves luck out of what a choice is told, `gae` averages it.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): correlation with the true advantage 0.472 (0.207), the culprit blamed first
    0.398 of the time (0.110), efficiency 8.8 at 64 trajectories, 4.4 at 256 and 1.3 at 1024 (1). With
    `critic=sequence` it reads a little better (0.491 and 0.435) and learns worse (8.0, 2.3 and 0.6).
    """

    words: Literal["turn", "zero"] = "turn"
    """Reasoning and text beside calls: the sum of their turn, or 0."""

    needs: ClassVar[tuple[str, ...]] = ("values",)
    scope: ClassVar[Scope] = "group"
    default_critic: ClassVar[str] = "compatible"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("value", "words", self.words, ("turn", "zero"))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = the jump, or a choice's part of it. InputError where no action has a value."""
        found = _jumps(batch)
        credit = found.steps.spread_out(found.jump)
        if self.words == "zero":
            credit = np.where(found.chosen | np.isnan(credit), credit, 0.0)
        shared = np.append(found.shared, False)[found.steps.of_span] & found.chosen
        credit[shared] = found.part[shared]
        return Attribution(credit, credit, _notes(batch, found))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The rewards of the turn, the value after it and before it; of one of several calls its own effect too."""
        found = _jumps(batch)
        m = int(found.steps.of_span[span])
        if not has_credit(batch, span) or np.isnan(found.jump[m]):
            return ()
        if not found.chosen[span] and self.words == "zero":
            return (Term("words beside the calls of their turn: those carry the jump", 0.0),)
        steps, n = found.steps, int(found.n[m]) if found.chosen[span] else 1
        each = f", 1 / {n} of it" if n > 1 else ""
        later = () if steps.last[m] else (int(steps.start[m + 1]),)
        what = "V after the end" if steps.last[m] else "V before the next turn"
        terms = (
            Term(f"rewards of this turn{each}", float(steps.rewards[m]) / n, steps.actions(batch, m)),
            Term(f"{what}{each}", float(found.after[m]) / n, later),
            Term(f"V before this turn{each}", -float(found.before[m]) / n, (int(steps.start[m]),)),
        )
        if n == 1:
            return terms
        own, every = float(found.own[span]), float(found.total[m])
        return (
            Term("effect of this choice, Q - V", own, (span,)),
            *terms,
            Term(f"effects of the choices of this turn{each}", -every / n, steps.actions(batch, m)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Jumps:
    """S turns: V before and after f64[S], jumps f64[S] (NaN: not scored), decisions n i64[S], whether there are several
    bool[S], their effects added f64[S]; by span: decisions bool[N], own effect f64[N], part of the jump f64[N]; by
    trajectory: steps without a value i64[T], cut off without a bootstrap bool[T]."""

    steps: Steps
    before: F64
    after: F64
    jump: F64
    n: I64
    shared: BOOL
    total: F64
    chosen: BOOL
    own: F64
    part: F64
    missing: I64
    cut: BOOL


def _jumps(batch: Batch) -> _Jumps:
    if batch.action_mask.any() and not np.isfinite(batch.values[batch.action_mask]).any():
        raise InputError(
            "value needs a critic's values and no action span has one: log `value` on the spans, or name a critic "
            "(`critic=`)"
        )
    steps = steps_of(batch, 1.0)
    before = batch.values[steps.start]
    missing = np.bincount(steps.trajectory[~np.isfinite(before)], minlength=batch.n_trajectories)
    cut = ~np.isfinite(batch.bootstrap)
    end = np.where(cut, 0.0, batch.bootstrap)[steps.trajectory]
    after = np.where(steps.last, end, np.append(before[1:], np.nan)[: len(before)])
    jump = np.where(missing[steps.trajectory] > 0, np.nan, steps.rewards + after - before)
    chosen = decisions(batch)
    spans = np.flatnonzero(chosen)
    m = steps.of_span[spans]
    n = np.bincount(m, minlength=len(before))
    effect = (batch.q_values - batch.values)[spans]
    unknown = np.bincount(m[~np.isfinite(effect)], minlength=len(before)) > 0
    effect = np.where(unknown[m], 0.0, effect)
    total = np.bincount(m, effect, len(before)).astype(np.float64)
    own, part = np.zeros(batch.n_spans), np.full(batch.n_spans, np.nan)
    own[spans] = effect
    part[spans] = effect + (jump - total)[m] / n[m]
    return _Jumps(steps, before, after, jump, n, n > 1, total, chosen, own, part, missing, cut)


def _notes(batch: Batch, found: _Jumps) -> tuple[Note, ...]:
    """One note a scored trajectory that lacks values, or what would have followed its end."""
    notes = []
    for t in np.flatnonzero(~np.isnan(batch.outcome) & ((found.missing > 0) | found.cut)).tolist():
        n = int(found.missing[t])
        if n:
            have = "has" if n == 1 else "have"
            code, said = "missing-values", f"{n} of its turns {have} no value: not scored"
        else:
            code, said = "no-bootstrap", "cut off, and no value logged for what would have followed: taken as 0"
        notes.append(Note(code=code, message=said, trajectory=batch.trajectory_ids[t]))
    return tuple(notes)
