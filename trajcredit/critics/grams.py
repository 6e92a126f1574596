"""Ridge regressions on any of the folds of one design: products of its columns are kept by fold and added up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.columns import F32

__all__ = ["Grams"]


class Grams:
    """A design f32[D, U] whose rows are of folds i64[D]; `counted` bool[D] marks the rows that may teach."""

    def __init__(self, design: F32, fold: I64, counted: BOOL) -> None:
        self._order = np.argsort(fold, kind="stable")
        self._rows = design[self._order]
        ends = np.searchsorted(fold[self._order], np.arange(int(fold.max(initial=-1)) + 2)).tolist()
        self._slices = [slice(start, end) for start, end in pairwise(ends)]
        taught = self._rows * counted[self._order, None]
        self._grams = [np.asarray(taught[s].T @ taught[s], dtype=np.float64) for s in self._slices]

    def solved(self, folds: Sequence[int], target: F64, penalty: float) -> F64:
        """Coefficients f64[U] of the counted rows of these folds; target f64[D], 0 on all other rows."""
        [found] = self._solved(self._gram(folds), self._moment(folds, target[self._order]), [penalty])
        return np.asarray(found, dtype=np.float64)

    def forecasts(self, parts: Sequence[Sequence[int]], target: F64, penalties: Sequence[float]) -> F64:
        """What the other parts say of the rows of each part (folds), under each penalty: f64[P, D]; else 0."""
        ordered = target[self._order]
        found = np.zeros((len(penalties), len(ordered)))
        for part in parts:
            others = [f for other in parts if other is not part for f in other]
            weights = self._solved(self._gram(others), self._moment(others, ordered), penalties)
            for f in part:
                found[:, self._slices[f]] = weights @ self._rows[self._slices[f]].T
        out = np.empty_like(found)
        out[:, self._order] = found
        return out

    def _gram(self, folds: Sequence[int]) -> F64:
        width = self._rows.shape[1]
        total: F64 = np.zeros((width, width))
        for f in folds:
            total += self._grams[f]
        return total

    def _moment(self, folds: Sequence[int], ordered: F64) -> F64:
        total: F64 = np.zeros(self._rows.shape[1])
        for f in folds:
            total += ordered[self._slices[f]] @ self._rows[self._slices[f]]
        return total

    def _solved(self, gram: F64, moment: F64, penalties: Sequence[float]) -> F64:
        found = np.empty((len(penalties), len(moment)))
        at = np.diag_indices_from(gram)
        diagonal = gram[at]
        for p, penalty in enumerate(penalties):
            gram[at] = diagonal + penalty
            found[p] = np.linalg.solve(gram, moment)
        return found
