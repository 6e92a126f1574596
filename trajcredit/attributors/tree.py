"""Rollouts of a task as a tree: a decision against the others taken in the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.steps import Steps, singletons, state_notes, steps_of
from trajcredit.attributors.terms import MOST, has_credit, reward_spans
from trajcredit.batching import Batch
from trajcredit.kernels.visits import backed_up, state_values, visitors
from trajcredit.registry import attributors

__all__ = ["Tree"]

INHERITED = "of the last step in a shared state: "
ALONE = "no sibling came to this state: nothing to hold it against"


@attributors.register("tree")
@dataclass(frozen=True, slots=True)
class Tree:
    """A decision against what the group's rollouts made of the same state: a value of the rollout tree, no critic.

    V(s) = mean return of the group's rollouts that came to s, each counted once, from its first visit on. A step is a
    policy invocation, s what the agent knew before it (`state_key`: what it was told, facts found and effects made, in
    any order), G the discounted rewards from the step on. `kind=return`: A_k = G_k - V(s_k). `kind=jump`: A_k = r_k +
    gamma V(s_{k+1}) - V(s_k), V after the end 0; with gamma 1 the jumps of a rollout add up to R - V(s_1) exactly. All
    actions of a turn get the number of their step; credit = advantage.

    Sources: rollout-tree Monte Carlo (Wang et al. 2026, arXiv 2604.11037) and the anchor states of GiGPO (Feng et al.
    2025, arXiv 2505.10978, eq. 7) for `return`; Bellman's equation over the states that rollouts share for `jump`.

    Where no sibling came to a state there is nothing to compare: `alone` says what such steps get, and a note how many
    they are. In `jump` such a state is worth what its one rollout reached from it, so that its own jump is 0.

    It assumes that equal knowledge means equal prospects. It misleads where results never repeat (a number drawn anew
    in every reply makes every later state unique, and so does a user who words things anew), where a hidden state
    matters, and in small groups: V of two visits is half the rollout's own luck, unless `leave_one_out`.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): the culprit is blamed first 0.315 of the time (0.110), correlation with the
    true advantage 0.208 (0.207). As a gradient the zeros are biased: efficiency 0.29 at 64 trajectories, 0.05 at 256
    (1). `alone=inherit` is the other way round: efficiency 1.08 at 64, 1.12 at 256, 1.25 at 1024, blamed first 0.151.
    On real dialogues with a user (airline bookings) states hardly meet and there is nothing to compare.
    """

    kind: Literal["return", "jump"] = "return"
    """What is held against V: the return from the step on, or the reward and V of the state it led to."""
    gamma: float = 1.0
    """Discount per step, 0..1. Agents rarely discount: one episode, one verdict."""
    leave_one_out: bool = False
    """Keep a rollout's own visits out of the V it is held against; V then differs from rollout to rollout."""
    alone: Literal["zero", "inherit"] = "zero"
    """A step in a state that no sibling came to: 0, or the number of the last step before it in a shared state; where
    there is none, of the start, which all rollouts of a task share: where states never meet, that is flat credit."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("tree", "kind", self.kind, ("return", "jump"))
        within("tree", "gamma", self.gamma, 0, 1)
        choice("tree", "leave_one_out", self.leave_one_out, (True, False))
        choice("tree", "alone", self.alone, ("zero", "inherit"))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = A of the turn's step."""
        found = self._judge(batch)
        gets = "0" if self.alone == "zero" else "the number of the last step before in a shared state, or of the start"
        said = f"states that no sibling came to: they get {gets}"
        notes = (*singletons(batch), *state_notes(batch, found.steps, found.shared, said))
        credit = found.steps.spread_out(found.advantage)
        return Attribution(credit=credit, advantage=credit, notes=notes)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """What came of the step, and V of the state it was taken in, with the visits that V rests on."""
        if not has_credit(batch, span):
            return ()
        found = self._judge(batch)
        step = int(found.steps.of_span[span])
        source = int(found.source[step])
        if source < 0:
            return (Term(ALONE, 0.0),) if self.alone == "zero" else self._from_start(batch, found, step)
        terms = self._terms(batch, found, source)
        return terms if source == step else tuple(Term(INHERITED + t.name, t.value, t.spans) for t in terms)

    def state_values(self, batch: Batch) -> F64:
        """V of the state before each action f64[N]; NaN on observations and where no scored rollout is left."""
        found = self._judge(batch)
        return found.steps.spread_out(found.here)

    def _judge(self, batch: Batch) -> _Judged:
        steps = steps_of(batch, self.gamma)
        n = visitors(steps.node, steps.counted) - ~np.isnan(steps.returns)
        shared = n > 0
        own = 0.0 if self.leave_one_out else 1.0
        here = state_values(steps.returns, steps.node, steps.trajectory, steps.counted, own)
        after = np.zeros(len(here))
        advantage = steps.returns - here
        if self.kind == "jump":
            here, after = backed_up(here, steps.rewards, steps.trajectory, shared, self.gamma)
            advantage = steps.rewards + self.gamma * after - here
        source, start = _last_shared(shared, steps.trajectory), np.zeros(batch.n_trajectories)
        if self.alone == "zero":
            source = np.where(shared, source, -1)
        else:
            start = _from_start(batch, steps, own)
        numbers = np.where(source < 0, start[steps.trajectory], np.append(advantage, 0.0)[source])
        numbers = np.where(np.isnan(steps.returns), np.nan, numbers)
        return _Judged(steps, shared, n, here, after, source, start, numbers)

    def _from_start(self, batch: Batch, found: _Judged, step: int) -> tuple[Term, ...]:
        steps, t = found.steps, int(found.steps.trajectory[step])
        ahead = float(steps.returns[np.searchsorted(steps.trajectory, t)])
        siblings = (batch.group == batch.group[t]) & ~np.isnan(batch.outcome)
        siblings[t] &= not self.leave_one_out
        first = np.searchsorted(steps.trajectory, np.flatnonzero(siblings)[:MOST])
        return (
            Term("no shared state so far: return from the start on", ahead, reward_spans(batch, t)),
            Term(
                "mean return of the rollouts of the task",
                float(found.start[t]) - ahead,
                tuple(steps.start[first].tolist()),
            ),
        )

    def _terms(self, batch: Batch, found: _Judged, step: int) -> tuple[Term, ...]:
        steps = found.steps
        who = "other rollouts" if self.leave_one_out else "rollouts"
        n = int(found.others[step]) + (not self.leave_one_out)
        name = f"mean return of the {n} {who} that came to this state"
        value = Term(name, -float(found.here[step]), steps.visits(step))
        if self.kind == "return":
            later = tuple(s for s in reward_spans(batch, int(steps.trajectory[step])) if s >= steps.start[step])
            return Term("return from this step on", float(steps.returns[step]), later), value
        reward = Term("reward of this turn", float(steps.rewards[step]), steps.actions(batch, step))
        if steps.last[step]:
            return reward, Term("value after the end", 0.0), value
        after = f"value of the state it led to{f', x {self.gamma:g}' if self.gamma != 1 else ''}"
        return reward, Term(after, self.gamma * float(found.after[step]), steps.visits(step + 1)), value


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What is known of S steps: shared bool[S], others i64[S] (siblings at the state), V here and after f64[S], the
    step i64[S] each takes its number from (-1: none), what those without one get f64[T], and the number f64[S]."""

    steps: Steps
    shared: BOOL
    others: I64
    here: F64
    after: F64
    source: I64
    start: F64
    advantage: F64


def _last_shared(shared: BOOL, trajectory: I64) -> I64:
    """The step itself where its state is shared; else the last such one before it in its trajectory, or -1."""
    last = np.maximum.accumulate(np.where(shared, np.arange(len(shared)), -1))
    same = trajectory[np.maximum(last, 0)] == trajectory
    return np.where((last >= 0) & same, last, -1)


def _from_start(batch: Batch, steps: Steps, own: float) -> F64:
    """Return of each rollout f64[T] against the mean of its task; 0 without siblings, NaN where unscored."""
    returns = np.full(batch.n_trajectories, np.nan)
    first = np.append(True, steps.last[:-1])[: len(steps.last)]
    returns[steps.trajectory[first]] = steps.returns[first]
    scored = ~np.isnan(returns)
    value = state_values(returns, batch.group, np.arange(batch.n_trajectories), scored, own)
    return np.where(scored & np.isnan(value), 0.0, returns - value)
