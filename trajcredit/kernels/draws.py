"""Whole groups drawn with replacement: what a bootstrap over clusters counts, and the interval of what it finds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trajcredit.arrays import F64, I64

__all__ = ["HIGH", "LOW", "interval", "weights"]

LOW, HIGH = 2.5, 97.5
"""Percentiles of a 95 % interval (Efron 1979; clusters as in Davison and Hinkley 1997, section 3.8)."""


def weights(strata: I64, draws: int, seed: int) -> Iterator[F64]:
    """How often each of G groups is drawn, `draws` times; of every stratum as many as it has, with replacement.

    strata  i64[G]  numbers from 0
    """
    members = [np.flatnonzero(strata == stratum) for stratum in range(int(strata.max(initial=-1)) + 1)]
    random = np.random.default_rng(seed)
    for _ in range(draws):
        drawn = [own[random.integers(0, len(own), len(own))] for own in members]
        yield np.bincount(np.concatenate(drawn), minlength=len(strata)).astype(np.float64)


def interval(drawn: F64) -> tuple[float, float]:
    """The 95 % percentile interval of what draws gave; draws without a number (NaN) are left out, NaN of none."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.percentile(known, [LOW, HIGH])
    return float(low), float(high)
