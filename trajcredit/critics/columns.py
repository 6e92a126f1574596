"""Named features collected one by one, then arrays: columns that enough tasks share, one row a decision."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import I64

__all__ = ["F32", "Columns", "Intervals", "numbered"]

F32 = npt.NDArray[np.float32]
LEAST = 3
"""Groups that must have a feature: with fewer nothing can be learnt that holds elsewhere."""


@dataclass(slots=True)
class Columns:
    """Features of single decisions: (decision, name, value)."""

    names: dict[str, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, row: int, name: str, value: float = 1.0) -> None:
        """Give a decision a feature; of two values the larger stays."""
        self.rows.append(row)
        self.columns.append(self.names.setdefault(name, len(self.names)))
        self.values.append(value)

    def dense(self, group: I64, n_rows: int, most: int) -> tuple[F32, list[str]]:
        """f32[D, C] and the names of its columns: of features that three groups have, the `most` that most groups have.

        group  i64[D]  the task of each decision
        """
        rows, columns = np.array(self.rows, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        kept, place = _kept(columns, group[rows], len(self.names), most)
        matrix = np.zeros((n_rows, len(kept)), dtype=np.float32)
        inside = place[columns] >= 0
        np.maximum.at(matrix, (rows[inside], place[columns[inside]]), np.array(self.values, dtype=np.float32)[inside])
        names = list(self.names)
        return matrix, [names[c] for c in kept.tolist()]


@dataclass(slots=True)
class Intervals:
    """Features of the state: (name, first decision that sees it, first that no longer does)."""

    names: dict[str, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    _open: dict[str, int] = field(default_factory=dict)

    def begin(self, name: str, at: int) -> None:
        """True from decision `at` on, unless it is already."""
        self._open.setdefault(name, at)

    def end(self, name: str, at: int) -> None:
        """No longer true from decision `at` on."""
        start = self._open.pop(name, at)
        if start < at:
            self.starts.append(start)
            self.ends.append(at)
            self.columns.append(self.names.setdefault(name, len(self.names)))

    def close(self, at: int) -> None:
        """End all that is true: a trajectory is over."""
        for name in list(self._open):
            self.end(name, at)

    def dense(self, group: I64, n_rows: int, most: int) -> F32:
        """f32[D, C]: 1 where a feature was true; columns as in `Columns.dense`.

        No interval goes beyond its trajectory; only those of columns that are kept are written out.
        """
        starts, columns = np.array(self.starts, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        kept, place = _kept(columns, group[starts], len(self.names), most)
        inside = place[columns] >= 0
        starts, columns = starts[inside], place[columns[inside]]
        lengths = np.array(self.ends, dtype=np.int64)[inside] - starts
        before = np.cumsum(lengths) - lengths
        rows = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
        matrix = np.zeros((n_rows, len(kept)), dtype=np.float32)
        matrix[rows, np.repeat(columns, lengths)] = 1.0
        return matrix


def _kept(columns: I64, group: I64, n: int, most: int) -> tuple[I64, I64]:
    """Columns to keep, and the new place of each of the n columns (-1 left out).

    columns, group  i64[F]  of every feature that was noted, its column and its task

    Where more than `most` qualify, whole ties at the border are left out, so that the order of storage decides nothing.
    Where that would leave less than half of them, features of equally many tasks are told apart by how often they
    were noted.
    """
    n_groups = int(group.max(initial=0)) + 1
    groups = np.bincount(np.unique(columns * n_groups + group) // n_groups, minlength=n)
    kept = np.flatnonzero(groups >= LEAST)
    if len(kept) > most:
        kept = _beyond(groups, most)
        if 2 * len(kept) < most:
            kept = _beyond(groups * (len(columns) + 1) + np.bincount(columns, minlength=n), most)
    place = np.full(n, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return kept, place


def _beyond(size: I64, most: int) -> I64:
    """The largest, at most `most` of them: those larger than the first that finds no place."""
    return np.flatnonzero(size > np.sort(size)[-most - 1])


def numbered(values: list[object]) -> I64:
    """Equal values get equal numbers, counted from 0 in order of appearance."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
