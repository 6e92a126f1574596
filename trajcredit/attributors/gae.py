"""Generalized advantage estimation from a critic's logged values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.terms import MOST, has_credit, largest, rest
from trajcredit.attributors.whitened import whitened_actions
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Gae"]

GaeFlavour: TypeAlias = Literal["verl", "nemo", "areal", "openrlhf", "skyrl", "slime"]


@attributors.register("gae")
@dataclass(frozen=True, slots=True)
class Gae:
    """Generalized advantage estimation (Schulman et al. 2016, arXiv 1506.02438).

    A_k = delta_k + gamma lam A_{k+1}, delta_k = r_k + gamma V_{k+1} - V_k, over action spans or turns; observations
    are stepped over. V after the end is 0 where the episode terminated, the logged bootstrap where it was truncated.

    Trainers differ in what an observation between two actions does (`flavour`). verl, NeMo-RL and AReaL step over it.
    In OpenRLHF it is a step of reward 0 and V = 0: what follows it arrives one discount later, and the action before
    it is held against 0. SkyRL and slime mask nothing: V on observations is read like any other, and has to be logged.
    """

    gamma: float = 1.0
    """Discount per step, 0..1. Agents rarely discount: one episode, one verdict."""
    lam: float = 0.95
    """0 trusts the critic, 1 trusts the outcome."""
    unit: Literal["span", "turn"] = "span"
    """A step is an action span, or a turn: its rewards added, V at its first action, one number for all its actions."""
    values: Literal["logged", "zero"] = "logged"
    """The critic's values in the log, or 0 everywhere."""
    flavour: GaeFlavour = "verl"
    """Whose rule for observations: stepped over (verl, nemo, areal), a step at V = 0 (openrlhf), or at their V."""
    whiten: bool = False
    """Whiten the advantage over all actions of the batch, as the flavour's trainer does with tokens."""

    @property
    def scope(self) -> Scope:
        """`batch` where advantages are whitened."""
        return "batch" if self.whiten else "group"

    @property
    def needs(self) -> tuple[str, ...]:
        """The `values` column, unless they are to be 0."""
        return ("values",) if self.values == "logged" else ()

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("gae", "gamma", self.gamma, 0, 1)
        within("gae", "lam", self.lam, 0, 1)
        choice("gae", "unit", self.unit, ("span", "turn"))
        choice("gae", "values", self.values, ("logged", "zero"))
        choice("gae", "flavour", self.flavour, get_args(GaeFlavour))
        choice("gae", "whiten", self.whiten, (False, True))
        if self.unit == "turn" and self._gap() != "skipped":
            raise InputError(f"gae: unit=turn has no observations to step on: flavour={self.flavour} needs unit=span")

    def __call__(self, batch: Batch) -> Attribution:
        """credit = A; advantage the same, or whitened. InputError where no action has a value."""
        values, bootstrap, missing = self._forecasts(batch)
        args = (bootstrap, batch.span_offsets, self.gamma, self.lam)
        if self.unit == "turn":
            credit = kernels.gae_by_turn(batch.rewards, values, batch.action_mask, batch.turn, *args)
        else:
            credit = kernels.gae(batch.rewards, values, self._stepped_on(batch), *args)
        if self._gap() != "skipped":
            credit = np.where(batch.action_mask, credit, np.nan)
        notes = _notes(batch, missing, bootstrap)
        if not self.whiten:
            return Attribution(credit=credit, advantage=credit, notes=notes)
        white, said = whitened_actions(credit, kernels.WHITENING[self.flavour])
        return Attribution(credit, white, (*notes, *said))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """One term a step from here on: its surprise delta, at the weight it arrives with; of very many the largest."""
        t = batch.trajectory_of(span)
        values, bootstrap, _ = self._forecasts(batch)
        if not has_credit(batch, span) or np.isnan(bootstrap[t]):
            return ()
        end = int(batch.span_offsets[t + 1])
        starts = np.flatnonzero(self._steps(batch)[:end])
        starts = starts[np.searchsorted(starts, span, side="right") - 1 :]
        reward = np.add.reduceat(np.where(batch.action_mask, batch.rewards, 0.0)[:end], starts)
        forecast, after = values[starts], np.append(values[starts[1:]], bootstrap[t])
        weight = (self.gamma * self.lam) ** np.arange(len(starts))
        terms = weight * (reward + self.gamma * after - forecast)
        shown = largest(terms)
        stops = np.append(starts[1:], end)
        return tuple(
            Term(
                f"reward {reward[k]:g} + {self.gamma:g} x V {after[k]:g} - V {forecast[k]:g}, weight {weight[k]:g}",
                float(terms[k]),
                tuple((starts[k] + np.flatnonzero(batch.action_mask[starts[k] : stops[k]])[:MOST]).tolist()),
            )
            for k in shown
        ) + rest(terms, shown, "steps")

    def _steps(self, batch: Batch) -> BOOL:
        """The spans that are steps of their own, whose V is read: those stepped on, or the first of every turn."""
        if self.unit == "span":
            return self._stepped_on(batch)
        return kernels.turn_starts(batch.action_mask, batch.turn, batch.span_offsets)

    def _gap(self) -> Literal["skipped", "zero", "read"]:
        """What an observation is: no step, a step at V = 0, or a step at its own V."""
        if self.flavour == "openrlhf":
            return "zero"
        return "read" if self.flavour in ("skyrl", "slime") else "skipped"

    def _stepped_on(self, batch: Batch) -> BOOL:
        """The spans that cost a discount."""
        return batch.action_mask if self._gap() == "skipped" else np.ones_like(batch.action_mask)

    def _forecasts(self, batch: Batch) -> tuple[F64, F64, I64]:
        """V before each span, V after the end (NaN where the trajectory cannot be scored), steps without a value."""
        if self.values == "zero":
            none = np.zeros(batch.n_trajectories)
            return np.zeros(batch.n_spans), none, none.astype(np.int64)
        if batch.action_mask.any() and np.isnan(batch.values[batch.action_mask]).all():
            raise InputError(
                "gae needs a critic's values and no action span has one: log `value` on the spans, or ask for "
                "values=zero (V = 0 everywhere: with lam=1 that is reward-to-go), or name a critic that fills them "
                "(critic=compatible)"
            )
        values = np.where(batch.action_mask, batch.values, 0.0) if self._gap() == "zero" else batch.values
        missing = kernels.count_missing(values, self._steps(batch), batch.span_offsets)
        return values, np.where(missing > 0, np.nan, batch.bootstrap), missing


def _notes(batch: Batch, missing: I64, bootstrap: F64) -> tuple[Note, ...]:
    """One note a scored trajectory that lacks a value, before or after its end."""
    notes = []
    for t in np.flatnonzero(np.isnan(bootstrap) & ~np.isnan(batch.outcome)):
        if missing[t]:
            have = "has" if missing[t] == 1 else "have"
            code, message = "missing-values", f"{missing[t]} of its steps {have} no logged value: not scored"
        else:
            code, message = "no-bootstrap", "cut off, and no value logged for what would have followed: not scored"
        notes.append(Note(code=code, message=message, trajectory=batch.trajectory_ids[t]))
    return tuple(notes)
