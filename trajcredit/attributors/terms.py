"""What explanations share: where a reward sits, and an outcome against its baseline."""

from __future__ import annotations

from typing import Literal

import numpy as np

from trajcredit import kernels
from trajcredit.attributors.base import Term
from trajcredit.batching import Batch

__all__ = ["against_group", "has_credit", "outcome_term", "reward_spans"]


def has_credit(batch: Batch, span: int) -> bool:
    """Whether a span can have credit: an action of a scored trajectory."""
    return bool(batch.action_mask[span]) and not np.isnan(batch.outcome[batch.trajectory_of(span)])


def reward_spans(batch: Batch, trajectory: int) -> tuple[int, ...]:
    """Where the outcome of a trajectory sits: its rewarded actions, the last one where all rewards are 0."""
    start, end = batch.span_offsets[trajectory : trajectory + 2]
    whole = np.array([0, end - start], dtype=np.int64)
    carries = kernels.rewarded(batch.rewards[start:end], batch.action_mask[start:end], whole)
    return tuple((carries.nonzero()[0] + start).tolist())


def outcome_term(batch: Batch, trajectory: int) -> Term:
    """The outcome of one trajectory, and the spans it sits on."""
    return Term("outcome", float(batch.outcome[trajectory]), reward_spans(batch, trajectory))


def against_group(
    batch: Batch, trajectory: int, credit: float, baseline: Literal["group", "siblings"]
) -> tuple[Term, Term]:
    """Outcome, then the mean that was subtracted from it to make `credit`, with the spans that mean rests on."""
    t = trajectory
    scored = (batch.group == batch.group[t]) & ~np.isnan(batch.outcome)
    others = [int(m) for m in np.flatnonzero(scored) if baseline == "group" or m != t]
    name = {"group": "group mean", "siblings": "mean of siblings" if others else "no sibling to hold it against"}
    outcome = outcome_term(batch, t)
    spans = tuple(span for other in others for span in reward_spans(batch, other))
    return outcome, Term(name[baseline], credit - outcome.value, spans)
