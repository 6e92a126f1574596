"""Variance components: how much the features of each kind tell of the outcome, by restricted maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64, I64

__all__ = ["Components", "variance_components"]

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


def variance_components(design: F64, target: F64, kind: I64, n_kinds: int) -> Components:
    """Components of target = design @ coefficients + noise, coefficients of kind k ~ N(0, kinds[k]).

    Maximises the likelihood by minorisation steps (Zhou, Hu, Qiao, Cho, Zhou 2019, J. Comput. Graph. Stat. 28), each
    kind drawn to the mean of all by PULL coefficients; T x T systems, so the width of the design costs little.

    design  f64[T, C], target f64[T], both of order one, group means removed; kind i64[C]
    """
    n = len(target)
    kernels = np.stack([design[:, kind == k] @ design[:, kind == k].T for k in range(n_kinds)])
    variance = float(target @ target) / max(n, 1)
    if variance == 0.0:
        return Components(np.full(n_kinds, TINY), 1.0)
    traces = np.trace(kernels, axis1=1, axis2=2) / n
    each = FIRST * variance / n_kinds / np.maximum(traces, TINY)
    scale = np.full(n_kinds, float(np.median(each)))
    noise = (1 - FIRST) * variance
    for _ in range(ROUNDS):
        total = np.tensordot(scale, kernels, 1)
        total[np.diag_indices(n)] += noise
        inverse = np.linalg.inv(total)
        weights = inverse @ target
        squares = kernels @ weights @ weights * scale**2
        effective = np.tensordot(kernels, inverse, 2) * scale
        shared = squares.sum() / max(effective.sum(), TINY)
        found = (squares + PULL * shared) / (effective + PULL)
        scale = scale * (np.maximum(found, TINY) / scale) ** STEP
        noise *= float(np.sqrt(weights @ weights / max(np.trace(inverse), TINY)))
        noise = max(noise, LEAST_NOISE * variance)
    return Components(scale, noise)
