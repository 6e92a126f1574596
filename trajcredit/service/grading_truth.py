"""How close credit comes to true advantages: correlation, sign, shape, and whether the extreme choice is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.service.grading_places import Truth

__all__ = ["MEASURES", "Actions", "Truths"]

MEASURES = ("pearson", "spearman", "sign", "nmse", "blame@1", "praise@1")
"""sign: agreement where the true size exceeds 0.02, a 0 counts half; nmse: squared error after the best single scale,
over the power of the truth; blame@1: in failed runs the lowest number is on the truly lowest choice, praise@1: in
successes the highest, ties sharing the hit; runs whose extreme is within 0.02 of zero do not count."""
SIZE = 0.02
"""True advantages up to this size have no sign, and no choice to find."""
TIE, BEST = 1e-12, 1e-6
"""How close numbers are to be the same: predicted, true."""
FAILED, SUCCEEDED = -1.0, 1.0
"""Sign that makes the choice to find in a run the largest."""
ROUNDING = 1e-20
"""Share of the sum of squares below which a variance is rounding error."""


class Actions:
    """What labels say of A actions, whoever is graded: values, places, families, groups, and the runs to look into."""

    def __init__(self, truths: Sequence[Truth], failed: dict[str, bool], cluster: I64) -> None:
        """cluster i64[A], numbers from 0."""
        self.cluster = cluster
        self.n_clusters = int(cluster.max(initial=-1)) + 1
        self.families = sorted({truth.family for truth in truths})
        code = {family: k for k, family in enumerate(self.families)}
        family = np.array([code[truth.family] for truth in truths])
        self.strata = np.zeros(self.n_clusters, dtype=np.int64)
        self.strata[cluster] = family
        self.true = np.array([truth.value for truth in truths])
        width = max((len(truth.places) for truth in truths), default=1)
        self.places = np.array([(*truth.places, *(-1,) * (width - len(truth.places))) for truth in truths])
        self.big = np.abs(self.true) > SIZE
        self.parts = [*(np.flatnonzero(family == k) for k in range(len(self.families))), np.arange(len(truths))]
        """The actions of each family, then all."""
        self.groups: list[I64 | slice] = [np.flatnonzero(self.strata == k) for k in range(len(self.families))]
        self.groups.append(slice(None))
        """Their groups."""
        self.picks = list(_picks(truths, failed, self.true))
        self.counts = self._counts(family)
        self._ranks = [_Ranks(self.true[own]) for own in self.parts]
        self._of_clusters = [cluster[own] for own in self.parts]
        self._last: tuple[F64, list[tuple[F64, F64]]] | None = None

    def drawn(self, weight: F64) -> list[tuple[F64, F64]]:
        """How often each action of each part counts, and its true rank; kept for the next attributor of the draw."""
        if self._last is None or self._last[0] is not weight:
            counted = [weight[own] for own in self._of_clusters]
            self._last = weight, [(w, ranks.at(w)) for w, ranks in zip(counted, self._ranks, strict=True)]
        return self._last[1]

    def _counts(self, family: I64) -> I64:
        """i64[F + 2, 6]: what each measure is over, in each family, in all, and in the mean of families."""
        rows = []
        for k, own in enumerate(self.parts):
            inside = [sign for actions, sign in self.picks if k == len(self.families) or family[actions[0]] == k]
            n, big = len(own), int(self.big[own].sum())
            rows.append([n, n, big, n, inside.count(FAILED), inside.count(SUCCEEDED)])
        return np.array([*rows, rows[-1]])


def _picks(truths: Sequence[Truth], failed: dict[str, bool], true: F64) -> Iterator[tuple[I64, float]]:
    """The actions of each run with a choice to find, in order, and the sign that makes that choice the largest."""
    runs: dict[str, list[int]] = defaultdict(list)
    for k, truth in enumerate(truths):
        runs[truth.trajectory_id].append(k)
    for name, own in runs.items():
        if name in failed:
            sign = FAILED if failed[name] else SUCCEEDED
            if (sign * true[own]).max() > SIZE:
                yield np.array(own), sign


class Truths:
    """MEASURES of one attributor: by family, over all, and as the mean of families (those that can be measured)."""

    def __init__(self, actions: Actions, advantage: F64) -> None:
        """advantage f64[N], NaN where nothing was scored."""
        found = np.append(advantage, np.nan)[actions.places]
        first = np.isfinite(found).argmax(1)
        predicted = found[np.arange(len(found)), first]
        self.missing = int(np.isnan(predicted).sum())
        """Actions without a number: they count as 0."""
        self.actions = actions
        self._p = np.nan_to_num(predicted)
        self._ranks = [_Ranks(self._p[own]) for own in actions.parts]
        self._sums = self._by_group()

    def at(self, weight: F64) -> F64:
        """f64[6 (F + 2)]: MEASURES of each family, of all, of the mean of families."""
        rows = []
        parts = zip(self.actions.groups, self._ranks, self.actions.drawn(weight), strict=True)
        for groups, ranks, (counted, true_ranks) in parts:
            sums = weight[groups] @ self._sums[groups]
            n, p, a, pp, aa, pa, raw_pp, raw_aa, raw_pa, signs, big, bad, n_bad, good, n_good = sums.tolist()
            pearson = _pearson(n, p, a, pp, aa, pa, raw_pp, raw_aa)
            spearman = _spearman(counted, ranks.at(counted), true_ranks)
            nmse = 1 - raw_pa**2 / (raw_pp * raw_aa) if raw_pp * raw_aa > 0 else 1.0
            rows.append([pearson, spearman, _mean(signs, big), nmse, _mean(bad, n_bad), _mean(good, n_good)])
        families = np.array(rows[:-1])
        known = ~np.isnan(families)
        total = np.where(known, families, 0.0).sum(0)
        macro = np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)
        return np.concatenate([*map(np.array, rows), macro])

    def _by_group(self) -> F64:
        """Sums f64[G, 15] that every measure but the rank correlation is made of."""
        actions, p, a = self.actions, self._p, self.actions.true
        flat_p, flat_a = p - p.mean(), a - a.mean()
        agree = np.where(p == 0, 0.5, np.sign(p) == np.sign(a))
        columns = [
            np.ones(len(p)), flat_p, flat_a, flat_p**2, flat_a**2, flat_p * flat_a, p**2, a**2, p * a,
            np.where(actions.big, agree, 0.0), actions.big.astype(np.float64),
        ]  # fmt: skip
        by_action = [np.bincount(actions.cluster, column, minlength=actions.n_clusters) for column in columns]
        return np.column_stack([*by_action, *self._hits()])

    def _hits(self) -> list[F64]:
        """Hits and runs f64[G] of failures, then of successes."""
        sums = {
            (sign, what): np.zeros(self.actions.n_clusters) for sign in (FAILED, SUCCEEDED) for what in ("hit", "n")
        }
        for own, sign in self.actions.picks:
            p, a = sign * self._p[own], sign * self.actions.true[own]
            top = p >= p.max() - TIE
            group = self.actions.cluster[own[0]]
            sums[sign, "hit"][group] += (a >= a.max() - BEST)[top].mean()
            sums[sign, "n"][group] += 1
        return list(sums.values())


class _Ranks:
    """Mid-ranks of a column whose rows are counted several times or not at all."""

    def __init__(self, column: F64) -> None:
        known, self._which = np.unique(column, return_inverse=True)
        self._n = len(known)

    def at(self, weight: F64) -> F64:
        """Ranks f64[A], up to one constant."""
        count = np.bincount(self._which, weight, minlength=self._n)
        middle: F64 = (np.cumsum(count) - count / 2)[self._which]
        return middle


def _pearson(n: float, p: float, a: float, pp: float, aa: float, pa: float, raw_pp: float, raw_aa: float) -> float:
    """From sums; 0 where either side does not vary."""
    spread_p, spread_a = pp - p * p / n, aa - a * a / n
    if spread_p <= ROUNDING * raw_pp or spread_a <= ROUNDING * raw_aa:
        return 0.0
    return float((pa - p * a / n) / np.sqrt(spread_p * spread_a))


def _spearman(counted: F64, x: F64, y: F64) -> float:
    """From ranks, each counted so often; 0 where either side does not vary."""
    n = float(counted.sum())
    x, y = x - (counted @ x) / n, y - (counted @ y) / n
    weighted = counted * x
    spread_x, spread_y = float(weighted @ x), float((counted * y) @ y)
    if min(spread_x, spread_y) <= ROUNDING * n**3:
        return 0.0
    return float(weighted @ y) / float(np.sqrt(spread_x * spread_y))


def _mean(total: float, n: float) -> float:
    return float(total / n) if n > 0 else float("nan")
