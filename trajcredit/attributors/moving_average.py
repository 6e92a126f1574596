"""Outcome against the average of earlier ones: a baseline where nobody has siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trajcredit import kernels
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import within
from trajcredit.attributors.terms import has_credit, outcome_term
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["MovingAverage"]


@attributors.register("moving_average")
@dataclass(frozen=True, slots=True)
class MovingAverage:
    """Outcome minus the moving average of earlier outcomes, in upload order (Williams 1992, reinforcement baseline).

    b_k = sum_{j<k} beta^(k-1-j) R_j / sum_{j<k} beta^(k-1-j) over the scored trajectories before k, whatever their
    group; b_1 = 0. A trajectory never enters its own baseline, so the gradient stays unbiased.
    """

    beta: float = 0.9
    """Weight of an outcome against the next one, 0..1: 0 is the last outcome alone, 1 the mean of all earlier ones."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "batch"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("moving_average", "beta", self.beta, 0, 1)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = R_k - b_k."""
        scalar = batch.outcome - kernels.moving_average(batch.outcome, self.beta)
        credit = kernels.broadcast(scalar, batch.action_mask, batch.span_offsets)
        return Attribution(credit=credit, advantage=credit)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the average it is held against."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        baseline = kernels.moving_average(batch.outcome, self.beta)[t]
        return outcome_term(batch, t), Term("moving average of earlier outcomes", -float(baseline))
