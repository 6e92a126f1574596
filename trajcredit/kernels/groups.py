"""Statistics of a group: rollouts of one task, each counted once, in any order; unscored ones (NaN) left out.

Everything starts from `centre`, which subtracts a member before it averages: rewards that differ in the last bit stay
different, and equal ones become exactly 0, so no small epsilon is ever asked whether two rewards are equal.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["centre", "leave_one_out", "members", "scaled", "sibling_spread", "spread"]


@jit
def members(outcome: F64, group: I64) -> I64:
    """How many scored members the group of each trajectory has.

    outcome  f64[T]  NaN = unscored
    group    i64[T]  labels 0..G-1, in any order
    returns  i64[T]  also for unscored trajectories
    """
    n_groups = group.max() + 1 if len(group) else 0
    count = np.zeros(n_groups, dtype=np.int64)
    for t in range(len(outcome)):
        if not np.isnan(outcome[t]):
            count[group[t]] += 1
    return count[group]


@jit
def centre(outcome: F64, group: I64) -> F64:
    """Outcome minus the mean of its group.

    outcome  f64[T]  NaN = unscored
    group    i64[T]  labels 0..G-1, in any order
    returns  f64[T]  R - mean(R) = (R - R_0) - mean(R - R_0), R_0 the group's first; all exactly 0 if and only if
                     the group's rewards are equal; NaN where unscored
    """
    n_groups = group.max() + 1 if len(group) else 0
    first = np.full(n_groups, np.nan)
    total = np.zeros(n_groups)
    count = np.zeros(n_groups, dtype=np.int64)
    for t in range(len(outcome)):
        g = group[t]
        if np.isnan(outcome[t]):
            continue
        if count[g] == 0:
            first[g] = outcome[t]
        count[g] += 1
        total[g] += outcome[t] - first[g]
    centred = np.full(len(outcome), np.nan)
    for t in range(len(outcome)):
        g = group[t]
        if not np.isnan(outcome[t]):
            centred[t] = (outcome[t] - first[g]) - total[g] / count[g]
    return centred


@jit
def leave_one_out(centred: F64, group: I64) -> F64:
    """Outcome minus the mean of the other members.

    centred  f64[T]  what `centre` returns
    group    i64[T]  labels 0..G-1, in any order
    returns  f64[T]  R_i - mean_{j != i} R_j = n / (n - 1) (R_i - mean); 0 in a group of one; NaN where unscored

    Kool, van Hoof and Welling 2019 ("Buy 4 REINFORCE samples"); Ahmadian et al. 2024 (arXiv 2402.14740), RLOO.
    """
    n_groups = group.max() + 1 if len(group) else 0
    count = np.zeros(n_groups, dtype=np.int64)
    for t in range(len(centred)):
        if not np.isnan(centred[t]):
            count[group[t]] += 1
    against = np.full(len(centred), np.nan)
    for t in range(len(centred)):
        n = count[group[t]]
        if not np.isnan(centred[t]):
            against[t] = centred[t] * n / (n - 1) if n > 1 else 0.0
    return against


@jit
def spread(centred: F64, group: I64, ddof: int) -> F64:
    """Standard deviation of each trajectory's group.

    centred  f64[T]  what `centre` returns
    group    i64[T]  labels 0..G-1, in any order
    ddof     0 population, 1 sample
    returns  f64[T]  sqrt(sum d^2 / (n - ddof)), d = centred; exactly 0 where all rewards are equal or n <= ddof;
                     NaN where unscored

    Squares are taken of d / max|d|, so that neither tiny nor huge differences leave the range of floats.
    """
    n_groups = group.max() + 1 if len(group) else 0
    largest = np.zeros(n_groups)
    count = np.zeros(n_groups, dtype=np.int64)
    for t in range(len(centred)):
        if not np.isnan(centred[t]):
            largest[group[t]] = max(largest[group[t]], abs(centred[t]))
            count[group[t]] += 1
    squares = np.zeros(n_groups)
    for t in range(len(centred)):
        g = group[t]
        if not np.isnan(centred[t]) and largest[g] > 0.0:
            squares[g] += (centred[t] / largest[g]) ** 2
    deviation = np.full(len(centred), np.nan)
    for t in range(len(centred)):
        g = group[t]
        if not np.isnan(centred[t]):
            deviation[t] = largest[g] * np.sqrt(squares[g] / (count[g] - ddof)) if count[g] > ddof else 0.0
    return deviation


@jit
def sibling_spread(centred: F64, group: I64, ddof: int) -> F64:
    """Standard deviation of the other members, which differs from member to member.

    centred  f64[T]  what `centre` returns
    group    i64[T]  labels 0..G-1, in any order
    ddof     0 population, 1 sample
    returns  f64[T]  exactly 0 where the siblings' rewards are equal or fewer than ddof + 1; NaN where unscored

    NeMo-RL 7ea279abf, `utils.py:104`. Members before and after are summed apart and joined by Chan, Golub and LeVeque
    1979: only non-negative terms, where subtracting one square from the total leaves rounding residue to divide by.
    """
    n_groups = group.max() + 1 if len(group) else 0
    size, mean, square = np.zeros(len(centred)), np.zeros(len(centred)), np.zeros(len(centred))
    deviation = np.full(len(centred), np.nan)
    for forward in (True, False):
        n, m, s = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
        for step in range(len(centred)):
            t = step if forward else len(centred) - 1 - step
            g = group[t]
            if np.isnan(centred[t]):
                continue
            if forward:
                size[t], mean[t], square[t] = n[g], m[g], s[g]
            elif size[t] + n[g] > ddof:
                gap = mean[t] - m[g] if size[t] > 0.0 and n[g] > 0.0 else 0.0
                both = size[t] + n[g]
                total = square[t] + s[g] + gap * gap * size[t] * n[g] / both
                deviation[t] = np.sqrt(total / (both - ddof))
            else:
                deviation[t] = 0.0
            n[g] += 1.0
            step_size = centred[t] - m[g]
            m[g] += step_size / n[g]
            s[g] += step_size * (centred[t] - m[g])
    return deviation


@jit
def scaled(credit: F64, deviation: F64, eps: float) -> F64:
    """Credit divided by a spread, where there is one.

    credit     f64[T]  after the baseline
    deviation  f64[T]  what `spread` or `sibling_spread` returns
    eps        added to the spread, as trainers do; never used to decide whether there is one
    returns    f64[T]  credit / (deviation + eps); credit itself where the deviation is 0; NaN where unscored
    """
    advantage = np.full(len(credit), np.nan)
    for t in range(len(credit)):
        advantage[t] = credit[t] / (deviation[t] + eps) if deviation[t] > 0.0 else credit[t]
    return advantage
