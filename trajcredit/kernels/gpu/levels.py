"""Passes over a graph level by level: every node of a level at once, all trajectories of a batch together.

The number of steps is that of the longest path of open edges in the batch, not that of the spans; a chain is as many
steps as it has links, so that one deep chain alone is better left to the numba kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Step", "children", "frontiers", "schedule"]


@dataclass(frozen=True, slots=True)
class Step:
    """Nodes whose neighbours on one side are all done, and the edges to those.

    nodes    i64[K]  ascending
    edges    i64[E]  open edges, those of one node together
    slot     i64[E]  position in `nodes` of the edge's node
    lengths  i64[K]  edges of each node, all > 0
    """

    nodes: Tensor
    edges: Tensor
    slot: Tensor
    lengths: Tensor


def children(parent_offsets: Tensor, parents: Tensor) -> Tensor:
    """i64[M]: the span that each edge belongs to."""
    nodes = torch.arange(len(parent_offsets) - 1, device=parent_offsets.device)
    return torch.repeat_interleave(nodes, parent_offsets.diff(), output_size=len(parents))


def schedule(size: int, source: Tensor, target: Tensor, open_edges: Tensor) -> Iterator[Step]:
    """Targets in an order in which all their sources come before them (Kahn 1962, a level at a time).

    size            nodes
    source, target  i64[M]   of each edge; without cycles
    open_edges      bool[M]  edges to follow
    yields          levels from the second on: the first are the nodes that no open edge leads to
    """
    edges = open_edges.nonzero().squeeze(-1)
    into, into_offsets = _by(target, edges, size)
    out, out_offsets = _by(source, edges, size)
    waiting = into_offsets.diff()
    done = (waiting == 0).nonzero().squeeze(-1)
    while len(done):
        reached, count = target[_expand(done, out, out_offsets)[0]].unique(return_counts=True)  # type: ignore[no-untyped-call]
        waiting[reached] -= count
        done = reached[waiting[reached] == 0]
        if len(done):
            own, slot = _expand(done, into, into_offsets)
            yield Step(done, own, slot, into_offsets[done + 1] - into_offsets[done])


def frontiers(found: Tensor, source: Tensor, target: Tensor, open_edges: Tensor) -> Tensor:
    """bool[N]: the nodes of `found` and all that open edges lead to from them, a frontier at a time."""
    found = found.clone()
    edges = open_edges.nonzero().squeeze(-1)
    out, offsets = _by(source, edges, len(found))
    frontier = found.nonzero().squeeze(-1)
    while len(frontier):
        reached = target[_expand(frontier, out, offsets)[0]].unique()  # type: ignore[no-untyped-call]
        frontier = reached[~found[reached]]
        found[frontier] = True
    return found


def _by(node: Tensor, edges: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Edges sorted by their node, i64[E], and where those of each node lie, i64[N+1]."""
    own = node[edges]
    order = edges[torch.argsort(own, stable=True)]
    offsets = torch.zeros(size + 1, dtype=torch.int64, device=node.device)
    offsets[1:] = torch.bincount(own, minlength=size).cumsum(0)
    return order, offsets


def _expand(nodes: Tensor, edges: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """All edges of some nodes, and which of those nodes each belongs to."""
    lengths = offsets[nodes + 1] - offsets[nodes]
    slot = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), lengths)
    within = torch.arange(len(slot), device=nodes.device) - (lengths.cumsum(0) - lengths)[slot]
    return edges[offsets[nodes][slot] + within], slot
