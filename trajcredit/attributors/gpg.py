"""Outcome against the group's mean, scaled by how many rewards of the batch are not 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import Singleton
from trajcredit.attributors.grpo import Grpo
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Gpg"]


@attributors.register("gpg")
@dataclass(frozen=True, slots=True)
class Gpg:
    """Group policy gradient (Chu et al. 2025, arXiv 2504.02546), as computed by verl (core_algos.py:771).

    credit = R - mean of the group, advantage = alpha credit, alpha = B / (rewards of the batch that are not 0), B its
    scored rollouts: the rarer a reward, the larger the step. The same on every action.
    """

    singleton: Singleton = "zero"
    """A group of one gets 0, or what verl gives it (the raw outcome, scaled too)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "batch"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("gpg", "singleton", self.singleton, get_args(Singleton))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = R - mean; advantage = credit x B / (rewards that are not 0)."""
        found = self._unscaled()(batch)
        scored = batch.outcome[~np.isnan(batch.outcome)]
        alpha = len(scored) / max(int(np.count_nonzero(scored)), 1)
        return Attribution(found.credit, alpha * found.credit, found.notes)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the mean it is held against."""
        return self._unscaled().explain(batch, span)

    def _unscaled(self) -> Grpo:
        return Grpo(scale="none", singleton=self.singleton)
