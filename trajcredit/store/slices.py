"""Packed columns of many trajectories with what some runs say of them, a few hundred at a time, for dashboards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection, and_, func, select

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Columns
from trajcredit.graph.overrides import Override
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.outcomes import action_mask
from trajcredit.store.overrides import Edits, in_force
from trajcredit.store.packed import columns_of_keys
from trajcredit.store.tables import credit_rows, runs, spans, trajectories

__all__ = ["Member", "Newest", "Slice", "newest", "overrides_of", "sizes_of", "slices"]

CHUNK = 500
"""Trajectories in memory at a time."""


@dataclass(frozen=True, slots=True)
class Member:
    """A trajectory of the filter, as lists show it. `key` is of this database and never leaves the store."""

    key: int
    id: str
    external_id: str
    group_key: str
    outcome: float | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest trajectories of a filter, in the order they were stored, and of how many they are the newest."""

    members: tuple[Member, ...]
    matching: int
    cut_groups: frozenset[str]
    """Keys of the groups that have older members too, which are not among these."""


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Some consecutive trajectories, T of N spans end to end, and what R runs say of them.

    columns  with the edges that were derived: whoever follows edges puts `overrides_of` into them first
    actions  bool[N]
    credit   f64[R, N]  NaN where a run scored nothing
    read     bool[R, T] whether the run read the trajectory at all
    """

    members: tuple[Member, ...]
    columns: Columns
    actions: BOOL
    credit: F64
    read: BOOL

    @property
    def offsets(self) -> I64:
        """i64[T+1]: trajectory t owns spans offsets[t]:offsets[t+1]."""
        return self.columns.span_offsets

    @property
    def owner(self) -> I64:
        """i64[N]: the trajectory of each span."""
        return np.repeat(np.arange(len(self.members)), np.diff(self.offsets))


def newest(conn: Connection, project: str, filters: Filters, most: int) -> Newest:
    """At most so many trajectories of a filter, the last stored."""
    t = trajectories.c
    matching = conditions(conn, project, filters)
    query = select(t.key, t.id, t.external_id, t.group_key, t.outcome, t.outcome_source)
    rows = conn.execute(query.where(matching).order_by(t.key.desc()).limit(most)).all()[::-1]
    total = conn.scalar(select(func.count()).where(matching)) or 0
    cut: frozenset[str] = frozenset()
    if total > len(rows):
        older = select(t.group_key).where(and_(matching, t.key < rows[0][0])).distinct()
        cut = frozenset(conn.scalars(older)) & {row[3] for row in rows}
    return Newest(tuple(Member(*row) for row in rows), total, cut)


def slices(conn: Connection, found: Newest, of_runs: Sequence[str]) -> Iterator[Slice]:
    """These trajectories with the credits of these runs (our ids), CHUNK at a time."""
    names = conn.execute(select(runs.c.key, runs.c.id).where(among(conn, runs.c.id, of_runs)))
    place = {key: of_runs.index(name) for key, name in names}
    for start in range(0, len(found.members), CHUNK):
        members = found.members[start : start + CHUNK]
        columns = columns_of_keys(conn, [member.key for member in members])
        credit, read = _credits(conn, members, columns.span_offsets, place, len(of_runs))
        yield Slice(members, columns, action_mask(columns), credit, read)


def overrides_of(conn: Connection, project: str, some: Slice, edits: Edits) -> dict[int, list[Override]]:
    """The overrides of edges in force, by the place of their trajectory; none, no entry."""
    return in_force(conn, project, [(member.key, member.id) for member in some.members], edits)


def sizes_of(conn: Connection, some: Slice) -> I64:
    """i64[N]: characters of every span."""
    keys = [member.key for member in some.members]
    query = select(spans.c.trajectory, spans.c.span, spans.c.size).where(among(conn, spans.c.trajectory, keys))
    first = dict(zip(keys, some.offsets.tolist(), strict=False))
    sizes = np.zeros(len(some.actions), dtype=np.int64)
    rows = np.array(list(map(tuple, conn.execute(query))), dtype=np.int64).reshape(-1, 3)
    for key, (start, stop) in zip(*_runs_of(rows[:, 0]), strict=True):
        sizes[first[int(key)] + rows[start:stop, 1]] = rows[start:stop, 2]
    return sizes


def _credits(
    conn: Connection, members: Sequence[Member], offsets: I64, place: Mapping[int, int], n_runs: int
) -> tuple[F64, BOOL]:
    """Credit f64[R, N] and which run read which trajectory, bool[R, T]; `place`: key of a run -> its row."""
    credit, read = np.full((n_runs, int(offsets[-1])), np.nan), np.zeros((n_runs, len(members)), dtype=bool)
    at = {member.key: t for t, member in enumerate(members)}
    c = credit_rows.c
    said = select(c.run, c.trajectory, c.credit).where(
        among(conn, c.run, list(place)), among(conn, c.trajectory, list(at))
    )
    for run, trajectory, blob in conn.execute(said):
        r, t = place[run], at[trajectory]
        credit[r, offsets[t] : offsets[t + 1]] = np.frombuffer(blob, dtype="<f8")
        read[r, t] = True
    return credit, read


def _runs_of(values: I64) -> tuple[I64, list[tuple[int, int]]]:
    """Each stretch of equal values: the value, and where the stretch begins and ends."""
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]][: len(values)])
    return values[starts], list(pairwise([*starts.tolist(), len(values)]))
