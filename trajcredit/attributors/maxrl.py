"""Outcome against the group's mean, divided by that mean: rare successes count most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import Lone, Singleton, group_notes
from trajcredit.attributors.terms import against_group, has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Maxrl"]

EPS = 1e-6
"""Added to the mean by SkyRL."""
ROUNDING = 1e-12
"""A mean this far below the largest reward of its group is what rounding left of 0."""


@attributors.register("maxrl")
@dataclass(frozen=True, slots=True)
class Maxrl:
    """Maximum-likelihood RL: outcome minus the group's mean, divided by the mean (SkyRL 0.3.0, ppo_utils.py:1340).

    credit = R - mean, advantage = credit / (mean + 1e-6) (skyrl) or credit / mean, 0 where the mean is not above 0
    (prime-rl 559b44772, max_rl), the same on every action. With outcomes 0 and 1 a success of a group that rarely
    succeeds weighs one over its rate. It is meant for rewards of 0 and above: a constant added to them changes
    advantages, and below a mean of 0 skyrl's turn their sign, which a note says.
    """

    flavour: Literal["skyrl", "prime"] = "skyrl"
    """Whose rule for means near 0 and below, and for a group of one."""
    singleton: Singleton = "zero"
    """A group of one gets 0, or what the trainer gives it (skyrl: the raw outcome)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("maxrl", "flavour", self.flavour, ("skyrl", "prime"))
        choice("maxrl", "singleton", self.singleton, get_args(Singleton))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = R - mean; advantage = credit over the mean."""
        centred, mean = kernels.centre(batch.outcome, batch.group), _means(batch)
        divisor = mean + EPS if self.flavour == "skyrl" else np.maximum(mean, 0.0)
        over = np.divide(centred, divisor, out=np.where(np.isnan(centred), np.nan, 0.0), where=divisor != 0)
        credit, advantage = (
            kernels.broadcast(scalar, batch.action_mask, batch.span_offsets)
            for scalar in (self._lone_raw(batch, centred), self._lone_raw(batch, over))
        )
        return Attribution(credit, advantage, (*group_notes(batch), *self._notes(batch, centred, mean)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the mean it is held against."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        if self._lone() == "raw" and kernels.members(batch.outcome, batch.group)[t] == 1:
            return (outcome_term(batch, t),)
        return against_group(batch, t, float(kernels.centre(batch.outcome, batch.group)[t]), "group")

    def _lone_raw(self, batch: Batch, scalar: F64) -> F64:
        """The outcome itself in groups of one, where the trainer has it so."""
        if self._lone() == "zero":
            return scalar
        return np.where(kernels.members(batch.outcome, batch.group) == 1, batch.outcome, scalar)

    def _lone(self) -> Lone:
        return "raw" if self.singleton == "as_trainer" and self.flavour == "skyrl" else "zero"

    def _notes(self, batch: Batch, centred: F64, mean: F64) -> tuple[Note, ...]:
        """One note a group of unequal rewards whose mean is not above 0."""
        does = "every advantage is 0" if self.flavour == "prime" else "divided by it, advantages turn round or blow up"
        below = np.unique(batch.group[(mean <= 0) & (centred != 0)])
        return tuple(
            Note("mean-not-positive", f"its mean reward is not above 0: {does}", group=batch.group_ids[g])
            for g in below
        )


def _means(batch: Batch) -> F64:
    """Mean of each trajectory's group f64[T], exactly 0 where rewards cancel but for rounding; 0 where none scored."""
    scored = ~np.isnan(batch.outcome)
    group, n_groups = batch.group[scored], len(batch.group_ids)
    outcome = batch.outcome[scored]
    count = np.maximum(np.bincount(group, minlength=n_groups), 1)
    mean = np.bincount(group, outcome, n_groups) / count
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, np.abs(outcome))
    means: F64 = np.where(np.abs(mean) <= ROUNDING * largest, 0.0, mean)[batch.group]
    return means
