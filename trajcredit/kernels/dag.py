"""Who contributed: ancestors of the sinks, and how far a credit travels back along the best path.

Parents are always earlier than their child, so index order is topological: one reverse pass, nothing to sort.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["ancestors", "best_path", "last_actions", "rewarded"]


@jit
def last_actions(action_mask: BOOL, offsets: I64) -> BOOL:
    """The last action span of every trajectory that has one.

    action_mask  bool[N]   spans the policy chose
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      bool[N]
    """
    last = np.zeros(len(action_mask), dtype=np.bool_)
    for t in range(len(offsets) - 1):
        for i in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            if action_mask[i]:
                last[i] = True
                break
    return last


@jit
def rewarded(rewards: F64, action_mask: BOOL, offsets: I64) -> BOOL:
    """The action spans that the outcome sits on.

    rewards      f64[N]    r_k on action spans; NaN throughout an unscored trajectory
    action_mask  bool[N]   spans the policy chose
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      bool[N]   those whose reward is not 0; the last action where all are 0 (there the verdict sits) or
                           where nothing is scored
    """
    carries = np.zeros(len(rewards), dtype=np.bool_)
    for t in range(len(offsets) - 1):
        last = -1
        found = False
        for i in range(offsets[t], offsets[t + 1]):
            if not action_mask[i]:
                continue
            last = i
            if rewards[i] != 0.0 and not np.isnan(rewards[i]):
                carries[i] = True
                found = True
        if last >= 0 and not found:
            carries[last] = True
    return carries


@jit
def ancestors(sinks: BOOL, parent_offsets: I64, parents: I64, gate: BOOL) -> BOOL:
    """The sinks and all that they depend on.

    sinks           bool[N]
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    gate            bool[M]   edges to follow
    returns         bool[N]
    """
    reached = sinks.copy()
    for i in range(len(sinks) - 1, -1, -1):
        if not reached[i]:
            continue
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            if gate[e]:
                reached[parents[e]] = True
    return reached


@jit
def best_path(
    sinks: BOOL, action_mask: BOOL, parent_offsets: I64, parents: I64, gain: F64, gamma: float
) -> tuple[F64, I64]:
    """How much of a sink's credit reaches each span along the best path of dependencies.

    sinks           bool[N]
    action_mask     bool[N]   spans the policy chose
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    gain            f64[M]    factor of an edge, in [0, 1]; 0 = not followed
    gamma           discount of a step from a child to a parent that is an action; steps to observations cost nothing
    returns         f64[N]    m_i = max over paths to sinks of gamma^hops times the gains; 1 on a sink, 0 on no path,
                              NaN on observations
                    i64[N]    hops of that path, the shortest of equally good ones; 0 on a sink, -1 on no path
    """
    best = np.where(sinks, 1.0, 0.0)
    hops = np.where(sinks, 0, -1)
    for i in range(len(sinks) - 1, -1, -1):
        if hops[i] < 0:
            continue
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            p = parents[e]
            if gain[e] == 0.0:
                continue
            reach = best[i] * gain[e] * (gamma if action_mask[p] else 1.0)
            steps = hops[i] + (1 if action_mask[p] else 0)
            if hops[p] < 0 or reach > best[p] or (reach == best[p] and steps < hops[p]):
                best[p] = reach
                hops[p] = steps
    return np.where(action_mask, best, np.nan), hops
