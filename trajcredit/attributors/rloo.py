"""Outcome against the mean of the other rollouts of the task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import FLAVOURS, FlavourName, Singleton, group_notes, group_relative
from trajcredit.attributors.terms import against_group, has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Rloo"]


@attributors.register("rloo")
@dataclass(frozen=True, slots=True)
class Rloo:
    """Outcome minus the mean of its siblings' outcomes, unscaled (Kool et al. 2019; Ahmadian et al. 2024, RLOO).

    credit = advantage = R_i - mean_{j != i} R_j, the same on every action. A rollout never enters its own baseline, so
    the gradient stays unbiased. Unscored rollouts stay out.
    """

    flavour: FlavourName = "verl"
    """Whose rule for a group of one: verl keeps the raw outcome, trl gives 0."""
    singleton: Singleton = "zero"
    """A group of one gets 0, or what the trainer gives it."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("rloo", "flavour", self.flavour, FLAVOURS)
        choice("rloo", "singleton", self.singleton, get_args(Singleton))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = R minus the mean of the siblings."""
        credit = kernels.broadcast(self._scalar(batch), batch.action_mask, batch.span_offsets)
        return Attribution(credit=credit, advantage=credit, notes=group_notes(batch))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the mean of the siblings it is held against."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        if self._lone() == "raw" and kernels.members(batch.outcome, batch.group)[t] == 1:
            return (outcome_term(batch, t),)
        return against_group(batch, t, float(self._scalar(batch)[t]), "siblings")

    def _scalar(self, batch: Batch) -> F64:
        row = replace(FLAVOURS[self.flavour], baseline="siblings", spread="none")
        return group_relative(batch.outcome, batch.group, row, self._lone())[0]

    def _lone(self) -> Literal["zero", "raw"]:
        return "zero" if self.singleton == "zero" else FLAVOURS[self.flavour].lone_rloo
