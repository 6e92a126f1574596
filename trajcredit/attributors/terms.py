"""What explanations share: where a reward sits, an outcome against its baseline, and no more of it than can be read."""

from __future__ import annotations

from itertools import chain, islice
from math import fsum
from typing import Literal

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.attributors.base import Term
from trajcredit.batching import Batch

__all__ = ["MOST", "against_group", "has_credit", "largest", "outcome_term", "rest", "reward_spans"]

MOST = 64
"""Terms of an explanation, and spans of a term: episodes have thousands of rewards, and nobody reads those."""


def has_credit(batch: Batch, span: int) -> bool:
    """Whether a span can have credit: an action of a scored trajectory."""
    return bool(batch.action_mask[span]) and not np.isnan(batch.outcome[batch.trajectory_of(span)])


def largest(values: F64) -> I64:
    """Positions of the values, in order; of more than MOST those of the largest, leaving room for a sum of the rest."""
    if len(values) <= MOST:
        return np.arange(len(values))
    return np.sort(np.argsort(-np.abs(values), kind="stable")[: MOST - 1])


def rest(values: F64, shown: I64, what: str) -> tuple[Term, ...]:
    """One term for all values but those shown: "12 more rewards"; none where all are."""
    left_out = np.delete(values, shown)
    return (Term(f"{len(left_out)} more {what}", fsum(left_out)),) if len(left_out) else ()


def reward_spans(batch: Batch, trajectory: int) -> tuple[int, ...]:
    """Where the outcome of a trajectory sits: its largest rewards, the last action where all are 0."""
    start, end = batch.span_offsets[trajectory : trajectory + 2]
    actions = start + np.flatnonzero(batch.action_mask[start:end])
    carries = actions[np.nan_to_num(batch.rewards[actions]) != 0]
    spans = carries[largest(batch.rewards[carries])] if len(carries) else actions[-1:]
    return tuple(spans.tolist())


def outcome_term(batch: Batch, trajectory: int) -> Term:
    """The outcome of one trajectory, and the spans it sits on."""
    return Term("outcome", float(batch.outcome[trajectory]), reward_spans(batch, trajectory))


def against_group(
    batch: Batch, trajectory: int, credit: float, baseline: Literal["group", "siblings"]
) -> tuple[Term, Term]:
    """Outcome, then the mean that was subtracted from it to make `credit`, with spans that mean rests on."""
    t = trajectory
    scored = (batch.group == batch.group[t]) & ~np.isnan(batch.outcome)
    others = [int(m) for m in np.flatnonzero(scored) if baseline == "group" or m != t]
    name = {"group": "group mean", "siblings": "mean of siblings" if others else "no sibling to hold it against"}
    outcome = outcome_term(batch, t)
    spans = tuple(islice(chain.from_iterable(reward_spans(batch, other) for other in others), MOST))
    return outcome, Term(name[baseline], credit - outcome.value, spans)
