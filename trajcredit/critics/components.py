"""Variance components: how much the features of each kind tell of the outcome, by restricted maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64, I64

__all__ = ["Components", "contrasts", "variance_components"]

ROUNDS = 15
PULL = 1.0
"""Effective coefficients that draw the variance of a kind to that of all: kinds with few columns tell little."""
STEP = 0.5
"""Exponent of the update: with the square root the likelihood climbs at every step (Zhou et al. 2019)."""
FIRST = 0.3
"""Share of the variance of the outcome that the features are thought to tell, to begin with."""
LEAST_NOISE = 1e-6
"""Share of the variance of the outcome that is luck at the least: few trajectories can be told without any."""
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Prior variance f64[K] of a coefficient of each kind, and the variance of what the features do not tell."""

    kinds: F64
    noise: float


def variance_components(design: F64, target: F64, counts: F64, fixed: int = 0) -> Components:
    """Components of target = design @ coefficients + noise, coefficients of kind k ~ N(0, kinds[k]).

    Maximises the likelihood by minorisation steps (Zhou, Hu, Qiao, Cho, Zhou 2019, J. Comput. Graph. Stat. 28), each
    kind drawn to the mean of all by PULL coefficients; T x T systems, so the width of the design costs little.

    design  f64[T, C], target f64[T], both of order one, group means removed
    counts  f64[K, C]  how many features of kind k a column of the design stands for
    fixed              rows of zeros that were left out: group means, where design and target are `contrasts`
    """
    n = len(target) + fixed
    variance = float(target @ target) / max(n, 1)
    if variance == 0.0:
        return Components(np.full(len(counts), TINY), 1.0)
    rows, columns = np.tril_indices(len(target))  # kernels are symmetric
    half, mirrored = rows * len(target) + columns, columns * len(target) + rows
    diagonal = rows == columns
    twice = np.where(diagonal, 1.0, 2.0)
    kernels = np.stack([_kernel(design, count).ravel()[half] for count in counts])
    traces = kernels[:, diagonal].sum(axis=1) / n
    each = FIRST * variance / len(counts) / np.maximum(traces, TINY)
    scale = np.full(len(counts), float(np.median(each)))
    noise = (1 - FIRST) * variance
    total = np.empty(len(target) ** 2)
    for _ in range(ROUNDS):
        total[half] = total[mirrored] = scale @ kernels
        total[half[diagonal]] += noise
        inverse = np.linalg.inv(
            total.reshape(len(target), -1)
        )  # by halves it is faster, and wrong where luck is little
        weights = inverse @ target
        effective = kernels @ (inverse.ravel()[half] * twice) * scale
        squares = kernels @ (np.outer(weights, weights).ravel()[half] * twice) * scale**2
        shared = squares.sum() / max(effective.sum(), TINY)
        found = (squares + PULL * shared) / (effective + PULL)
        scale = scale * (np.maximum(found, TINY) / scale) ** STEP
        noise *= float(np.sqrt(weights @ weights / max(np.trace(inverse) + fixed / noise, TINY)))
        noise = max(noise, LEAST_NOISE * variance)
    return Components(scale, noise)


def contrasts(values: F64, group: I64) -> F64:
    """Differences within groups, orthonormal (Helmert 1876): of a group of m rows, m - 1 that hold all but its mean.

    values f64[T, C], group i64[T] -> f64[T - groups, C]; products of two such rows are those of rows less group means
    """
    order = np.argsort(group, kind="stable")
    ordered, rows = group[order], values[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(order) else np.zeros(0, dtype=bool)
    start = np.flatnonzero(first)[np.cumsum(first) - 1]
    rank = np.arange(len(order)) - start
    earlier = np.cumsum(rows, axis=0) - rows
    earlier -= earlier[start]
    later = rank > 0
    scale = np.sqrt(rank[later] * (rank[later] + 1.0))[:, None]
    return np.asarray((earlier[later] - rank[later, None] * rows[later]) / scale, dtype=np.float64)


def _kernel(design: F64, count: F64) -> F64:
    mine = count > 0
    part = design[:, mine]
    return np.asarray((part * count[mine]) @ part.T, dtype=np.float64)
