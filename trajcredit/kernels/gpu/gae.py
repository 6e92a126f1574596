"""Torch twins of `kernels.gae`: generalized advantage estimation, one step an action span or one step a turn."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.segments import Number, changes, column, linear, owners, spread_out, totals

__all__ = ["advantages", "count_missing", "gae", "gae_by_turn", "turn_starts"]


def advantages(rewards: Tensor, values: Tensor, owner: Tensor, bootstrap: Tensor, gamma: Number, lam: Number) -> Tensor:
    """Advantages of steps that lie end to end, nothing between them.

    rewards, values  f64[..., K]
    owner            i64[K]       trajectory of each step, never falls
    bootstrap        f64[..., T]  V after the last step
    gamma, lam       numbers, or f64[S, 1]
    returns          f64[..., K]  A_k = delta_k + gamma lam A_{k+1}, delta_k = r_k + gamma V_{k+1} - V_k
    """
    starts = changes(owner)
    gamma, lam = column(gamma, rewards), column(lam, rewards)
    after = torch.where(starts.roll(-1), bootstrap[..., owner], values.roll(-1, -1))
    return linear(gamma * lam, rewards + gamma * after - values, starts, backward=True)


def gae(
    rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    bootstrap: Tensor,
    offsets: Tensor,
    gamma: Number,
    lam: Number,
) -> Tensor:
    """Generalized advantage estimation over action spans; arguments as the numba kernel of the name.

    gamma, lam  numbers, or f64[S, 1]: then the result is f64[S, N]
    returns     f64[N]  A_k = delta_k + gamma lam A_{k+1}; NaN on observations. Sums are those of a scan

    Schulman et al. 2016 (arXiv 1506.02438), eq. 16.
    """
    at = action_mask.nonzero().squeeze(-1)
    owner = owners(offsets, len(action_mask))[at]
    found = advantages(rewards[..., at], values[..., at], owner, bootstrap, gamma, lam)
    return spread_out(found, at, len(action_mask), torch.nan)


def gae_by_turn(
    rewards: Tensor,
    values: Tensor,
    action_mask: Tensor,
    turn: Tensor,
    bootstrap: Tensor,
    offsets: Tensor,
    gamma: Number,
    lam: Number,
) -> Tensor:
    """Generalized advantage estimation with one step a turn; arguments as the numba kernel of the name.

    returns  f64[N]  A of the turn on its action spans, NaN on observations. Rewards of a turn are added from the first
                     on; the numba kernel begins at the last

    AReaL cbff54d64, `trainer/ppo/gae.py` with gae_timestep_unit="turn".
    """
    at = action_mask.nonzero().squeeze(-1)
    owner = owners(offsets, len(action_mask))[at]
    starts = changes(owner, turn[at])
    step = starts.cumsum(0) - 1
    first = starts.nonzero().squeeze(-1)
    reward = totals(rewards[at], torch.bincount(step, minlength=len(first)))
    found = advantages(reward, values[at][first], owner[first], bootstrap, gamma, lam)
    return spread_out(found[..., step], at, len(action_mask), torch.nan)


def turn_starts(action_mask: Tensor, turn: Tensor, offsets: Tensor) -> Tensor:
    """bool[N]: the first action span of every turn; arguments as the numba kernel of the name."""
    at = action_mask.nonzero().squeeze(-1)
    found = torch.zeros_like(action_mask)
    found[at] = changes(owners(offsets, len(action_mask))[at], turn[at])
    return found


def count_missing(column: Tensor, needed: Tensor, offsets: Tensor) -> Tensor:
    """i64[T]: how many of the spans that need a number have none; arguments as the numba kernel of the name."""
    missing = needed & column.isnan()
    return torch.bincount(owners(offsets, len(column))[missing], minlength=len(offsets) - 1)
