"""pass@k: how often one of k rollouts of a task passes."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from trajcredit.arrays import I64
from trajcredit.diagnostics.intervals import bootstrap
from trajcredit.diagnostics.table import Table

__all__ = ["PassAtK", "pass_at", "pass_at_k"]

MOST = 64
"""Largest k that is told, and the last of 1, 2, 4, 8 ... before it."""


@dataclass(frozen=True, slots=True)
class PassAtK:
    """One k: the figure with its 95 % interval (bootstrap over tasks), over so many groups; the smaller ones are left
    out. The interval is null where there is one task."""

    k: int
    value: float
    low: float | None
    high: float | None
    groups: int
    left_out: int


def pass_at(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k), without bias from c passes of n (Chen et al. 2021, arXiv 2107.03374, eq. 1)."""
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_at_k(table: Table) -> tuple[PassAtK, ...]:
    """For k = 1, 2, 4, 8 ... up to the largest group, which is one more k; the mean over groups with n >= k."""
    groups = table.groups(1)
    sizes = np.array([len(own) for own in groups], dtype=np.int64)
    passes = np.array([int(table.passed[own].sum()) for own in groups], dtype=np.int64)
    task = np.array([table.task[own[0]] for own in groups], dtype=np.int64)
    most = min(int(sizes.max(initial=0)), MOST)
    ks = sorted({k for k in (1, 2, 4, 8, 16, 32, 64) if k <= most} | ({most} if most else set()))
    return tuple(_one(k, sizes, passes, task) for k in ks)


def _one(k: int, sizes: I64, passes: I64, task: I64) -> PassAtK:
    use = sizes >= k
    found = np.array([pass_at(n, c, k) for n, c in zip(sizes[use].tolist(), passes[use].tolist(), strict=True)])
    which = np.unique(task[use], return_inverse=True)[1]
    drawn = bootstrap(np.bincount(which, found).astype(np.float64), np.bincount(which).astype(np.float64))
    known = not np.isnan(drawn.low)
    low, high = (drawn.low, drawn.high) if known else (None, None)
    return PassAtK(k, drawn.value, low, high, int(use.sum()), int((~use).sum()))
