"""Only the best rollout of a group learns, and by how far it leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import FLAVOURS, group_notes
from trajcredit.attributors.terms import has_credit, outcome_term, reward_spans
from trajcredit.batching import Batch
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Passk"]


@attributors.register("passk")
@dataclass(frozen=True, slots=True)
class Passk:
    """GRPO for pass@k (verl 0.9.1, core_algos.py:472): the best rollout gets its lead on the second, the others 0.

    credit = R_1 - R_2, the two highest outcomes of the group, on the actions of the best and 0 on all others;
    advantage = credit / (std + 1e-6), std of the whole group, of the sample. Where two share the lead nobody gets
    anything, and a note says so: with outcomes 0 and 1 only a lone success teaches. verl refuses a group of one; here
    it gets 0.
    """

    scale: Literal["group", "none"] = "group"
    """Divide by the spread of the group, or by nothing (norm_adv_by_std_in_grpo off)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("passk", "scale", self.scale, ("group", "none"))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = lead of the best; advantage = credit / (spread + eps)."""
        lead, best, _ = _leads(batch)
        scaled, verl = lead, FLAVOURS["verl"]
        if self.scale == "group":
            centred = kernels.centre(batch.outcome, batch.group)
            scaled = kernels.scaled(lead, kernels.spread(centred, batch.group, verl.ddof), verl.eps)
        credit, advantage = (
            kernels.broadcast(scalar, batch.action_mask, batch.span_offsets) for scalar in (lead, scaled)
        )
        return Attribution(credit, advantage, (*group_notes(batch), *_notes(batch, lead, best)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome and the second best it is held against; that it is not the best."""
        if not has_credit(batch, span):
            return ()
        _, best, second = _leads(batch)
        t = batch.trajectory_of(span)
        if t not in best:
            alone = kernels.members(batch.outcome, batch.group)[t] == 1
            return (Term("no sibling to lead" if alone else "not the best of its group", 0.0),)
        other = int(second[np.flatnonzero(best == t)[0]])
        name = "outcome of the second best"
        return outcome_term(batch, t), Term(name, -float(batch.outcome[other]), reward_spans(batch, other))


def _leads(batch: Batch) -> tuple[F64, I64, I64]:
    """R_1 - R_2 on the best of each group f64[T], 0 on others, NaN unscored; best and second of groups of two and more.

    Of equal ones the first in the batch is the best; their lead is 0 either way.
    """
    scored = np.flatnonzero(~np.isnan(batch.outcome))
    order = scored[np.lexsort((-batch.outcome[scored], batch.group[scored]))]
    group = batch.group[order]
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1])[: len(order)])
    has_second = np.append(group[1:] == group[:-1], False)[first] if len(order) else np.zeros(0, dtype=bool)
    best, second = order[first[has_second]], order[first[has_second] + 1]
    lead = np.where(np.isnan(batch.outcome), np.nan, 0.0)
    lead[best] = batch.outcome[best] - batch.outcome[second]
    return lead, best, second


def _notes(batch: Batch, lead: F64, best: I64) -> tuple[Note, ...]:
    """One note a group of unequal rewards whose lead is shared."""
    centred = kernels.centre(batch.outcome, batch.group)
    return tuple(
        Note("tied-best", "two or more share its best reward: every advantage is 0", group=batch.group_ids[g])
        for g in np.sort(batch.group[best[(lead[best] == 0) & (centred[best] != 0)]])
    )
