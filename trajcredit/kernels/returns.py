"""What came after: reward-to-go, one number for a whole trajectory, and the average of earlier outcomes."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["broadcast", "moving_average", "reward_to_go"]


@jit
def broadcast(scalar: F64, action_mask: BOOL, offsets: I64) -> F64:
    """One number a trajectory, copied to each of its action spans.

    scalar       f64[T]
    action_mask  bool[N]   spans the policy chose
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    NaN on observations
    """
    copied = np.full(len(action_mask), np.nan)
    for t in range(len(offsets) - 1):
        for i in range(offsets[t], offsets[t + 1]):
            if action_mask[i]:
                copied[i] = scalar[t]
    return copied


@jit
def reward_to_go(rewards: F64, action_mask: BOOL, offsets: I64, gamma: float) -> F64:
    """Discounted rewards from each action span on.

    rewards      f64[N]    reward after span i; NaN throughout an unscored trajectory
    action_mask  bool[N]   spans the policy chose; all others are stepped over, at no discount
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    G_k = r_k + gamma G_{k+1}; NaN on observations and where unscored

    Sutton and Barto 2018, eq. 3.9.
    """
    returns = np.full(len(rewards), np.nan)
    for t in range(len(offsets) - 1):
        running = 0.0
        for i in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            if action_mask[i]:
                running = rewards[i] + gamma * running
                returns[i] = running
    return returns


@jit
def moving_average(outcome: F64, beta: float) -> F64:
    """The average of earlier outcomes, later ones heavier: a baseline that needs no siblings.

    outcome  f64[T]  in upload order; NaN = unscored: skipped, and no later baseline knows of it
    returns  f64[T]  b_k = sum_{j<k} beta^(k-1-j) R_j / sum_{j<k} beta^(k-1-j) over scored ones; b_1 = 0; NaN unscored

    The exponential average with its bias towards the start removed (Kingma and Ba 2015, arXiv 1412.6980, section 3).
    beta 0 is the last outcome alone, beta 1 the plain mean. Kept as b += (R - b) / weight, exact for equal outcomes.
    """
    baseline = np.full(len(outcome), np.nan)
    average = 0.0
    weight = 0.0
    for t in range(len(outcome)):
        if np.isnan(outcome[t]):
            continue
        baseline[t] = average
        weight = beta * weight + 1.0
        average += (outcome[t] - average) / weight
    return baseline
