"""95 % intervals of shares, ratios and means whose units come in clusters: rollouts of one task are not independent.

A cluster is a task. Few clusters widen an interval by themselves (Student's t, an effective number of units), so that
small data do not alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from trajcredit.arrays import BOOL, F64, I64

__all__ = [
    "LEAST",
    "Interval",
    "Z",
    "bootstrap",
    "change",
    "mean",
    "portion",
    "ratio",
    "share",
    "spearman",
    "t_quantile",
]

LEAST = 8
"""Clusters below which no interval is taken: with fewer even their spread is a guess."""
Z = 1.959963984540054
"""Of the normal distribution, 97.5 %."""
DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, its 95 % interval, and the number of clusters it rests on."""

    value: float
    low: float
    high: float
    clusters: int


def t_quantile(df: int, z: float = Z) -> float:
    """Student's t where the normal distribution has z (Abramowitz and Stegun 26.7.5; within 0.002 from df = 7 on)."""
    a = (z**3 + z) / 4
    b = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    c = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    d = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + a / df + b / df**2 + c / df**3 + d / df**4


def ratio(num: F64, den: F64, cluster: I64, z: float = Z) -> Interval:
    """sum(num) / sum(den) over units, with the variance between clusters.

    num, den  f64[n]
    cluster   i64[n]  any numbers
    Linearised variance of a ratio: C/(C-1) sum_c (num_c - R den_c)^2 / (sum den)^2 (Cochran 1977, section 6.3).
    """
    value, spread, count = _linearised(num, den, cluster)
    reach = t_quantile(max(count - 1, 1), z) * spread
    return Interval(value, value - reach, value + reach, count)


def portion(num: F64, den: F64, cluster: I64) -> Interval:
    """`ratio` of parts to wholes, 0 <= num <= den, so an interval within 0..1.

    Where every cluster has none or all of it, its spread cannot be seen: Wilson's interval at the number of clusters.
    """
    found = ratio(num, den, cluster)
    if found.value in (0, 1):
        units = np.full(found.clusters, found.value == 1)
        edge = share(units, np.arange(found.clusters))
        return Interval(found.value, edge.low, edge.high, found.clusters)
    return Interval(found.value, max(0.0, found.low), min(1.0, found.high), found.clusters)


def mean(values: F64, cluster: I64, z: float = Z) -> Interval:
    """Of the values, each counted once."""
    return ratio(values, np.ones(len(values)), cluster, z)


def share(flags: BOOL, cluster: I64) -> Interval:
    """Share of true units: Wilson's score interval (Wilson 1927) at the effective number of units.

    n_eff = n / deff, deff the variance between clusters against that of independent units (Kish 1965), at least 1;
    where all units agree, or there is one cluster, that cannot be seen, and n_eff is the number of clusters.
    """
    n = len(flags)
    value, spread, count = _linearised(flags.astype(np.float64), np.ones(n), cluster)
    plain = value * (1 - value) / n
    effective = count if plain == 0 or count < 2 else n / max(1.0, spread**2 / plain)
    middle = (value + Z**2 / (2 * effective)) / (1 + Z**2 / effective)
    reach = Z / (1 + Z**2 / effective) * sqrt(value * (1 - value) / effective + Z**2 / (4 * effective**2))
    low = 0.0 if value == 0 else max(0.0, middle - reach)  # rounding alone would leave 1e-18
    return Interval(value, low, 1.0 if value == 1 else min(1.0, middle + reach), count)


def change(values: F64, before: BOOL, after: BOOL, task: I64, z: float = Z) -> Interval:
    """Mean after minus mean before: paired by task where LEAST tasks have both, else of independent clusters (Welch).

    Pairing takes out how hard a task is. NaN throughout where either side has fewer than LEAST clusters.
    """
    both = np.intersect1d(task[before], task[after])
    if len(both) >= LEAST:
        paired = np.array([values[after & (task == k)].mean() - values[before & (task == k)].mean() for k in both])
        return mean(paired, np.arange(len(both)), z)
    sides = [_linearised(values[side], np.ones(int(side.sum())), task[side]) for side in (before, after)]
    fewest = min(sides[0][2], sides[1][2])
    if fewest < LEAST:
        return Interval(np.nan, np.nan, np.nan, fewest)
    value = sides[1][0] - sides[0][0]
    reach = t_quantile(fewest - 1, z) * sqrt(sides[0][1] ** 2 + sides[1][1] ** 2)
    return Interval(value, value - reach, value + reach, fewest)


def bootstrap(num: F64, den: F64, draws: int = DRAWS, seed: int = 0) -> Interval:
    """sum(num) / sum(den) over clusters drawn with replacement: percentiles of the draws (Efron 1979).

    num, den  f64[C]  one entry a cluster; no interval (NaN) where there is one cluster
    """
    clusters = len(num)
    value = float(num.sum() / den.sum())
    if clusters < 2:
        return Interval(value, np.nan, np.nan, clusters)
    counts = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=draws)
    drawn = (counts @ num) / (counts @ den)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(value, float(low), float(high), clusters)


def spearman(a: F64, b: F64) -> float:
    """Rank correlation, equal values sharing their mean rank; NaN where either does not vary (Spearman 1904)."""
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


def _ranks(values: F64) -> F64:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: F64 = (last - (counts - 1) / 2)[inverse]
    return ranks


def _linearised(num: F64, den: F64, cluster: I64) -> tuple[float, float, int]:
    """The ratio, its standard error, the number of clusters; NaN where there is nothing to divide by."""
    which = np.unique(cluster, return_inverse=True)[1]
    top, bottom = np.bincount(which, num), np.bincount(which, den)
    count, total = len(top), float(bottom.sum())
    if total == 0:
        return float("nan"), float("nan"), count
    value = float(top.sum()) / total
    if count < 2:
        return value, float("inf"), count
    return value, sqrt(count / (count - 1) * float(((top - value * bottom) ** 2).sum())) / total, count
