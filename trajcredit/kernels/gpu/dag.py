"""Torch twins of `kernels.dag` and `kernels.subgoals`: who contributed, and how far a credit travels back."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from trajcredit.kernels.gpu.levels import Step, children, frontiers, schedule
from trajcredit.kernels.gpu.segments import Number, Parts, changes, column, owners, places, prefixes

__all__ = ["ancestor_sets", "ancestors", "best_path", "first_end", "last_actions", "rewarded"]


def last_actions(action_mask: Tensor, offsets: Tensor) -> Tensor:
    """bool[N]: the last action span of every trajectory that has one; action_mask bool[N], offsets i64[T+1]."""
    at = action_mask.nonzero().squeeze(-1)
    found = torch.zeros_like(action_mask)
    found[at] = changes(owners(offsets, len(action_mask))[at]).roll(-1)  # the next one starts another trajectory
    return found


def rewarded(rewards: Tensor, action_mask: Tensor, offsets: Tensor) -> Tensor:
    """bool[N]: the action spans that the outcome sits on; arguments as the numba kernel of the name."""
    carries = action_mask & (rewards != 0.0) & ~rewards.isnan()
    owner = owners(offsets, len(rewards))
    has = torch.zeros(max(len(offsets) - 1, 0), dtype=torch.bool, device=rewards.device)
    has[owner[carries]] = True
    return carries | (last_actions(action_mask, offsets) & ~has[owner])


def ancestors(sinks: Tensor, parent_offsets: Tensor, parents: Tensor, gate: Tensor) -> Tensor:
    """The sinks and all that they depend on.

    sinks           bool[N]
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    gate            bool[M]   edges to follow
    returns         bool[N]
    """
    return frontiers(sinks, children(parent_offsets, parents), parents, gate)


def ancestor_sets(sinks: Tensor, parent_offsets: Tensor, parents: Tensor, gate: Tensor) -> Tensor:
    """64 questions to `ancestors` in one pass, a bit each: of other sinks, or along other edges.

    sinks    i64[N]  bit b: a sink of question b
    gate     i64[M]  bit b: an edge to follow for question b; -1 for all
    others   as in `ancestors`
    returns  i64[N]  bit b: what `ancestors` answers to question b
    """
    child = children(parent_offsets, parents)
    reached = sinks.clone()
    for step in schedule(len(sinks), child, parents, gate != 0):
        bits = prefixes(_either, (reached[child[step.edges]] & gate[step.edges],), places(changes(step.slot)))[0]
        reached[step.nodes] |= bits[step.lengths.cumsum(0) - 1]
    return reached


def _either(earlier: Parts, later: Parts) -> Parts:
    return (earlier[0] | later[0],)


def best_path(
    sinks: Tensor, action_mask: Tensor, parent_offsets: Tensor, parents: Tensor, gain: Tensor, gamma: Number
) -> tuple[Tensor, Tensor]:
    """How much of a sink's credit reaches each span along the best path; arguments as the numba kernel of the name.

    gamma    a number, or f64[S, 1]: then both results are [S, N]
    returns  f64[N]  max over paths to sinks of gamma^hops times the gains; 1 on a sink, 0 on no path, NaN on
                     observations
             i64[N]  hops of that path, the shortest of equally good ones; 0 on a sink, -1 on no path
    """
    child = children(parent_offsets, parents)
    gamma = column(gamma, gain)
    best = torch.where(sinks, 1.0, 0.0).double().expand(*gamma.shape[:-1], -1).clone()
    hops = torch.where(sinks, 0, -1).expand(best.shape).clone()
    acts = action_mask.long()
    for step in schedule(len(sinks), child, parents, gain != 0.0):
        source, to = child[step.edges], parents[step.edges]
        known = hops[..., source] >= 0
        cost = torch.where(action_mask[to], gamma, 1.0)
        reach = torch.where(known, best[..., source] * gain[step.edges] * cost, -1.0)
        highest = _extreme("amax", reach, step)
        own = torch.where(hops[..., step.nodes] >= 0, best[..., step.nodes], -1.0)  # of a sink itself
        highest = torch.maximum(highest, own)
        far = torch.iinfo(torch.int64).max
        steps = torch.where(known & (reach == highest[..., step.slot]), hops[..., source] + acts[to], far)
        fewest = _extreme("amin", steps, step)
        fewest = torch.where(own == highest, torch.where(own >= 0.0, hops[..., step.nodes], -1), fewest)
        best[..., step.nodes] = highest.clamp(min=0.0)
        hops[..., step.nodes] = fewest
    return torch.where(action_mask, best, torch.nan), hops


def _extreme(which: Literal["amax", "amin"], numbers: Tensor, step: Step) -> Tensor:
    """The largest or smallest number [..., K] of the edges of each node, of [..., E]: in any order the same."""
    start = numbers[..., step.lengths.cumsum(0) - step.lengths]
    return start.scatter_reduce(-1, step.slot.expand(numbers.shape), numbers, which)


def first_end(
    ends: Tensor, action_mask: Tensor, parent_offsets: Tensor, parents: Tensor, gate: Tensor
) -> tuple[Tensor, Tensor]:
    """The earliest end among the descendants of each span, and the actions between them.

    Arguments and both results, i64[N], as the numba kernel of the name.
    """
    child = children(parent_offsets, parents)
    place = torch.arange(len(ends), device=ends.device)
    end, hops = torch.where(ends, place, -1), torch.where(ends, 0, -1)
    acts, far = action_mask.long(), torch.iinfo(torch.int64).max
    for step in schedule(len(ends), child, parents, gate):
        source = child[step.edges]
        leads = torch.where(end[source] >= 0, end[source], far)
        first = _extreme("amin", leads, step)
        steps = torch.where((leads == first[step.slot]) & (leads < far), hops[source] + acts[parents[step.edges]], far)
        fewest = _extreme("amin", steps, step)
        free = ~ends[step.nodes]  # a path does not go on beyond an end
        end[step.nodes] = torch.where(free, torch.where(first < far, first, -1), step.nodes)
        hops[step.nodes] = torch.where(free, torch.where(fewest < far, fewest, -1), 0)
    return end, hops
