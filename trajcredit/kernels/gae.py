"""Generalized advantage estimation: one step an action span, or one step a turn."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["count_missing", "gae", "gae_by_turn", "turn_starts"]


@jit
def gae(rewards: F64, values: F64, action_mask: BOOL, bootstrap: F64, offsets: I64, gamma: float, lam: float) -> F64:
    """Generalized advantage estimation over action spans, every trajectory in one pass.

    rewards      f64[N]    reward after span i; Batch moved those on observations to the action that caused them
    values       f64[N]    V of the state before span i
    action_mask  bool[N]   spans the policy chose; all others are stepped over, at no discount
    bootstrap    f64[T]    V after the last span; 0 where the episode terminated
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    A_k = delta_k + gamma lam A_{k+1}, delta_k = r_k + gamma V_{k+1} - V_k; NaN on observations

    Schulman et al. 2016 (arXiv 1506.02438), eq. 16.
    With lam=1 and values=0 this is reward-to-go.
    """
    advantages = np.full(len(rewards), np.nan)
    for t in range(len(offsets) - 1):
        next_value = bootstrap[t]
        running = 0.0
        for i in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            if not action_mask[i]:
                continue
            delta = rewards[i] + gamma * next_value - values[i]
            running = delta + gamma * lam * running
            advantages[i] = running
            next_value = values[i]
    return advantages


@jit
def gae_by_turn(
    rewards: F64, values: F64, action_mask: BOOL, turn: I64, bootstrap: F64, offsets: I64, gamma: float, lam: float
) -> F64:
    """Generalized advantage estimation with one step a turn, copied to the action spans of the turn.

    rewards      f64[N]    reward after span i; those of a turn are added
    values       f64[N]    V of the state before span i; only the one at a turn's first action span is read
    action_mask  bool[N]   spans the policy chose
    turn         i64[N]    policy invocation within the trajectory; never falls
    bootstrap    f64[T]    V after the last span; 0 where the episode terminated
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    A_k = delta_k + gamma lam A_{k+1} of turn k, on its action spans; NaN on observations

    AReaL cbff54d64, `trainer/ppo/gae.py` with gae_timestep_unit="turn".
    """
    advantages = np.full(len(rewards), np.nan)
    for t in range(len(offsets) - 1):
        next_value = bootstrap[t]
        running = 0.0
        end = offsets[t + 1]
        while end > offsets[t]:
            start = end - 1
            while start > offsets[t] and turn[start - 1] == turn[end - 1]:
                start -= 1
            first = -1
            reward = 0.0
            for i in range(end - 1, start - 1, -1):
                if action_mask[i]:
                    first = i
                    reward += rewards[i]
            if first >= 0:
                running = reward + gamma * next_value - values[first] + gamma * lam * running
                next_value = values[first]
                for i in range(start, end):
                    if action_mask[i]:
                        advantages[i] = running
            end = start
    return advantages


@jit
def turn_starts(action_mask: BOOL, turn: I64, offsets: I64) -> BOOL:
    """The first action span of every turn.

    action_mask  bool[N]   spans the policy chose
    turn         i64[N]    policy invocation within the trajectory; never falls
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      bool[N]
    """
    starts = np.zeros(len(action_mask), dtype=np.bool_)
    for t in range(len(offsets) - 1):
        current = -1
        for i in range(offsets[t], offsets[t + 1]):
            if action_mask[i] and turn[i] != current:
                starts[i] = True
                current = turn[i]
    return starts


@jit
def count_missing(column: F64, needed: BOOL, offsets: I64) -> I64:
    """How many of the spans that need a number have none.

    column   f64[N]    NaN = none
    needed   bool[N]
    offsets  i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns  i64[T]
    """
    missing = np.zeros(len(offsets) - 1, dtype=np.int64)
    for t in range(len(offsets) - 1):
        for i in range(offsets[t], offsets[t + 1]):
            if needed[i] and np.isnan(column[i]):
                missing[t] += 1
    return missing
