"""Torch twins of `kernels.smear`: deltas of scores, and how they are passed back to what an action rests on."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.levels import children, frontiers, schedule
from trajcredit.kernels.gpu.segments import changes, column, owners, spread_out, totals

__all__ = ["score_deltas", "smeared", "smeared_onto"]


def score_deltas(scores: Tensor, score_start: Tensor, action_mask: Tensor, offsets: Tensor) -> Tensor:
    """f64[N]: the score after an action minus that before it; arguments as the numba kernel of the name."""
    at = (action_mask & ~scores.isnan()).nonzero().squeeze(-1)
    owner = owners(offsets, len(scores))[at]
    began = torch.where(score_start.isnan(), 1.0, score_start)
    before = torch.where(changes(owner), began[owner], scores[at].roll(1))
    return spread_out(scores[at] - before, at, len(scores), 0.0)


def _open(action_mask: Tensor, child: Tensor, parents: Tensor, gate: Tensor) -> Tensor:
    """bool[M]: gated edges to a span that is an action, or rests on one along gated edges."""
    return gate & frontiers(action_mask, parents, child, gate)[parents]


def smeared(
    deltas: Tensor,
    action_mask: Tensor,
    parent_offsets: Tensor,
    parents: Tensor,
    weight: Tensor,
    gate: Tensor,
    smear: float,
) -> Tensor:
    """Each delta shared with the actions it rests on; arguments and result as the numba kernel of the name.

    What a span gets is added from its first child on, and then to its own delta; the numba kernel begins at the last.
    """
    child = children(parent_offsets, parents)
    followed = _open(action_mask, child, parents, gate)
    total = totals(torch.where(followed, weight, 0.0), parent_offsets.diff())
    part = torch.where(total == 0.0, 0.0, torch.where(action_mask, column(smear, weight), 1.0))
    flow = deltas.clone()
    for step in schedule(len(deltas), child, parents, followed):
        source = child[step.edges]
        came = flow[source] * part[source] * weight[step.edges] / total[source]
        flow[step.nodes] += totals(came, step.lengths)
    return flow - flow * part


def smeared_onto(
    target: int,
    action_mask: Tensor,
    parent_offsets: Tensor,
    parents: Tensor,
    weight: Tensor,
    gate: Tensor,
    smear: float,
) -> Tensor:
    """f64[N]: the share of every span's delta that `smeared` leaves on one action; arguments as the numba kernel."""
    child = children(parent_offsets, parents)
    followed = _open(action_mask, child, parents, gate)
    total = totals(torch.where(followed, weight, 0.0), parent_offsets.diff())
    part = torch.where(total == 0.0, 0.0, torch.where(action_mask, column(smear, weight), 1.0))
    shares = torch.zeros_like(part)
    shares[target] = 1.0 - part[target]
    for step in schedule(len(shares), parents, child, followed):
        reached = totals(weight[step.edges] * shares[parents[step.edges]], step.lengths)
        shares[step.nodes] += part[step.nodes] * reached / total[step.nodes]
    return shares
