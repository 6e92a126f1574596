"""The whole outcome on every action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trajcredit import kernels
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.terms import has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Broadcast"]


@attributors.register("broadcast")
@dataclass(frozen=True, slots=True)
class Broadcast:
    """The outcome of the trajectory on each of its actions, no baseline (REINFORCE; Williams 1992)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = R."""
        credit = kernels.broadcast(batch.outcome, batch.action_mask, batch.span_offsets)
        return Attribution(credit=credit, advantage=credit)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome."""
        return (outcome_term(batch, batch.trajectory_of(span)),) if has_credit(batch, span) else ()
