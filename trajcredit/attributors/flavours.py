"""What each trainer does to a group of outcomes: one row a trainer, one formula for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.batching import Batch
from trajcredit.model import Note

__all__ = ["FLAVOURS", "Flavour", "FlavourName", "Singleton", "group_notes", "group_relative"]

FlavourName: TypeAlias = Literal["verl", "trl"]
Singleton: TypeAlias = Literal["zero", "as_trainer"]


@dataclass(frozen=True, slots=True)
class Flavour:
    """One trainer's choices in (R - baseline) / (spread + eps)."""

    ddof: int
    """0 population, 1 sample."""
    eps: float
    """Added to the spread."""
    lone_grpo: Literal["zero", "raw"]
    """Its GRPO credit of a group of one: nothing, or the raw outcome (mean 0, spread 1)."""
    lone_rloo: Literal["zero", "raw"]
    """The same of its RLOO."""
    baseline: Literal["group", "siblings"] = "group"
    """The mean of the whole group, or of the other members."""
    spread: Literal["group", "siblings", "none"] = "group"
    """Of the whole group, of the other members, or no division."""


FLAVOURS: dict[str, Flavour] = {
    # 0.9.1 trainer/ppo/core_algos.py:268 compute_grpo_outcome_advantage, :588 compute_rloo_outcome_advantage
    "verl": Flavour(ddof=1, eps=1e-6, lone_grpo="raw", lone_rloo="raw"),
    # 1.16.0 trainer/grpo_trainer.py:2762-2810, rloo_trainer.py:1680-1699; training needs two generations or more
    "trl": Flavour(ddof=1, eps=1e-4, lone_grpo="zero", lone_rloo="zero"),
}


def group_relative(outcome: F64, group: I64, flavour: Flavour, lone: Literal["zero", "raw"]) -> tuple[F64, F64]:
    """Credit and advantage of each trajectory against its group; NaN where unscored.

    outcome  f64[T]  NaN = unscored: in nobody's baseline
    group    i64[T]  labels 0..G-1, in any order
    lone     what a group of one gets: nothing, or its raw outcome (baseline 0, spread 1)
    returns  f64[T], f64[T]  credit = R - baseline; advantage = credit / (spread + eps), exactly 0 where the group's
                             rewards are equal
    """
    centred = kernels.centre(outcome, group)
    credit = centred if flavour.baseline == "group" else kernels.leave_one_out(centred, group)
    alone = kernels.members(outcome, group) == 1
    if lone == "raw":
        credit = np.where(alone, outcome, credit)
    if flavour.spread == "none":
        return credit, credit
    of = kernels.spread if flavour.spread == "group" else kernels.sibling_spread
    spread = of(centred, group, flavour.ddof)
    if lone == "raw":
        spread = np.where(alone, 1.0, spread)
    return credit, kernels.scaled(credit, spread, flavour.eps)


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
