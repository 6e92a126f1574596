"""Reward-to-go: an action answers for what came after it, not before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajcredit import kernels
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import within
from trajcredit.attributors.terms import has_credit, largest, rest
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Rtg"]


@attributors.register("rtg")
@dataclass(frozen=True, slots=True)
class Rtg:
    """Reward-to-go: the discounted sum of the rewards from an action on (Sutton and Barto 2018, eq. 3.9)."""

    gamma: float = 1.0
    """Discount per action, 0..1. Agents rarely discount: one episode, one verdict."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("rtg", "gamma", self.gamma, 0, 1)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = G_k = r_k + gamma G_{k+1}."""
        credit = kernels.reward_to_go(batch.rewards, batch.action_mask, batch.span_offsets, self.gamma)
        return Attribution(credit=credit, advantage=credit)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """One term a rewarded action from here on, with the discount it arrives at; of very many the largest."""
        if not has_credit(batch, span):
            return ()
        end = batch.span_offsets[batch.trajectory_of(span) + 1]
        actions = span + batch.action_mask[span:end].nonzero()[0]
        steps = np.flatnonzero(batch.rewards[actions])
        values = self.gamma**steps * batch.rewards[actions[steps]]
        shown = largest(values)
        terms = [Term(_name(int(steps[i])), float(values[i]), (int(actions[steps[i]]),)) for i in shown]
        return (*terms, *rest(values, shown, "rewards")) or (Term("no reward from here on", 0.0),)


def _name(steps: int) -> str:
    return "reward of this action" if steps == 0 else f"reward {steps} action{'s'[: steps > 1]} later"
