"""Which sub-goal a span works towards: the first end of a segment that it leads to."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, I64
from trajcredit.kernels.jit import jit

__all__ = ["first_end"]


@jit
def first_end(ends: BOOL, action_mask: BOOL, parent_offsets: I64, parents: I64, gate: BOOL) -> tuple[I64, I64]:
    """The earliest end among the descendants of each span, and the actions between them.

    ends            bool[N]   spans at which a segment ends; each is its own
    action_mask     bool[N]   spans the policy chose
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    gate            bool[M]   edges to follow; a path does not go on beyond an end
    returns         i64[N]    position of the end; -1 where no path leads to one
                    i64[N]    steps to an action on the shortest path to it, the span's own among them; 0 on an end, -1
                              where there is none
    """
    end = np.full(len(ends), -1, dtype=np.int64)
    hops = np.full(len(ends), -1, dtype=np.int64)
    for i in range(len(ends) - 1, -1, -1):
        if ends[i]:
            end[i] = i
            hops[i] = 0
        if end[i] < 0:
            continue
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            p = parents[e]
            if not gate[e]:
                continue
            steps = hops[i] + (1 if action_mask[p] else 0)
            if end[p] < 0 or end[i] < end[p] or (end[i] == end[p] and steps < hops[p]):
                end[p] = end[i]
                hops[p] = steps
    return end, hops
