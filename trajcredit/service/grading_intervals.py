"""Cluster bootstrap: whole groups drawn with replacement, the same draws for every attributor, so differences pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.kernels.draws import interval, weights

__all__ = ["Figure", "Statistic", "bootstrap", "numbered"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure with its 95 % interval, over `n` runs or actions. NaN where nothing was there to measure."""

    value: float
    low: float
    high: float
    n: int


class Statistic(Protocol):
    """Measures of one attributor that can be taken again with groups counted several times or not at all."""

    def at(self, weight: F64) -> F64:
        """Every measure, group g counted weight[g] times; NaN where nothing is left to measure.

        weight  f64[G]
        returns f64[K]
        """
        ...


def numbered(names: Sequence[str]) -> I64:
    """A number i64[n] for each name, from 0 in order of first appearance."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def bootstrap(
    statistics: Mapping[str, Statistic], counts: I64, strata: I64, draws: int, seed: int
) -> tuple[dict[str, list[Figure]], dict[str, list[Figure]]]:
    """Every measure of every attributor, and of all but the first its difference to the first.

    counts  i64[K]  what each measure is over
    """
    names = list(statistics)
    every = np.ones(len(strata))
    point = np.array([statistics[name].at(every) for name in names])
    drawn = np.array([[statistics[name].at(weight) for name in names] for weight in weights(strata, draws, seed)])
    figures = {name: _figures(point[k], drawn[:, k], counts) for k, name in enumerate(names)}
    against = {
        name: _figures(point[k] - point[0], drawn[:, k] - drawn[:, 0], counts)
        for k, name in enumerate(names[1:], start=1)
    }
    return figures, against


def _figures(point: F64, drawn: F64, counts: I64) -> list[Figure]:
    return [
        Figure(float(value), *interval(drawn[:, k]), n)
        for k, (value, n) in enumerate(zip(point.tolist(), counts.tolist(), strict=True))
    ]
