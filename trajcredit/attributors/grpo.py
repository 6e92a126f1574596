"""Outcome against the group's mean, divided by its spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.flavours import FLAVOURS, Flavour, FlavourName, Singleton, group_notes, group_relative
from trajcredit.attributors.terms import against_group, has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Grpo"]


@attributors.register("grpo")
@dataclass(frozen=True, slots=True)
class Grpo:
    """Outcome minus the group's mean, divided by the group's spread (Shao et al. 2024, arXiv 2402.03300).

    credit = R - mean, advantage = credit / (std + eps), the same on every action. Unscored rollouts stay out of mean
    and std; a group whose rewards are equal gets exactly 0. `scale=none` is Dr. GRPO (Liu et al. 2025, arXiv
    2503.20783).
    """

    flavour: FlavourName = "verl"
    """Whose numbers: the ddof and eps of that trainer."""
    ddof: int | None = None
    """0 population, 1 sample spread; none = the flavour's."""
    eps: float | None = None
    """Added to the spread, 0..1; none = the flavour's."""
    scale: Literal["group", "none"] = "group"
    """Divide by the spread of the group, or by nothing."""
    singleton: Singleton = "zero"
    """A group of one gets 0, or what the trainer gives it (verl: the raw outcome)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("grpo", "flavour", self.flavour, FLAVOURS)
        choice("grpo", "ddof", self.ddof, (None, 0, 1))
        if self.eps is not None:
            within("grpo", "eps", self.eps, 0, 1)
        choice("grpo", "scale", self.scale, ("group", "none"))
        choice("grpo", "singleton", self.singleton, get_args(Singleton))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = R - mean; advantage = credit / (spread + eps)."""
        credit, advantage = (
            kernels.broadcast(scalar, batch.action_mask, batch.span_offsets) for scalar in self._scalars(batch)
        )
        return Attribution(credit=credit, advantage=advantage, notes=group_notes(batch))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the mean it is held against."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        if self._lone() == "raw" and kernels.members(batch.outcome, batch.group)[t] == 1:
            return (outcome_term(batch, t),)
        return against_group(batch, t, float(self._scalars(batch)[0][t]), self._row().baseline)

    def _scalars(self, batch: Batch) -> tuple[F64, F64]:
        return group_relative(batch.outcome, batch.group, self._row(), self._lone())

    def _row(self) -> Flavour:
        row = FLAVOURS[self.flavour]
        return replace(
            row,
            ddof=row.ddof if self.ddof is None else self.ddof,
            eps=row.eps if self.eps is None else self.eps,
            spread="none" if self.scale == "none" else row.spread,
        )

    def _lone(self) -> Literal["zero", "raw"]:
        return "zero" if self.singleton == "zero" else FLAVOURS[self.flavour].lone_grpo
