"""What each trainer does to a group of outcomes: one row a trainer, one formula for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.batching import Batch
from trajcredit.model import Note

__all__ = [
    "FLAVOURS",
    "Baseline",
    "Flavour",
    "FlavourName",
    "Lone",
    "Singleton",
    "batch_notes",
    "group_notes",
    "group_relative",
    "lone_rule",
]

FlavourName: TypeAlias = Literal[
    "verl", "trl", "trl_async", "openrlhf", "skyrl", "slime", "rllm", "art", "areal", "nemo", "prime"
]
Singleton: TypeAlias = Literal["zero", "as_trainer"]
Lone: TypeAlias = Literal["zero", "raw"]
Baseline: TypeAlias = Literal["group", "siblings", "batch"]


@dataclass(frozen=True, slots=True)
class Flavour:
    """One trainer's choices in (R - baseline) / (spread + eps)."""

    ddof: int
    """0 population, 1 sample."""
    eps: float
    """Added to the spread."""
    lone_grpo: Lone
    """What a group of one gets beside the mean of the whole group: nothing, or the raw outcome (mean 0, spread 1)."""
    lone_rloo: Lone
    """The same beside the mean of the siblings; nothing where the trainer has no such form or refuses it."""
    baseline: Baseline = "group"
    """The mean of the whole group, of the other members, or of the whole batch."""
    spread: Literal["group", "siblings", "batch", "none"] = "group"
    """Of the whole group, of the other members, of the whole batch, or no division."""
    of: Literal["rewards", "credits"] = "rewards"
    """The spread of the rewards about their own mean, or of the credits about 0."""


FLAVOURS: dict[str, Flavour] = {
    # 0.9.1 trainer/ppo/core_algos.py:268 compute_grpo_outcome_advantage, :588 compute_rloo_outcome_advantage
    "verl": Flavour(ddof=1, eps=1e-6, lone_grpo="raw", lone_rloo="raw"),
    # 1.16.0 trainer/grpo_trainer.py:2762-2810, rloo_trainer.py:1680-1699; training needs two generations or more
    "trl": Flavour(ddof=1, eps=1e-4, lone_grpo="zero", lone_rloo="zero"),
    # 1.16.0 experimental AsyncGRPO, async_rollout_worker.py:1062-1065
    "trl_async": Flavour(ddof=0, eps=1e-8, lone_grpo="zero", lone_rloo="zero"),
    # 0.11.2 trainer/ppo_utils/experience_maker.py:268 rloo, :273 group_norm; both need two samples or more
    "openrlhf": Flavour(ddof=1, eps=1e-9, lone_grpo="zero", lone_rloo="zero"),
    # 0.3.0 ppo_utils.py:1287 GRPO, :1203 RLOO
    "skyrl": Flavour(ddof=1, eps=1e-6, lone_grpo="raw", lone_rloo="zero"),
    # 624b824a8 ray/rollout.py:608-634; one sample a prompt switches the division off
    "slime": Flavour(ddof=1, eps=1e-6, lone_grpo="zero", lone_rloo="zero"),
    # 9beb6e0f rl_algo.py:6 GRPO, :21 RLOO; REINFORCE++-baseline and PRPO divide by the spread of what the mean leaves
    "rllm": Flavour(ddof=0, eps=1e-6, lone_grpo="raw", lone_rloo="raw", of="credits"),
    # 0.5.18 tokenize.py, tokenize_trajectory_groups; drops rows of advantage 0
    "art": Flavour(ddof=0, eps=1e-6, lone_grpo="zero", lone_rloo="zero"),
    # 1.0.4 utils/data.py:1378 Normalization: deviations are from whichever mean was subtracted, left-out ones too
    "areal": Flavour(ddof=1, eps=1e-5, lone_grpo="zero", lone_rloo="raw", of="credits"),
    # 7ea279abf algorithms/advantage_estimator.py, utils.py:104: mean and spread of the other members
    "nemo": Flavour(ddof=1, eps=1e-6, lone_grpo="zero", lone_rloo="zero", baseline="siblings", spread="siblings"),
    # 559b44772, and tinker-cookbook: never divided
    "prime": Flavour(ddof=1, eps=0.0, lone_grpo="zero", lone_rloo="zero", spread="none"),
}


def lone_rule(flavour: Flavour, singleton: Singleton) -> Lone:
    """What a group of one gets: nothing, or by the trainer's rule for this baseline."""
    if singleton == "zero":
        return "zero"
    return flavour.lone_rloo if flavour.baseline == "siblings" else flavour.lone_grpo


def group_relative(outcome: F64, group: I64, flavour: Flavour, lone: Lone) -> tuple[F64, F64]:
    """Credit and advantage of each trajectory against its group, or against the batch; NaN where unscored.

    outcome  f64[T]  NaN = unscored: in nobody's baseline
    group    i64[T]  labels 0..G-1, in any order
    lone     what a group of one gets: nothing, or its raw outcome (baseline 0, spread 1)
    returns  f64[T], f64[T]  credit = R - baseline; advantage = credit / (spread + eps), exactly 0 where the rewards
                             the baseline is made of are equal
    """
    against = np.zeros_like(group) if flavour.baseline == "batch" else group
    centred = kernels.centre(outcome, against)
    credit = kernels.leave_one_out(centred, against) if flavour.baseline == "siblings" else centred
    if lone == "raw":
        credit = np.where(kernels.members(outcome, against) == 1, outcome, credit)
    if flavour.spread == "none":
        return credit, credit
    return credit, kernels.scaled(credit, _spread(outcome, credit, group, flavour), flavour.eps)


def _spread(outcome: F64, credit: F64, group: I64, flavour: Flavour) -> F64:
    """What the credit is divided by f64[T]; 1 for a member that has nobody beside it."""
    within = np.zeros_like(group) if flavour.spread == "batch" else group
    if flavour.spread == "siblings":
        found = kernels.sibling_spread(kernels.centre(outcome, within), within, flavour.ddof)
    else:
        about = credit if flavour.of == "credits" else kernels.centre(outcome, within)
        found = kernels.spread(about, within, flavour.ddof)
    alone: F64 = np.where(kernels.members(outcome, within) == 1, 1.0, found)
    return alone


def group_notes(batch: Batch) -> tuple[Note, ...]:
    """One note a group of one, and one a group whose rewards are all equal: neither teaches anything."""
    centred = kernels.centre(batch.outcome, batch.group)
    members = kernels.members(batch.outcome, batch.group)
    scored = ~np.isnan(centred)
    varied = np.zeros(len(batch.group_ids), dtype=bool)
    varied[batch.group[scored & (centred != 0)]] = True
    lone = [
        Note(
            code="singleton-group",
            message="one scored rollout: no sibling to hold it against",
            trajectory=batch.trajectory_ids[t],
            group=batch.group_ids[batch.group[t]],
        )
        for t in np.flatnonzero(scored & (members == 1))
    ]
    flat = np.unique(batch.group[scored & (members > 1) & ~varied[batch.group]])
    return (
        *lone,
        *(
            Note(
                code="zero-variance",
                message="all its rewards are equal: every advantage is 0",
                group=batch.group_ids[g],
            )
            for g in flat
        ),
    )


def batch_notes(batch: Batch) -> tuple[Note, ...]:
    """A note where the rewards of the whole batch are equal, or are one: nothing stands out from their mean."""
    scored = batch.outcome[~np.isnan(batch.outcome)]
    if len(scored) == 1:
        return (Note("singleton-batch", "one scored rollout in the batch: nothing to hold it against"),)
    if len(scored) and (scored == scored[0]).all():
        return (Note("zero-variance", "all rewards of the batch are equal: every advantage is 0"),)
    return ()
