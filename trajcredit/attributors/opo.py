"""Outcome against the group's mean, rollouts weighing what they are long."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.flavours import Lone, Singleton, group_notes
from trajcredit.attributors.terms import MOST, has_credit, outcome_term, reward_spans
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Opo"]


@attributors.register("opo")
@dataclass(frozen=True, slots=True)
class Opo:
    """On-policy RL with the optimal reward baseline (Hao et al. 2025, arXiv 2505.23585).

    credit = advantage = R_i - sum_j L_j R_j / sum_j L_j over the group, L the tokens sampled in a rollout: the baseline
    of least variance where the squared gradient of a rollout grows with its length. As computed by verl
    (core_algos.py:640). L is the sum of `n_tokens` of the actions; a rollout that lacks a count is left out, and said
    so.
    """

    singleton: Singleton = "zero"
    """A group of one gets 0, or what verl gives it (the raw outcome)."""

    needs: ClassVar[tuple[str, ...]] = ("n_tokens",)
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("opo", "singleton", self.singleton, get_args(Singleton))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = R minus the weighted mean. InputError where no action has a token count."""
        outcome, length = self._counted(batch)
        credit = kernels.broadcast(self._scalar(batch, outcome, length), batch.action_mask, batch.span_offsets)
        return Attribution(credit, credit, (*_notes(batch, length), *group_notes(replace(batch, outcome=outcome))))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The outcome, and the weighted mean it is held against."""
        outcome, length = self._counted(batch)
        t = batch.trajectory_of(span)
        if not has_credit(batch, span) or np.isnan(outcome[t]):
            return ()
        if self._lone() == "raw" and kernels.members(outcome, batch.group)[t] == 1:
            return (outcome_term(batch, t),)
        credit = float(self._scalar(batch, outcome, length)[t])
        members = np.flatnonzero((batch.group == batch.group[t]) & ~np.isnan(outcome))[:MOST].tolist()
        spans = tuple(at for member in members for at in reward_spans(batch, member))[:MOST]
        return outcome_term(batch, t), Term("group mean, by tokens sampled", credit - float(outcome[t]), spans)

    def _counted(self, batch: Batch) -> tuple[F64, I64]:
        """Outcomes, NaN of rollouts whose length is not known, and lengths: -1 unknown, a sum of 0 counts so."""
        own = batch.action_mask
        if own.any() and (batch.n_tokens[own] < 0).all():
            raise InputError(
                "opo needs the tokens sampled in each action and no action span has a count: log `tokens` on the "
                "spans, or put counts in with dataclasses.replace(batch, n_tokens=...)"
            )
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))[own]
        length = np.bincount(owner, batch.n_tokens[own], batch.n_trajectories).astype(np.int64)
        lacks = np.bincount(owner[batch.n_tokens[own] < 0], minlength=batch.n_trajectories) > 0
        length = np.where(lacks | (length == 0), -1, length)
        return np.where(length < 0, np.nan, batch.outcome), length

    def _scalar(self, batch: Batch, outcome: F64, length: I64) -> F64:
        """R - sum L R / sum L = d - sum L d / sum L, d = R - mean: exactly 0 where the rewards are equal."""
        centred = kernels.centre(outcome, batch.group)
        weight = np.where(np.isnan(centred), 0.0, length)
        total, moved = (
            np.bincount(batch.group, column, len(batch.group_ids))[batch.group]
            for column in (weight, weight * np.nan_to_num(centred))
        )
        credit: F64 = centred - np.divide(moved, total, out=np.zeros(len(moved)), where=total > 0)
        if self._lone() == "raw":
            credit = np.where(kernels.members(outcome, batch.group) == 1, outcome, credit)
        return credit

    def _lone(self) -> Lone:
        return "raw" if self.singleton == "as_trainer" else "zero"


def _notes(batch: Batch, length: I64) -> tuple[Note, ...]:
    """One note a scored rollout whose length is not known."""
    return tuple(
        Note(
            code="missing-tokens",
            message="not all of its actions have a token count, or it sampled none: not scored, in nobody's mean",
            trajectory=batch.trajectory_ids[t],
        )
        for t in np.flatnonzero((length < 0) & ~np.isnan(batch.outcome))
    )
