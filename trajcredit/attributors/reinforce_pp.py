"""REINFORCE++: returns, or outcomes against the group's mean, whitened over the batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.flavours import FLAVOURS, Flavour, Lone, Singleton, group_notes, group_relative, lone_rule
from trajcredit.attributors.terms import against_group, has_credit, largest, outcome_term, rest
from trajcredit.attributors.whitened import whitened_actions
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.registry import attributors

__all__ = ["ReinforcePp"]

ReinforceFlavour: TypeAlias = Literal["verl", "skyrl", "openrlhf", "nemo"]
FORMS = {"none": ("verl", "skyrl", "openrlhf"), "group": ("verl", "openrlhf", "nemo")}
"""Baseline -> the trainers that have that form."""


@attributors.register("reinforce_pp")
@dataclass(frozen=True, slots=True)
class ReinforcePp:
    """REINFORCE++ (Hu et al. 2025, arXiv 2501.03262): advantages are whitened over the batch, not over the group.

    Without a baseline, credit = G_k = r_k + gamma G_{k+1} over actions; with `baseline=group` (REINFORCE++-baseline)
    credit = R - mean of the group, the same on every action. The advantage is credit minus its mean over all actions of
    the batch, divided by its standard deviation there: of the sample, with 1e-8 added to the variance (verl, skyrl), or
    of the population, the variance no smaller than 1e-8 (openrlhf, nemo). A span counts once however many tokens it
    has; trainers count tokens. Exactly 0 throughout where all credits are equal.

    It compares tasks with each other: without a baseline whoever drew an easy task is praised for it. `flavour=skyrl`
    is what SkyRL's function does at tokens its mask leaves out; SkyRL itself hands it a mask with the observations in,
    and so discounts and whitens over them too. rLLM's REINFORCE++-baseline divides by a spread of rollouts: that is
    `grpo` with `flavour=rllm` and `scale=batch`.
    """

    flavour: ReinforceFlavour = "verl"
    """Whose whitening, and whose rule for observations: verl carries returns over them, openrlhf discounts at each,
    skyrl (and verl before 0.9) drops what comes after one: a call gets nothing of what follows its result."""
    baseline: Literal["none", "group"] = "none"
    """Returns as they are (verl, skyrl, openrlhf), or outcomes minus the group's mean (verl, openrlhf, nemo)."""
    gamma: float = 1.0
    """Discount per action of the returns, 0..1; with `baseline=group` there are none and it has to be 1."""
    singleton: Singleton = "zero"
    """With `baseline=group`, a group of one gets credit 0, or what the trainer gives it (verl: the raw outcome)."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "batch"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("reinforce_pp", "flavour", self.flavour, get_args(ReinforceFlavour))
        choice("reinforce_pp", "baseline", self.baseline, FORMS)
        within("reinforce_pp", "gamma", self.gamma, 0, 1)
        choice("reinforce_pp", "singleton", self.singleton, get_args(Singleton))
        if self.flavour not in FORMS[self.baseline]:
            known = ", ".join(FORMS[self.baseline])
            raise InputError(f"reinforce_pp: baseline={self.baseline} goes with flavour={known}, not {self.flavour}")
        if self.baseline == "group" and self.gamma != 1:
            raise InputError(f"reinforce_pp: baseline=group has no returns to discount: gamma={self.gamma:g} must be 1")

    def __call__(self, batch: Batch) -> Attribution:
        """credit = G, or R minus the mean of the group; advantage = that, whitened over the batch."""
        credit = self._returns(batch) if self.baseline == "none" else self._against_group(batch)
        notes = group_notes(batch) if self.baseline == "group" else ()
        how = kernels.WHITENING["nemo_reinforce_pp" if self.flavour == "nemo" else self.flavour]
        white, said = whitened_actions(credit, how)
        return Attribution(credit, white, (*notes, *said))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The rewards that arrive, each at its discount; or the outcome and the mean it is held against."""
        if not has_credit(batch, span):
            return ()
        if self.baseline == "group":
            t = batch.trajectory_of(span)
            if self._lone() == "raw" and kernels.members(batch.outcome, batch.group)[t] == 1:
                return (outcome_term(batch, t),)
            return against_group(batch, t, float(self._against_group(batch)[span]), "group")
        end = int(batch.span_offsets[batch.trajectory_of(span) + 1])
        actions, steps = self._ahead(batch, span, end)
        carries = batch.rewards[actions] != 0
        values = (self.gamma ** steps[carries]) * batch.rewards[actions[carries]]
        shown = largest(values)
        terms = [
            Term(f"reward {batch.rewards[at]:g}, discounted {n} times", float(value), (int(at),))
            for at, n, value in zip(actions[carries][shown], steps[carries][shown], values[shown], strict=True)
        ]
        return (*terms, *rest(values, shown, "rewards")) or (Term("no reward from here on", 0.0),)

    def _returns(self, batch: Batch) -> F64:
        """G of every action, observations treated as the trainer does."""
        offsets, stepped_on = batch.span_offsets, batch.action_mask
        if self.flavour == "skyrl":  # every run of actions is an episode of its own
            turns_over = 1 + np.flatnonzero(batch.action_mask[1:] != batch.action_mask[:-1])
            offsets = np.unique(np.concatenate([offsets, turns_over]))
        elif self.flavour == "openrlhf":
            stepped_on = np.ones_like(batch.action_mask)
        returns = kernels.reward_to_go(batch.rewards, stepped_on, offsets, self.gamma)
        return np.where(batch.action_mask, returns, np.nan)

    def _ahead(self, batch: Batch, span: int, end: int) -> tuple[I64, I64]:
        """The actions whose rewards arrive at a span, itself included, and how often each is discounted on the way."""
        actions = span + np.flatnonzero(batch.action_mask[span:end])
        if self.flavour == "openrlhf":
            return actions, actions - span
        steps = np.arange(len(actions))
        if self.flavour == "skyrl":
            unbroken = actions - span == steps
            return actions[unbroken], steps[unbroken]
        return actions, steps

    def _against_group(self, batch: Batch) -> F64:
        scalar = group_relative(batch.outcome, batch.group, self._row(), self._lone())[0]
        return kernels.broadcast(scalar, batch.action_mask, batch.span_offsets)

    def _row(self) -> Flavour:
        return replace(FLAVOURS[self.flavour], baseline="group", spread="none")

    def _lone(self) -> Lone:
        return lone_rule(self._row(), self.singleton)
