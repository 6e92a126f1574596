"""Outcome against the mean of the other rollouts of the task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import FLAVOURS, Lone, Singleton, group_notes, group_relative, lone_rule
from trajcredit.attributors.terms import against_group, has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.registry import attributors

__all__ = ["Rloo"]

RlooFlavour: TypeAlias = Literal["verl", "trl", "openrlhf", "skyrl", "rllm", "areal", "nemo"]
"""The trainers that have RLOO."""
# of TRL's normalize_advantages: rloo_trainer.py:1680-1699
DDOF = 1
EPS = 1e-4


@attributors.register("rloo")
@dataclass(frozen=True, slots=True)
class Rloo:
    """Outcome minus the mean of its siblings' outcomes, unscaled (Kool et al. 2019; Ahmadian et al. 2024, RLOO).

    credit = advantage = R_i - mean_{j != i} R_j, the same on every action. A rollout never enters its own baseline, so
    the gradient stays unbiased. Unscored rollouts stay out.
    """

    flavour: RlooFlavour = "verl"
    """Whose rule for a group of one: verl, rllm and areal keep the raw outcome, the others give 0."""
    singleton: Singleton = "zero"
    """A group of one gets 0 (verl's rloo_vectorized too), or what the trainer gives it."""
    whiten: bool = False
    """Whiten the advantage over the rollouts of the batch: TRL's normalize_advantages, with flavour=trl only."""

    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def scope(self) -> Scope:
        """`batch` where advantages are whitened."""
        return "batch" if self.whiten else "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("rloo", "flavour", self.flavour, get_args(RlooFlavour))
        choice("rloo", "singleton", self.singleton, get_args(Singleton))
        choice("rloo", "whiten", self.whiten, (False, True))
        if self.whiten and self.flavour != "trl":
            raise InputError(f"rloo: whiten=true is TRL's, and flavour={self.flavour} has no such form: flavour=trl")

    def __call__(self, batch: Batch) -> Attribution:
        """credit = R minus the mean of the siblings; advantage the same, or whitened."""
        scalar = self._scalar(batch)
        credit = kernels.broadcast(scalar, batch.action_mask, batch.span_offsets)
        notes = group_notes(batch)
        if not self.whiten:
            return Attribution(credit=credit, advantage=credit, notes=notes)
        everyone = np.zeros_like(batch.group)
        centred = kernels.centre(scalar, everyone)
        white = kernels.scaled(centred, kernels.spread(centred, everyone, DDOF), EPS)
        return Attribution(credit, kernels.broadcast(white, batch.action_mask, batch.span_offsets), notes)

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

    def _lone(self) -> Lone:
        return lone_rule(replace(FLAVOURS[self.flavour], baseline="siblings"), self.singleton)
