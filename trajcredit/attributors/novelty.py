"""A bonus for changes that few rollouts made: something to learn from where nothing succeeds yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import BOOL, I64
from trajcredit.attributors.base import Attribution, Attributor, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.steps import Steps, states_of, steps_of
from trajcredit.attributors.terms import MOST, has_credit
from trajcredit.batching import Batch
from trajcredit.kernels.visits import first_visits, visitors
from trajcredit.model import KIND_CODES, Note
from trajcredit.registry import attributors

__all__ = ["Novelty"]

Base: TypeAlias = Literal[
    "broadcast", "rtg", "moving_average", "grpo", "rloo", "gae", "dag", "tree", "gigpo", "shapley"
]


@attributors.register("novelty")
@dataclass(frozen=True, slots=True)
class Novelty:
    """Another attributor's credit, plus a bonus for calls that led to a state which few rollouts came to.

    credit_i = base credit_i + bonus / sqrt(n(s')), advantage_i the same on the base's advantage, for calls whose turn
    changed the state: s' is the state the next turn was taken in (`state_key`), n the rollouts that were ever in it,
    scored or not, this one among them. The bonus is never part of a reward: outcomes, baselines and spreads are the
    base's. With `bonus` 0, the default, it is the base and nothing else.

    Count-based exploration: Strehl and Littman 2008 (MBIE-EB), Bellemare et al. 2016 (arXiv 1606.01868), on changes
    of the state instead of turns or words.

    It assumes that what is rare is worth another try. It misleads once something succeeds (turn it off: it pays for
    difference, not for success), where replies hold numbers drawn anew each time (every change is then the first of
    its kind), and an agent that repeats a change for the sake of it is paid each time. A change that ended its rollout
    led to no further turn: it gets no bonus, and a note says how many there are.

    Measured on simulated agents that do succeed (oracle benchmark, flat `grpo` in brackets), `bonus` 0.1 costs what
    it should be expected to: efficiency 0.67 at 64 trajectories (1), the culprit blamed first 0.084 (0.110).
    """

    bonus: float = 0.0
    """What a change that nobody else made adds, in units of reward, 0..1000; 0 adds nothing."""
    base: Base = "grpo"
    """Whose credit the bonus is added to, at that attributor's defaults."""
    changes: Literal["effects", "facts"] = "effects"
    """Calls that get it: those that changed state and succeeded, or all whose turn told the agent something new."""
    count: Literal["group", "batch"] = "group"
    """Whose visits are counted: rollouts of the same task, or all there are."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What the base needs."""
        return self._base().needs

    @property
    def scope(self) -> Scope:
        """The base's, or the batch where all rollouts are counted."""
        return "batch" if self.count == "batch" else self._base().scope

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("novelty", "bonus", self.bonus, 0, 1000)
        choice("novelty", "base", self.base, get_args(Base))
        choice("novelty", "changes", self.changes, ("effects", "facts"))
        choice("novelty", "count", self.count, ("group", "batch"))

    def __call__(self, batch: Batch) -> Attribution:
        """The base's credit and advantage, each plus bonus / sqrt(n) on calls that changed the state."""
        base = self._base()(batch)
        if self.bonus == 0:
            return base
        found = self._changes(batch)
        bonus = np.where(found.gains, self.bonus / np.sqrt(np.append(found.visitors, 1)[found.steps.of_span]), 0.0)
        ended = np.count_nonzero(found.ended & ~np.isnan(base.credit))
        said = f"changes in the last turn of a rollout, which led to no other: {ended} calls without a bonus"
        notes = (Note("last-change", said),) if ended else ()
        return Attribution(base.credit + bonus, base.advantage + bonus, (*base.notes, *notes))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The base's terms; then the bonus, with how many rollouts came to the state and where."""
        terms = self._base().explain(batch, span)
        if self.bonus == 0 or not (has_credit(batch, span) and terms):
            return terms
        found = self._changes(batch)
        if not found.gains[span]:
            why = "the rollout ended with this change" if found.ended[span] else "no change of state"
            return (*terms, Term(f"no bonus: {why}", 0.0))
        k = int(found.steps.of_span[span])
        n = int(found.visitors[k])
        met = np.flatnonzero(found.first & (found.nodes == found.nodes[k + 1]))
        name = f"bonus {self.bonus:g} / sqrt({n}): rollouts that came to the state it led to"
        value = self.bonus / float(np.sqrt(n))
        return (*terms, Term(name, value, tuple(found.steps.start[met[:MOST]].tolist())))

    def _base(self) -> Attributor:
        base: Attributor = attributors.get(self.base)()
        return base

    def _changes(self, batch: Batch) -> _Changes:
        steps = steps_of(batch, 1.0)
        nodes = states_of(batch, steps.start, steps.trajectory, self.count)
        first = first_visits(nodes, steps.trajectory)
        after = np.append(nodes[1:], -1)[: len(nodes)]
        came = np.append(visitors(nodes, first)[1:], 1)[: len(nodes)]
        calls = batch.kind == KIND_CODES["tool_call"]
        if self.changes == "effects":
            calls &= batch.is_write & ~batch.is_error
        # of_span is -1 on observations, which are no calls: whatever is read there is not used
        moved, last = (np.append(flags, False)[steps.of_span] for flags in (~steps.last & (nodes != after), steps.last))
        return _Changes(steps, nodes, first, came, calls & moved, calls & last)


@dataclass(frozen=True, slots=True, eq=False)
class _Changes:
    """What calls changed.

    nodes     i64[S]   the state before each step
    first     bool[S]  the first visit of a rollout to it
    visitors  i64[S]   rollouts that came to the state of the step after
    gains     bool[N]  calls that get a bonus
    ended     bool[N]  calls that would get one, had any turn followed
    """

    steps: Steps
    nodes: I64
    first: BOOL
    visitors: I64
    gains: BOOL
    ended: BOOL
