"""Decisions and the states they were taken in: one step a policy invocation, states of a group numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.flavours import group_notes
from trajcredit.attributors.terms import MOST
from trajcredit.batching import Batch
from trajcredit.kernels.visits import first_visits
from trajcredit.model import Note

__all__ = ["Steps", "singletons", "state_notes", "states_of", "steps_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """S steps, those of a trajectory together and in order.

    start       i64[S]   first action span of the turn
    trajectory  i64[S]
    node        i64[S]   the state it was taken in: group and `state_key`, numbered
    returns     f64[S]   discounted rewards from the step on, one discount a step; NaN where unscored
    rewards     f64[S]   of the turn's actions, added; NaN where unscored
    counted     bool[S]  the first visit of a scored trajectory to a state
    last        bool[S]  no step of its trajectory follows
    of_span     i64[N]   the step of every action span, -1 on observations
    """

    start: I64
    trajectory: I64
    node: I64
    returns: F64
    rewards: F64
    counted: BOOL
    last: BOOL
    of_span: I64

    def spread_out(self, numbers: F64) -> F64:
        """One number a step f64[S] -> f64[N], the same on every action of the turn, NaN on observations."""
        return np.append(numbers, np.nan)[self.of_span]

    def visits(self, step: int) -> tuple[int, ...]:
        """The spans at which scored trajectories first came to a step's state; of very many the first."""
        met = np.flatnonzero(self.counted & (self.node == self.node[step]))
        return tuple(self.start[met[:MOST]].tolist())

    def actions(self, batch: Batch, step: int) -> tuple[int, ...]:
        """The action spans of a step; of very many the first."""
        first = self.start[step]
        end = self.start[step + 1] if step + 1 < len(self.start) else batch.n_spans
        return tuple((first + np.flatnonzero(self.of_span[first:end] == step)[:MOST]).tolist())


def steps_of(batch: Batch, gamma: float) -> Steps:
    """The steps of a batch: states are told apart by group and `state_key` at a turn's first action."""
    starts = kernels.turn_starts(batch.action_mask, batch.turn, batch.span_offsets)
    start = np.flatnonzero(starts)
    trajectory = np.searchsorted(batch.span_offsets, start, side="right") - 1
    flat = np.zeros(batch.n_spans), np.zeros(batch.n_trajectories)
    returns, rewards = (
        kernels.gae_by_turn(
            batch.rewards, flat[0], batch.action_mask, batch.turn, flat[1], batch.span_offsets, discount, 1.0
        )[start]
        for discount in (gamma, 0.0)
    )
    node = states_of(batch, start, trajectory, "group")
    of_span = np.where(batch.action_mask, np.cumsum(starts) - 1, -1)
    counted = first_visits(node, trajectory) & ~np.isnan(batch.outcome[trajectory])
    last = np.append(trajectory[1:] != trajectory[:-1], True)[: len(start)]
    return Steps(start, trajectory, node, returns, rewards, counted, last, of_span)


def states_of(batch: Batch, start: I64, trajectory: I64, apart: Literal["group", "batch"]) -> I64:
    """The state before each step i64[S], numbered from 0; the same key in two groups is two states, or one (`batch`).

    start, trajectory  i64[S]  as in Steps
    """
    state: I64 = np.unique(batch.state_key[start], return_inverse=True)[1]
    if apart == "group":
        width = int(state.max()) + 1 if len(state) else 1
        state = np.unique(batch.group[trajectory] * width + state, return_inverse=True)[1]
    return state


def singletons(batch: Batch) -> tuple[Note, ...]:
    """One note a group of one scored rollout."""
    return tuple(note for note in group_notes(batch) if note.code == "singleton-group")


def state_notes(batch: Batch, steps: Steps, shared: BOOL, said: str) -> tuple[Note, ...]:
    """One note a group with steps that nothing can be held against: how many; `said`: in what states, to get what."""
    scored = ~np.isnan(steps.returns)
    group = batch.group[steps.trajectory]
    n_groups = len(batch.group_ids)
    alone = np.bincount(group[scored & ~shared], minlength=n_groups)
    every = np.bincount(group[scored], minlength=n_groups)
    lone = {note.group for note in singletons(batch)}
    return tuple(
        Note(
            code="unshared-states",
            message=f"{alone[g]} of {every[g]} steps were taken in {said}",
            group=batch.group_ids[g],
        )
        for g in np.flatnonzero(alone)
        if batch.group_ids[g] not in lone
    )
