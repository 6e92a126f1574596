"""Named features collected one by one, then arrays: columns that enough tasks share, one row a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import BOOL, F64, I64

__all__ = ["F32", "Columns", "Intervals", "Table", "numbered"]

F32 = npt.NDArray[np.float32]
LEAST = 3
"""Groups that must have a feature: with fewer nothing can be learnt that holds elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Features as an array.

    matrix  f32[D, C]  one row a decision; names, one a column
    noted   f64[D]     features noted of the decision; of the state, those that begin there
    new     f64[D]     of these, the ones that none of the columns stands for, or that no three other groups have
    """

    matrix: F32
    names: list[str]
    noted: F64
    new: F64


@dataclass(slots=True)
class Columns:
    """Features of single decisions: (decision, name, value)."""

    names: dict[str, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, row: int, features: Mapping[str, float]) -> None:
        """Give a decision features; of two values of one the larger stays."""
        names, number = self.names, self.names.setdefault
        self.rows += repeat(row, len(features))
        self.columns += [number(name, len(names)) for name in features]
        self.values += features.values()

    def dense(self, group: I64, n_rows: int, most: int) -> Table:
        """A column for every feature that three groups have; of too many, the `most` that most groups have.

        group  i64[D]  the task of each decision
        """
        rows, columns = np.array(self.rows, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        kept, rare = _kept(columns, group[rows], len(self.names), most)
        names = list(self.names)
        return self._written([names[c] for c in kept.tolist()], rows, columns, n_rows, rare)

    def placed(self, names: Sequence[str], n_rows: int) -> Table:
        """The columns of these names, in their order."""
        rows, columns = np.array(self.rows, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        return self._written(list(names), rows, columns, n_rows, np.zeros(len(self.names), dtype=bool))

    def _written(self, kept: list[str], rows: I64, columns: I64, n_rows: int, rare: BOOL) -> Table:
        place = _places(self.names, kept)
        matrix = np.zeros((n_rows, len(kept)), dtype=np.float32)
        inside = place[columns] >= 0
        np.maximum.at(matrix, (rows[inside], place[columns[inside]]), np.array(self.values, dtype=np.float32)[inside])
        return Table(matrix, kept, *_counted(rows, (rare | (place < 0))[columns], n_rows))


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

    def during(self, features: Sequence[str], start: int, end: int) -> None:
        """True from decision `start` to before `end`, and neither begun nor ended elsewhere."""
        names, number = self.names, self.names.setdefault
        self.columns += [number(name, len(names)) for name in features]
        self.starts += repeat(start, len(features))
        self.ends += repeat(end, len(features))

    def close(self, at: int) -> None:
        """End all that is true: a trajectory is over."""
        names, number = self.names, self.names.setdefault
        begun = [(name, start) for name, start in self._open.items() if start < at]
        self.columns += [number(name, len(names)) for name, _ in begun]
        self.starts += [start for _, start in begun]
        self.ends += repeat(at, len(begun))
        self._open.clear()

    def dense(self, group: I64, n_rows: int, most: int) -> Table:
        """1 where a feature was true; columns as in `Columns.dense`.

        No interval goes beyond its trajectory; only those of columns that are kept are written out.
        """
        starts, columns = np.array(self.starts, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        kept, rare = _kept(columns, group[starts], len(self.names), most)
        names = list(self.names)
        return self._written([names[c] for c in kept.tolist()], starts, columns, n_rows, rare)

    def placed(self, names: Sequence[str], n_rows: int) -> Table:
        """The columns of these names, in their order."""
        starts, columns = np.array(self.starts, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        return self._written(list(names), starts, columns, n_rows, np.zeros(len(self.names), dtype=bool))

    def _written(self, kept: list[str], starts: I64, columns: I64, n_rows: int, rare: BOOL) -> Table:
        place = _places(self.names, kept)
        counted = _counted(starts, (rare | (place < 0))[columns], n_rows)
        inside = place[columns] >= 0
        starts, columns = starts[inside], place[columns[inside]]
        lengths = np.array(self.ends, dtype=np.int64)[inside] - starts
        before = np.cumsum(lengths) - lengths
        rows = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
        matrix = np.zeros((n_rows, len(kept)), dtype=np.float32)
        matrix[rows, np.repeat(columns, lengths)] = 1.0
        return Table(matrix, kept, *counted)


def _kept(columns: I64, group: I64, n: int, most: int) -> tuple[I64, BOOL]:
    """Columns to keep of n, and whether each is so rare that it would not be one without any one group that has it.

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
    return kept, groups <= LEAST


def _places(names: dict[str, int], kept: Sequence[str]) -> I64:
    """The new place of each column; -1 left out."""
    place = np.full(len(names), -1, dtype=np.int64)
    for new, name in enumerate(kept):
        old = names.get(name)
        if old is not None:
            place[old] = new
    return place


def _counted(rows: I64, new: BOOL, n_rows: int) -> tuple[F64, F64]:
    return np.bincount(rows, minlength=n_rows).astype(np.float64), np.bincount(rows, new, n_rows).astype(np.float64)


def _beyond(size: I64, most: int) -> I64:
    """The largest, at most `most` of them: those larger than the first that finds no place."""
    return np.flatnonzero(size > np.sort(size)[-most - 1])


def numbered(values: Sequence[object]) -> I64:
    """Equal values get equal numbers, counted from 0 in order of appearance."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
