"""Does the blame sit on the culprit: hits among the most blamed, expected under random tie-breaking."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, inf, nan

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.service.grading_places import Case

__all__ = ["MEASURES", "Culprits", "graded"]

MEASURES = ("acc@1", "acc@3", "tol3", "mrr", "pair", "spare")
"""acc@k: a culprit is among the k most blamed candidates; tol3: the most blamed one is a culprit, or at most three
candidates before or after one; mrr: reciprocal rank of the most blamed culprit; pair: a wrong choice is blamed more
than a right one of its run, ties one half; spare: the most blamed is none known right."""


class Culprits:
    """MEASURES of one attributor over C cases; a group drawn twice counts twice."""

    def __init__(self, cases: Sequence[Case], advantage: F64, cluster: I64) -> None:
        """advantage f64[N]: the lower, the more blame. cluster i64[C], numbers from 0."""
        blames = [_blame(case, advantage) for case in cases]
        self.without = sum(bool(np.isneginf(blame).all()) for blame in blames)
        """Cases none of whose candidates has a number: they count 0."""
        self.partly = sum(bool(np.isneginf(blame).any()) for blame in blames) - self.without
        """Cases of which some candidates have none: those rank last."""
        table = np.array([graded(case, blame) for case, blame in zip(cases, blames, strict=True)])
        known = ~np.isnan(table)
        n = int(cluster.max(initial=-1)) + 1
        self.counts: I64 = known.sum(0)
        self._sum = np.zeros((n, len(MEASURES)))
        self._n = np.zeros((n, len(MEASURES)))
        np.add.at(self._sum, cluster, np.where(known, table, 0.0))
        np.add.at(self._n, cluster, known.astype(np.float64))

    def at(self, weight: F64) -> F64:
        """Means f64[6] over the cases of the groups, NaN where there is none."""
        total, n = weight @ self._sum, weight @ self._n
        return np.where(n > 0, total / np.maximum(n, 1), nan)


def graded(case: Case, blame: F64) -> list[float]:
    """MEASURES of one run; NaN where the case cannot tell. Without any number every measure it has is 0."""
    silent = bool(np.isneginf(blame).all())
    wrong, right = blame[sorted(case.wrong)], blame[sorted(case.right)]
    pair = spare = nan
    if case.right:
        top = np.flatnonzero(blame == blame.max())
        spare = 0.0 if silent else float(np.mean([k not in case.right for k in top.tolist()]))
    if case.wrong and case.right:
        ahead, tied = wrong[:, None] > right, wrong[:, None] == right
        pair = 0.0 if silent else float(np.mean(ahead + 0.5 * tied))
    if not case.culprits:
        return [nan, nan, nan, nan, pair, spare]
    if silent:
        return [0.0, 0.0, 0.0, 0.0, pair, spare]
    at_1, at_3, rank = _ranked(blame, sorted(case.culprits))
    return [at_1, at_3, _near(blame, sorted(case.culprits)), rank, pair, spare]


def _ranked(blame: F64, culprits: list[int]) -> tuple[float, float, float]:
    """Chance that the most blamed culprit is among the first 1, the first 3, and its mean reciprocal rank.

    Of n tied candidates m are culprits: the first of these comes j-th in C(n - j, m - 1) of C(n, m) orders.
    """
    best = blame[culprits].max()
    above, n = int((blame > best).sum()), int((blame == best).sum())
    m = int((blame[culprits] == best).sum())
    chance = [comb(n - j, m - 1) / comb(n, m) for j in range(1, n + 1)]
    within = [sum(p for j, p in enumerate(chance, 1) if above + j <= k) for k in (1, 3)]
    return within[0], within[1], sum(p / (above + j) for j, p in enumerate(chance, 1))


def _near(blame: F64, culprits: list[int], within: int = 3) -> float:
    """Of the equally most blamed candidates the part that is at most so many places from a culprit."""
    top = np.flatnonzero(blame == blame.max())
    return float((np.abs(top[:, None] - np.array(culprits)).min(axis=1) <= within).mean())


def _blame(case: Case, advantage: F64) -> F64:
    """Minus the lowest advantage of each candidate; minus infinity where it has none."""
    numbers = [advantage[list(places)] for places in case.candidates]
    return np.array([-float(np.nanmin(own)) if not np.isnan(own).all() else -inf for own in numbers])
