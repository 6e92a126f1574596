"""What a judge says, laid out in rows: one a segment that it has an opinion on, with what others say of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import body

__all__ = ["Rows", "characters", "rows_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """S segments in the order of their last actions.

    row         i64[N]    the segment of each action; -1: of none
    offsets     i64[T+1]  trajectory t owns segments offsets[t]:offsets[t+1]
    characters  f64[S]    length of the texts of its spans; NaN where the batch has no texts
    """

    row: I64
    offsets: I64
    characters: F64

    def steps(self, batch: Batch) -> F64:
        """f64[S]: by how much the score of a judge moved over the actions of each; NaN where it has no opinion there.

        A judge that cuts otherwise is summed over the same actions.
        """
        known = batch.action_mask & ~np.isnan(batch.scores)
        moved = kernels.score_deltas(batch.scores, batch.score_start, batch.action_mask, batch.span_offsets)
        return self.sums(np.where(known, moved, np.nan))

    def sums(self, column: F64) -> F64:
        """f64[S]: the sum of a column f64[N] over the actions of each segment with a number; NaN where none has one."""
        there = (self.row >= 0) & ~np.isnan(column)
        row, size = self.row[there], len(self.characters)
        total = np.bincount(row, column[there], minlength=size).astype(np.float64)
        total[np.bincount(row, minlength=size) == 0] = np.nan
        return total

    def least(self, column: F64) -> F64:
        """f64[S]: the smallest number of a column over the actions of each segment; NaN where there is none."""
        there = (self.row >= 0) & ~np.isnan(column)
        found = np.full(len(self.characters), np.inf)
        np.minimum.at(found, self.row[there], column[there])
        return np.where(np.isinf(found), np.nan, found)


def rows_of(batch: Batch, repeats: Sequence[Batch] = ()) -> Rows:
    """The segments that a judge has an opinion on in any of its repeats: they are cut alike.

    Actions with a score that belong to no segment, as those of columns that were put in by hand, are one each.
    InputError where a repeat is of other trajectories.
    """
    key = np.full(batch.n_spans, -1, dtype=np.int64)
    base = 0
    for one in (batch, *repeats):
        if one.trajectory_ids != batch.trajectory_ids or one.n_spans != batch.n_spans:
            raise InputError("repeats: they have to be of the same trajectories, in the same order")
        fresh = (one.segment >= 0) & (key < 0)
        key[fresh] = base + one.segment[fresh]
        base += int(one.segment.max(initial=-1)) + 1
    for one in (batch, *repeats):
        alone = one.action_mask & ~np.isnan(one.scores) & (key < 0)
        key[alone] = base + np.flatnonzero(alone)
    acting = np.flatnonzero(batch.action_mask & (key >= 0))
    names, place = np.unique(key[acting], return_inverse=True)
    last = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(last, place, acting)
    order = np.argsort(last)
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    row = np.full(batch.n_spans, -1, dtype=np.int64)
    row[acting] = number[place]
    inside = np.flatnonzero(np.isin(key, names))
    length = characters(batch)[inside]
    total = np.bincount(number[np.searchsorted(names, key[inside])], length, minlength=len(names)).astype(np.float64)
    return Rows(row, np.searchsorted(last[order], batch.span_offsets), total)


def characters(batch: Batch) -> F64:
    """f64[N]: the length of every span: its text, of a call its arguments as logged. NaN where there are no texts."""
    if batch.graphs is None:
        return np.full(batch.n_spans, np.nan)
    lengths = [len(body(span)) for graph in batch.graphs for span in graph.trajectory.spans]
    return np.array(lengths, dtype=np.float64)
