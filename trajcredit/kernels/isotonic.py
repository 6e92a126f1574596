"""Isotonic regression: the non-decreasing map of one column on another with the least squared error."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64
from trajcredit.kernels.jit import jit

__all__ = ["isotonic", "mapped"]


def isotonic(x: F64, y: F64, weight: F64) -> tuple[F64, F64]:
    """The map as knots, to be asked with `mapped`.

    x, y     f64[n]          finite, in any order; equal x are one point, whose y is their weighted mean
    weight   f64[n]          >= 0; rows of weight 0 do not count
    returns  f64[K], f64[K]  distinct x ascending, and the fitted value at each, non-decreasing; empty of no weight

    Minimises sum w (f(x) - y)^2 over non-decreasing f (Ayer et al. 1955; Barlow et al. 1972, section 1.2). Between
    knots the map is linear and beyond them constant, as scikit-learn's IsotonicRegression(out_of_bounds="clip").
    """
    counted = weight > 0.0
    knots, place = np.unique(x[counted], return_inverse=True)
    total = np.bincount(place, weight[counted], minlength=len(knots)).astype(np.float64)
    mean: F64 = np.bincount(place, weight[counted] * y[counted], minlength=len(knots)) / total
    return knots, _pooled(mean, total)


def mapped(knots: F64, values: F64, x: F64) -> F64:
    """f64[n]: the map of `isotonic` at x f64[n]; NaN stays NaN, and all is NaN where there is no knot."""
    if not len(knots):
        return np.full(len(x), np.nan)
    return np.where(np.isnan(x), np.nan, np.interp(x, knots, values))  # of one knot numpy makes a number for NaN too


@jit
def _pooled(y: F64, weight: F64) -> F64:
    """Pool adjacent violators: neighbouring blocks that are out of order become their weighted mean.

    y, weight  f64[K]  weight > 0
    returns    f64[K]
    """
    n = len(y)
    mean, mass, first = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    blocks = 0
    for i in range(n):
        mean[blocks], mass[blocks], first[blocks] = y[i], weight[i], i
        blocks += 1
        while blocks > 1 and mean[blocks - 2] >= mean[blocks - 1]:
            both = mass[blocks - 2] + mass[blocks - 1]
            mean[blocks - 2] += (mean[blocks - 1] - mean[blocks - 2]) * (mass[blocks - 1] / both)
            mass[blocks - 2] = both
            blocks -= 1
    fitted = np.empty(n)
    for b in range(blocks):
        fitted[first[b] : first[b + 1] if b + 1 < blocks else n] = mean[b]
    return fitted
