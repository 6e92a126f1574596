"""What a state is worth by the returns of the rollouts that came through it.

A step is a decision: the state it was taken in has a number (`node`), the same wherever rollouts of a group meet. Steps
lie in order, each trajectory's together.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["backed_up", "first_visits", "state_values", "visitors"]


@jit
def first_visits(node: I64, trajectory: I64) -> BOOL:
    """The steps at which a trajectory meets a state for the first time.

    node        i64[S]  state of each step, 0..
    trajectory  i64[S]  never falls
    returns     bool[S]
    """
    last = np.full(node.max() + 1 if len(node) else 0, -1)
    first = np.zeros(len(node), dtype=np.bool_)
    for k in range(len(node)):
        first[k] = last[node[k]] != trajectory[k]
        last[node[k]] = trajectory[k]
    return first


@jit
def visitors(node: I64, counted: BOOL) -> I64:
    """How many counted steps each step's state has.

    node     i64[S]   state of each step, 0..
    counted  bool[S]  first visits, say
    returns  i64[S]
    """
    count = np.zeros(node.max() + 1 if len(node) else 0, dtype=np.int64)
    for k in range(len(node)):
        if counted[k]:
            count[node[k]] += 1
    return count[node]


@jit
def state_values(returns: F64, node: I64, trajectory: I64, counted: BOOL, own: float) -> F64:
    """Mean return of the trajectories that visited a state, each counted once.

    returns     f64[S]   return from each step on
    node        i64[S]   state of each step, 0..
    trajectory  i64[S]   never falls
    counted     bool[S]  first visits of scored trajectories
    own         weight of a trajectory's own visit in the mean it is held against: 1 the mean of all, 0 of the others
    returns     f64[S]   V = G_0 + mean(G - G_0), G_0 the state's first: equal returns leave exactly their number; NaN
                         where nobody is left to average

    Every-state, first-visit Monte Carlo (Sutton and Barto 2018, section 5.1).
    """
    n_nodes = node.max() + 1 if len(node) else 0
    first = np.full(n_nodes, np.nan)
    total = np.zeros(n_nodes)
    count = np.zeros(n_nodes)
    for k in range(len(node)):
        if counted[k]:
            if count[node[k]] == 0.0:
                first[node[k]] = returns[k]
            total[node[k]] += returns[k] - first[node[k]]
            count[node[k]] += 1.0
    values = np.full(len(node), np.nan)
    mine = np.zeros(n_nodes)
    whose = np.full(n_nodes, -1)
    for k in range(len(node)):
        s = node[k]
        if counted[k]:
            mine[s] = returns[k] - first[s]
            whose[s] = trajectory[k]
        left_out = 1.0 - own if whose[s] == trajectory[k] else 0.0
        if count[s] - left_out > 0.0:
            values[k] = first[s] + (total[s] - left_out * mine[s]) / (count[s] - left_out)
    return values


@jit
def backed_up(values: F64, rewards: F64, trajectory: I64, shared: BOOL, gamma: float) -> tuple[F64, F64]:
    """V of each step's state and of the one after it, where a state of one rollout only is worth what it led to.

    values      f64[S]   V of the state at each step, read where it is shared
    rewards     f64[S]   reward of each step
    trajectory  i64[S]   never falls
    shared      bool[S]  whether other trajectories visited the state too
    gamma       discount of a step
    returns     f64[S]   V here: `values` where shared, else r_k + gamma V_{k+1}, the one path that is known from there
                f64[S]   V after: V of the trajectory's next step, 0 after its last

    Bellman's equation over the graph of states that the rollouts span.
    """
    here = np.zeros(len(values))
    after = np.zeros(len(values))
    for k in range(len(values) - 1, -1, -1):
        if k + 1 < len(values) and trajectory[k + 1] == trajectory[k]:
            after[k] = here[k + 1]
        here[k] = values[k] if shared[k] else rewards[k] + gamma * after[k]
    return here, after
