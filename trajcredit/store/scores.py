"""What the credit of a run says in few numbers: lowest and highest a trajectory, sums a tool, a strip of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch
from trajcredit.model import KIND_CODES
from trajcredit.store.border import cut, finite

__all__ = ["CELLS", "Extremes", "ToolSums", "extremes", "strip", "tool_sums"]

CELLS = 60
"""Cells of the strip that stands for a trajectory in a list."""
_CALL = KIND_CODES["tool_call"]


@dataclass(frozen=True, slots=True, eq=False)
class Extremes:
    """Of T trajectories; where nothing is scored n is 0 and the rest says nothing. The first of equal spans counts.

    n i64[T], low f64[T], low_span i64[T], high f64[T], high_span i64[T], abs_sum f64[T]
    """

    n: I64
    low: F64
    low_span: I64
    high: F64
    high_span: I64
    abs_sum: F64


@dataclass(frozen=True, slots=True)
class ToolSums:
    """The calls of one tool, those of them scored, their credit, the part of it below zero, and how many failed."""

    calls: int
    scored: int
    credit: float | None
    negative: float | None
    errors: int

    def __add__(self, other: ToolSums) -> ToolSums:
        return ToolSums(
            self.calls + other.calls,
            self.scored + other.scored,
            _sum(self.credit, other.credit),
            _sum(self.negative, other.negative),
            self.errors + other.errors,
        )


def extremes(credit: F64, offsets: I64) -> Extremes:
    """Lowest, highest and sum of the magnitudes of every trajectory."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    scored = ~np.isnan(credit)
    low, low_span = _lowest(np.where(scored, credit, np.inf), owner, offsets)
    high, high_span = _lowest(np.where(scored, -credit, np.inf), owner, offsets)
    n = np.bincount(owner[scored], minlength=len(offsets) - 1).astype(np.int64)
    total = np.bincount(owner[scored], weights=np.abs(credit[scored]), minlength=len(offsets) - 1)
    return Extremes(n, low, low_span, -high, high_span, total.astype(np.float64))


def tool_sums(batch: Batch, credit: F64, of: BOOL) -> dict[str, ToolSums]:
    """The calls of every tool in those trajectories of the batch that `of` (bool[T]) names."""
    calls = (batch.kind == _CALL) & (batch.tool >= 0) & np.repeat(of, np.diff(batch.span_offsets))
    scored = calls & ~np.isnan(credit)
    below = scored & (credit < 0)
    size = len(batch.tool_names)
    counts = (
        np.bincount(batch.tool[mask], minlength=size).tolist() for mask in (calls, scored, calls & batch.is_error)
    )
    sums = (np.bincount(batch.tool[mask], credit[mask], minlength=size).tolist() for mask in (scored, below))
    found: dict[str, ToolSums] = {}
    for name, n, n_scored, n_errors, total, negative in zip(batch.tool_names, *counts, *sums, strict=True):
        if n:
            tool, own = cut(name) or "", ToolSums(n, n_scored, finite(total), finite(negative), n_errors)
            found[tool] = found[tool] + own if tool in found else own
    return found


def strip(credit: F64, cells: int = CELLS) -> tuple[float | None, ...]:
    """At most so many cells, each the credit furthest from zero among its spans; null where none of them is scored."""
    width = min(len(credit), cells)
    if not width:
        return ()
    size = np.where(np.isnan(credit), -1.0, np.abs(credit))
    starts = np.arange(width) * len(credit) // width
    ends = [*starts[1:].tolist(), len(credit)]
    best = [a + int(np.argmax(size[a:b])) for a, b in zip(starts.tolist(), ends, strict=True)]
    return tuple(None if np.isnan(value) else value for value in credit[best].tolist())


def _lowest(values: F64, owner: I64, offsets: I64) -> tuple[F64, I64]:
    """The lowest value of every trajectory, and the first span that has it."""
    low, span = np.full(len(offsets) - 1, np.inf), np.zeros(len(offsets) - 1, dtype=np.int64)
    some = np.flatnonzero(np.diff(offsets))
    if len(some):
        low[some] = np.minimum.reduceat(values, offsets[some])
        at = np.flatnonzero(values == low[owner])[::-1]  # backwards, so that the first one is written last
        span[owner[at]] = at - offsets[owner[at]]
    return low, span


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else finite(a + b)
