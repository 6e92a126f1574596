"""What a judge's scores say of an action, and how that is passed back to what the action rests on."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["score_deltas", "smeared", "smeared_onto"]


@jit
def score_deltas(scores: F64, score_start: F64, action_mask: BOOL, offsets: I64) -> F64:
    """Progress: the score of the state after an action minus that of the state before it.

    scores       f64[N]    score of the state after span i; NaN = no opinion: the state before it stands
    score_start  f64[T]    score before the first action; NaN = 1
    action_mask  bool[N]   spans the policy chose; all others are stepped over
    offsets      i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    returns      f64[N]    scores_k - scores_{k-1}, score_start before the first action; 0 on observations
    """
    deltas = np.zeros(len(scores))
    for t in range(len(offsets) - 1):
        before = 1.0 if np.isnan(score_start[t]) else score_start[t]
        for i in range(offsets[t], offsets[t + 1]):
            if action_mask[i] and not np.isnan(scores[i]):
                deltas[i] = scores[i] - before
                before = scores[i]
    return deltas


@jit
def _leads(action_mask: BOOL, parent_offsets: I64, parents: I64, gate: BOOL) -> BOOL:
    """bool[N]: whether a span is an action, or rests on one along the gated edges."""
    found = action_mask.copy()
    for i in range(len(found)):
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            if gate[e] and found[parents[e]]:
                found[i] = True
    return found


@jit
def smeared(
    deltas: F64, action_mask: BOOL, parent_offsets: I64, parents: I64, weight: F64, gate: BOOL, smear: float
) -> F64:
    """Each delta shared with the actions it rests on: an action passes the part `smear` of all that came to it back.

    deltas          f64[N]    0 on observations
    action_mask     bool[N]
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    weight          f64[M]    > 0; what is passed back is shared by weight over the sum of weights
    gate            bool[M]   edges to follow
    smear           in [0, 1)
    returns         f64[N]    its sum over a trajectory is that of the deltas; 0 on observations, which pass on all

    Parents that rest on no action get nothing; an action without others keeps all.
    """
    leads = _leads(action_mask, parent_offsets, parents, gate)
    flow = deltas.copy()
    for i in range(len(flow) - 1, -1, -1):
        total = 0.0
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            if gate[e] and leads[parents[e]]:
                total += weight[e]
        if total == 0.0 or flow[i] == 0.0:
            continue
        passed = flow[i] * (smear if action_mask[i] else 1.0)
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            if gate[e] and leads[parents[e]]:
                flow[parents[e]] += passed * weight[e] / total
        flow[i] -= passed
    return flow


@jit
def smeared_onto(
    target: int, action_mask: BOOL, parent_offsets: I64, parents: I64, weight: F64, gate: BOOL, smear: float
) -> F64:
    """The share of every span's delta that `smeared` leaves on one action.

    target   position of the action; the others as in `smeared`
    returns  f64[N], in [0, 1]: smeared(deltas)[target] = sum_i deltas_i shares_i
    """
    leads = _leads(action_mask, parent_offsets, parents, gate)
    shares = np.zeros(len(action_mask))
    for i in range(target, len(shares)):
        total = 0.0
        reached = 0.0
        for e in range(parent_offsets[i], parent_offsets[i + 1]):
            if gate[e] and leads[parents[e]]:
                total += weight[e]
                reached += weight[e] * shares[parents[e]]
        passed = 0.0 if total == 0.0 else (smear if action_mask[i] else 1.0)
        kept = 1.0 - passed if i == target else 0.0
        shares[i] = kept + (passed * reached / total if total > 0.0 else 0.0)
    return shares
