"""Torch twins of `kernels.returns`: what came after, one number a trajectory, averages of earlier outcomes."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.segments import Number, changes, column, linear, owners, spread_out

__all__ = ["broadcast", "moving_average", "reward_to_go"]


def broadcast(scalar: Tensor, action_mask: Tensor, offsets: Tensor) -> Tensor:
    """One number a trajectory, copied to each of its action spans.

    scalar       f64[T]
    action_mask  bool[N]   spans the policy chose
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    NaN on observations
    """
    at = action_mask.nonzero().squeeze(-1)
    owner = owners(offsets, len(action_mask))[at]
    return spread_out(scalar[..., owner], at, len(action_mask), torch.nan)


def reward_to_go(rewards: Tensor, action_mask: Tensor, offsets: Tensor, gamma: Number) -> Tensor:
    """Discounted rewards from each action span on; arguments as the numba kernel of the name.

    gamma    a number, or f64[S, 1]: then the result is f64[S, N]
    returns  f64[N]    G_k = r_k + gamma G_{k+1}; NaN on observations and where unscored. Sums are those of a scan

    Sutton and Barto 2018, eq. 3.9.
    """
    at = action_mask.nonzero().squeeze(-1)
    starts = changes(owners(offsets, len(action_mask))[at])
    found = linear(column(gamma, rewards), rewards[..., at], starts, backward=True)
    return spread_out(found, at, len(action_mask), torch.nan)


def moving_average(outcome: Tensor, beta: float) -> Tensor:
    """The average of earlier outcomes, later ones heavier; arguments and result as the numba kernel of the name.

    outcome  f64[T]  in upload order; NaN = unscored
    returns  f64[T]  the baseline of each; 0 of the first scored one; NaN where unscored

    Taken of differences to the first outcome, so that equal ones leave exactly their number.
    """
    at = (~outcome.isnan()).nonzero().squeeze(-1)
    known = outcome[at]
    if not len(known):
        return torch.full_like(outcome, torch.nan)
    starts = torch.zeros(len(known), dtype=torch.bool, device=known.device)
    starts[0] = True
    weight = linear(column(beta, known), torch.ones_like(known), starts)
    average = known[0] + linear(1.0 - 1.0 / weight, (known - known[0]) / weight, starts)
    baseline = average.roll(1)
    baseline[0] = 0.0
    return spread_out(baseline, at, len(outcome), torch.nan)
