"""Ranks with ties: within owners, and of rows that are counted several times or not at all."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64

__all__ = ["area_under_curve", "counted_spearman", "midranks", "places", "rank_correlation", "spearman"]


def midranks(values: F64, owner: I64) -> F64:
    """f64[N]: the rank of every value among those of its owner, from 1; equal ones share the mean of their ranks.

    owner  i64[N]  ascending
    """
    order = np.lexsort((values, owner))
    sorted_values, sorted_owner = values[order], owner[order]
    new_owner = np.r_[True, sorted_owner[1:] != sorted_owner[:-1]][: len(order)]
    starts = np.flatnonzero(new_owner | np.r_[True, sorted_values[1:] != sorted_values[:-1]][: len(order)])
    ends = np.r_[starts[1:], len(order)]
    first = np.flatnonzero(new_owner)
    own_first = first[np.cumsum(new_owner)[starts] - 1] if len(starts) else starts
    ranks = np.empty(len(order))
    ranks[order] = np.repeat((starts + ends - 1) / 2 - own_first + 1, ends - starts)
    return ranks


def rank_correlation(a: F64, b: F64, owner: I64, size: int) -> F64:
    """f64[size]: Pearson's correlation of two columns of `midranks` for each owner; NaN where one is constant."""
    n = np.bincount(owner, minlength=size)
    middle = ((n + 1) / 2)[owner]  # midranks keep the mean of ranks, so constant ones are exactly 0 from it
    da, db = a - middle, b - middle
    ab, aa, bb = (np.bincount(owner, product, size) for product in (da * db, da * da, db * db))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(np.where((aa > 0) & (bb > 0), ab / np.sqrt(aa * bb), np.nan), -1.0, 1.0)


def spearman(a: F64, b: F64, owner: I64, size: int) -> F64:
    """Spearman's rank correlation of a and b for each owner, ties by midranks (Spearman 1904; Kendall 1945)."""
    return rank_correlation(midranks(a, owner), midranks(b, owner), owner, size)


def places(values: F64) -> I64:
    """i64[n]: the place of each value among the distinct ones, from 0: all that ranks depend on."""
    found: I64 = np.unique(values, return_inverse=True)[1]
    return found


def counted_spearman(first: I64, second: I64, weight: F64) -> float:
    """Spearman's rank correlation of two columns whose row i is counted weight[i] times, ties by midranks.

    first, second  i64[n]  what `places` returns
    weight         f64[n]  >= 0; all 1: the plain coefficient (Spearman 1904; Kendall 1945)
    returns        in [-1, 1]; NaN where either column is constant

    The midrank is the weight below plus half of that at the same place; half of all weight is the mean of midranks, so
    with whole numbers as weights a constant column is exactly 0 from it.
    """
    x, y = _counted_midranks(first, weight), _counted_midranks(second, weight)
    # no BLAS: on so little, its threads cost more than they save
    xx, yy, xy = (float((weight * product).sum()) for product in (x * x, y * y, x * y))
    return min(1.0, max(-1.0, xy / (xx * yy) ** 0.5)) if xx * yy > 0.0 else float("nan")


def _counted_midranks(place: I64, weight: F64) -> F64:
    """f64[n]: midranks less their mean."""
    count = np.bincount(place, weight)
    middle: F64 = (np.cumsum(count) - count / 2 - count.sum() / 2)[place]
    return middle


def area_under_curve(place: I64, positive: BOOL, weight: F64) -> float:
    """Area under the ROC curve: the chance that a positive row has a larger score than a negative one, ties one half.

    place     i64[n]   `places` of the scores
    positive  bool[n]
    weight    f64[n]   >= 0; how often each row counts
    returns   in [0, 1]; NaN where either class has no weight

    Hanley and McNeil 1982: the Wilcoxon statistic, which is the area by trapezoids.
    """
    ups, downs = np.bincount(place, weight * positive), np.bincount(place, weight * ~positive)
    pairs = float(ups.sum()) * float(downs.sum())
    return float(ups @ (np.cumsum(downs) - downs / 2)) / pairs if pairs > 0.0 else float("nan")
