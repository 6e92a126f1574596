"""How often the most blamed choice is the labelled culprit: hit@1, hit@3 and mean reciprocal rank, a run at a time.

The arithmetic of one trajectory is that of `grading_culprits`; here its mean is taken over the trajectories that one
stored run scored, with intervals that fit few of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from trajcredit.arrays import F64
from trajcredit.kernels.shares import wilson
from trajcredit.service.grading_culprits import MEASURES, Culprits
from trajcredit.service.grading_intervals import Figure, bootstrap
from trajcredit.service.grading_places import Case

__all__ = ["Hits", "hits", "wilson"]

AT_1, AT_3, MRR = (MEASURES.index(name) for name in ("acc@1", "acc@3", "mrr"))


@dataclass(frozen=True, slots=True)
class Hits:
    """Over `graded` trajectories with a culprit that the run scored; NaN where there is none."""

    graded: int
    hit_at_1: Figure
    """The most blamed choice is a culprit; expected over the orders of equally blamed ones. Wilson interval."""
    hit_at_3: Figure
    mrr: Figure
    """1 / rank of the most blamed culprit. Bootstrap interval over trajectories, none for a single one."""


def hits(cases: Sequence[Case], advantages: Mapping[str, F64], draws: int, seed: int) -> dict[str, Hits]:
    """Of each run by name: advantages f64[N], the lower the more blame; cases without a culprit do not count."""
    own = [case for case in cases if case.culprits]
    if not own or not advantages:
        nothing = Figure(nan, nan, nan, 0)
        return dict.fromkeys(advantages, Hits(0, nothing, nothing, nothing))
    n = len(own)
    graded = {name: Culprits(own, advantage, np.arange(n)) for name, advantage in advantages.items()}
    counts = next(iter(graded.values())).counts
    figures, _ = bootstrap(graded, counts, np.zeros(n, dtype=np.int64), draws, seed)
    return {
        name: Hits(n, _with_wilson(found[AT_1]), _with_wilson(found[AT_3]), _of_several(found[MRR]))
        for name, found in figures.items()
    }


def _with_wilson(figure: Figure) -> Figure:
    return Figure(figure.value, *wilson(figure.value, figure.n), figure.n)


def _of_several(figure: Figure) -> Figure:
    """Drawing one trajectory again and again says nothing of others."""
    return figure if figure.n > 1 else Figure(figure.value, nan, nan, figure.n)
