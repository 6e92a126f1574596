"""Outcome against the group's mean, divided by its spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.flavours import (
    FLAVOURS,
    Baseline,
    Flavour,
    FlavourName,
    Lone,
    Singleton,
    batch_notes,
    group_notes,
    group_relative,
    lone_rule,
)
from trajcredit.attributors.terms import MOST, against_group, has_credit, outcome_term, reward_spans
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.registry import attributors

__all__ = ["Grpo"]


@attributors.register("grpo")
@dataclass(frozen=True, slots=True)
class Grpo:
    """Outcome minus the group's mean, divided by the group's spread (Shao et al. 2024, arXiv 2402.03300).

    credit = R - mean, advantage = credit / (std + eps), the same on every action. Unscored rollouts stay out of mean
    and std; a group whose rewards are equal gets exactly 0. `scale=none` is Dr. GRPO (Liu et al. 2025, arXiv
    2503.20783).

    Other names of the same formula: OpenRLHF's group_norm is `flavour=openrlhf`, its dr_grpo adds `scale=none`, its
    flash_reinforce `baseline=batch` and `scale=none`. TRL's scale_rewards is `scale`. rLLM's REINFORCE++-baseline is
    `flavour=rllm` with `scale=batch`, its PRPO `baseline=batch` too. AReaL's reward_norm has its mean level and, in
    groups, its leave-one-out mean in `baseline`, its std level in `scale`. NeMo-RL leaves a member out of its own mean
    and spread: `baseline=group` is its form without, `scale=none` that without division.
    """

    flavour: FlavourName = "verl"
    """Whose numbers: the ddof, eps and baseline of that trainer."""
    ddof: int | None = None
    """0 population, 1 sample spread; none = the flavour's."""
    eps: float | None = None
    """Added to the spread, 0..1; none = the flavour's."""
    scale: Literal["group", "batch", "none"] = "group"
    """Divide by the spread of the group (prime: never), by that of the whole batch, or by nothing."""
    singleton: Singleton = "zero"
    """A group of one gets 0, or what the trainer gives it (verl: the raw outcome)."""
    baseline: Literal["flavour", "group", "siblings", "batch"] = "flavour"
    """The mean subtracted: the flavour's own, of the group, of the other members, or of the whole batch."""

    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def scope(self) -> Scope:
        """`batch` where a mean or a spread is that of the whole batch."""
        return "batch" if "batch" in (self.baseline, self.scale) else "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("grpo", "flavour", self.flavour, FLAVOURS)
        choice("grpo", "ddof", self.ddof, (None, 0, 1))
        if self.eps is not None:
            within("grpo", "eps", self.eps, 0, 1)
        choice("grpo", "scale", self.scale, ("group", "batch", "none"))
        choice("grpo", "singleton", self.singleton, get_args(Singleton))
        choice("grpo", "baseline", self.baseline, ("flavour", *get_args(Baseline)))
        if self.scale == "batch" and FLAVOURS[self.flavour].spread == "none":
            raise InputError(f"grpo: flavour={self.flavour} divides by nothing; scale=batch goes with another flavour")
        if self.baseline == "batch" and self.scale == "group" and self.flavour not in ("areal", "prime"):
            raise InputError(
                "grpo: baseline=batch goes with scale=batch or scale=none: a group whose rewards are equal has no "
                "spread to divide what is left by"
            )

    def __call__(self, batch: Batch) -> Attribution:
        """credit = R - mean; advantage = credit / (spread + eps)."""
        credit, advantage = (
            kernels.broadcast(scalar, batch.action_mask, batch.span_offsets) for scalar in self._scalars(batch)
        )
        notes = batch_notes(batch) if self.baseline == "batch" else group_notes(batch)
        return Attribution(credit=credit, advantage=advantage, notes=notes)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the mean it is held against."""
        if not has_credit(batch, span):
            return ()
        t, row = batch.trajectory_of(span), self._row()
        against = np.zeros_like(batch.group) if row.baseline == "batch" else batch.group
        if self._lone() == "raw" and kernels.members(batch.outcome, against)[t] == 1:
            return (outcome_term(batch, t),)
        credit = float(self._scalars(batch)[0][t])
        if row.baseline != "batch":
            return against_group(batch, t, credit, row.baseline)
        scored = np.flatnonzero(~np.isnan(batch.outcome))[:MOST].tolist()
        spans = tuple(span for other in scored for span in reward_spans(batch, other))[:MOST]
        return outcome_term(batch, t), Term("mean of the batch", credit - float(batch.outcome[t]), spans)

    def _scalars(self, batch: Batch) -> tuple[F64, F64]:
        return group_relative(batch.outcome, batch.group, self._row(), self._lone())

    def _row(self) -> Flavour:
        row = FLAVOURS[self.flavour]
        baseline = row.baseline if self.baseline == "flavour" else self.baseline
        spread = row.spread if self.scale == "group" else self.scale
        if spread == "siblings" and baseline != "siblings":
            spread = "group"
        return replace(
            row,
            ddof=row.ddof if self.ddof is None else self.ddof,
            eps=row.eps if self.eps is None else self.eps,
            baseline=baseline,
            spread=spread,
        )

    def _lone(self) -> Lone:
        return lone_rule(self._row(), self.singleton)
