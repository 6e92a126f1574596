"""Torch twins of `kernels.visits`: what a state is worth by the returns of the rollouts that came through it."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.segments import changes, column, linear, totals

__all__ = ["backed_up", "first_visits", "state_values", "visitors"]


def first_visits(node: Tensor, trajectory: Tensor) -> Tensor:
    """bool[S]: the steps at which a trajectory meets a state for the first time; node, trajectory i64[S]."""
    order = torch.argsort(node, stable=True)
    first = torch.zeros(len(node), dtype=torch.bool, device=node.device)
    first[order] = changes(node[order], trajectory[order])
    return first


def visitors(node: Tensor, counted: Tensor) -> Tensor:
    """i64[S]: how many counted steps, bool[S], each step's state, i64[S], has."""
    return torch.bincount(node[counted], minlength=int(node.max()) + 1 if len(node) else 0)[node]


def state_values(returns: Tensor, node: Tensor, trajectory: Tensor, counted: Tensor, own: float) -> Tensor:
    """Mean return of the trajectories that visited a state, each counted once.

    Arguments and result, f64[S], as the numba kernel of the name.
    """
    if not len(node):
        return returns.clone()
    order = torch.argsort(node, stable=True)
    state, seen, whose = node[order], counted[order], trajectory[order]
    place = torch.arange(len(node), device=node.device)
    lengths = torch.bincount(node)
    nowhere = torch.full_like(lengths, len(node) - 1)
    at = nowhere.scatter_reduce(0, state[seen], place[seen], "amin")
    first = returns[order][at]
    apart = torch.where(seen, returns[order] - first[state], 0.0)
    total, count = totals(apart, lengths), totals(seen.double(), lengths)
    latest = torch.where(seen, place, -1).cummax(0).values  # counted step at or before each, of this state or not
    there = latest.clamp(min=0)
    mine = (latest >= 0) & (state[there] == state) & (whose[there] == whose)
    left_out = torch.where(mine, column(1.0 - own, returns), 0.0)
    others = count[state] - left_out
    mean = (total[state] - left_out * torch.where(mine, apart[there], 0.0)) / torch.where(others > 0.0, others, 1.0)
    values = torch.empty_like(returns)
    values[order] = torch.where(others > 0.0, first[state] + mean, torch.nan)
    return values


def backed_up(
    values: Tensor, rewards: Tensor, trajectory: Tensor, shared: Tensor, gamma: float
) -> tuple[Tensor, Tensor]:
    """V of each step's state and of the one after it; arguments and both results, f64[S], as the numba kernel."""
    starts = changes(trajectory)
    settled = torch.where(shared, values, rewards)
    # a shared state takes nothing from what follows it: it is the end of a stretch
    stretch = starts | shared.roll(1)
    here = linear(column(gamma, rewards), settled, stretch, backward=True)
    return here, torch.where(starts.roll(-1), 0.0, here.roll(-1))
