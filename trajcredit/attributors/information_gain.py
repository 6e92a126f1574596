"""How much closer a turn brought the agent to the known answer, by the policy's own log-probs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.steps import Steps, steps_of
from trajcredit.attributors.terms import has_credit
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["InformationGain"]

ROUNDING = 1e-3
"""A log-prob may be this much above 0: engines sum them in short floats."""


@attributors.register("information_gain")
@dataclass(frozen=True, slots=True)
class InformationGain:
    """The jump, over a turn and what it brought, of the log-prob that the policy gives to the known answer.

    A_k = info_{k+1} - info_k, info_k the logged log-prob of the known answer before turn k (column `info`, at the
    turn's first action), the same on every action of the turn; the last turn, after which nothing is measured, gets 0.
    The jumps of a rollout add up to info_K - info_1 exactly. `measure=probability` takes jumps of exp(info), as IGPO
    does with the mean log-prob of the answer's tokens (Wang et al. 2025, arXiv 2510.14967). credit = advantage, in
    nats or in probability; no outcome and no sibling enters (rollouts without a
    reward stay unscored all the same).

    It assumes that what makes the right answer likelier is progress, and a logger that measures before every turn. It
    misleads where the answer is a word that any page may hold, where the policy is sure without looking (no jump is
    left), and in tasks that are solved by what is done, not by what is said.
    """

    measure: Literal["log", "probability"] = "log"
    """Jumps of the log-prob, in nats, or of the probability itself, between -1 and 1."""

    needs: ClassVar[tuple[str, ...]] = ("info",)
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("information_gain", "measure", self.measure, ("log", "probability"))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = the jump over the turn. InputError where no action has a log-prob."""
        steps = steps_of(batch, 1.0)
        before, unusable = self._measured(batch, steps)
        after = np.append(before[1:], np.nan)[: len(before)]
        jumps = np.where(steps.last, 0.0, after - before)
        known = (unusable == 0) & ~np.isnan(batch.outcome)
        credit = steps.spread_out(np.where(known[steps.trajectory], jumps, np.nan))
        return Attribution(credit, credit, _notes(batch, unusable))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """What the answer was given after the turn, and before it."""
        steps = steps_of(batch, 1.0)
        before, unusable = self._measured(batch, steps)
        if not has_credit(batch, span) or unusable[batch.trajectory_of(span)]:
            return ()
        k = int(steps.of_span[span])
        if steps.last[k]:
            return (Term("last turn: nothing is measured after it", 0.0),)
        what = "log-prob" if self.measure == "log" else "probability"
        return (
            Term(f"{what} of the known answer before the next turn", float(before[k + 1]), (int(steps.start[k + 1]),)),
            Term(f"{what} of the known answer before this turn", -float(before[k]), (int(steps.start[k]),)),
        )

    def _measured(self, batch: Batch, steps: Steps) -> tuple[F64, I64]:
        """What is known before each step f64[S], NaN where unusable, and how many of those each trajectory has i64[T].

        Usable is a finite number not above 0, give or take rounding: -inf has no jump in nats.
        """
        if batch.action_mask.any() and np.isnan(batch.info[batch.action_mask]).all():
            raise InputError(
                "information_gain needs the log-prob of the known answer before each turn and no action span has one: "
                "no format read so far logs it; put it in at the first action of every turn with "
                "dataclasses.replace(batch, info=...)"
            )
        info = batch.info[steps.start]
        usable = (info <= ROUNDING) & ((info > -np.inf) | (self.measure == "probability"))
        before = np.exp(info) if self.measure == "probability" else info
        unusable = np.bincount(steps.trajectory[~usable], minlength=batch.n_trajectories)
        return np.where(usable, before, np.nan), unusable


def _notes(batch: Batch, unusable: I64) -> tuple[Note, ...]:
    """One note a scored trajectory that lacks a measurement."""
    return tuple(
        Note(
            code="missing-info",
            message=f"{unusable[t]} of its turns have no log-prob of the known answer, or one above 0: not scored",
            trajectory=batch.trajectory_ids[t],
        )
        for t in np.flatnonzero((unusable > 0) & ~np.isnan(batch.outcome))
    )
