"""Credits of a run: two arrays a trajectory, what lists show of them, and sums a tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, select, tuple_, update

from trajcredit.arrays import BOOL, F64, I64, offsets_of
from trajcredit.batching import Batch
from trajcredit.errors import InputError, NotFoundError
from trajcredit.store.border import clean, finite
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.forecasts import blocks
from trajcredit.store.ids import find
from trajcredit.store.runs import Run
from trajcredit.store.scores import ToolSums, extremes, strip, tool_sums
from trajcredit.store.tables import credit_rows, run_tools, runs, spans, trajectories

__all__ = [
    "Extreme",
    "Piece",
    "Scored",
    "Summary",
    "by_tool",
    "credits_of",
    "each",
    "pieces",
    "said_of",
    "save",
    "summaries",
]

CHUNK = 500
"""Trajectories read at a time where a whole run is."""
_ROW = (
    "run",
    "trajectory",
    "group_name",
    "n_scored",
    "low",
    "low_span",
    "high",
    "high_span",
    "abs_sum",
    "credit",
    "advantage",
    "forecasts",
)
_SHOWN = ("trajectory", "group_name", "n_scored", "low", "low_span", "high", "high_span", "abs_sum", "credit")
"""What a summary is made from."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One trajectory's credit in a run: f64, one number a span, NaN where nothing was scored. `id` is ours."""

    id: str
    external_id: str
    group_name: str
    """As the run grouped it."""
    credit: F64
    advantage: F64


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The same of some trajectories, end to end: trajectory t owns spans offsets[t]:offsets[t+1]."""

    ids: tuple[str, ...]
    external_ids: tuple[str, ...]
    group_names: tuple[str, ...]
    offsets: I64
    credit: F64
    advantage: F64


@dataclass(frozen=True, slots=True)
class Extreme:
    """The span with the lowest or the highest credit, the first of equal ones."""

    span: int
    tool: str | None
    credit: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a trajectory's credit. Nothing scored: no lowest, no highest."""

    group_name: str
    n_scored: int
    low: Extreme | None
    high: Extreme | None
    abs_sum: float | None
    strip: tuple[float | None, ...]

    @property
    def top(self) -> Extreme | None:
        """The span whose credit is furthest from zero, the first of equal ones."""
        if self.low is None or self.high is None:
            return None
        return max((self.low, self.high), key=lambda one: (abs(one.credit), -one.span))


def save(
    conn: Connection,
    run: str,
    ids: Sequence[str],
    batch: Batch,
    credit: F64,
    advantage: F64,
    forecasts: F64 | None = None,
) -> int:
    """Keep what a run says of a batch, `ids` being our ids in its order; how many trajectories that added.

    credit, advantage  f64[N]
    forecasts          f64[3, N]  what its critic said (`forecasts.forecasts_of`); null where it asked none

    What the run has said of a trajectory before stays. One that was deleted or replaced since it was read is left out,
    and the run is stale.
    """
    _refuse_infinite(batch, credit, advantage)
    run_key = _running(conn, run)
    rows = conn.execute(select(trajectories.c.id, trajectories.c.key).where(among(conn, trajectories.c.id, ids))).all()
    key_of: dict[str, int] = dict(map(tuple, rows))
    if len(key_of) < len(ids):
        gone = update(runs).where(runs.c.key == run_key, runs.c.stale.is_(None))
        conn.execute(gone.values(stale="a trajectory was replaced or deleted"))
    said = set(conn.scalars(select(credit_rows.c.trajectory).where(credit_rows.c.run == run_key)))
    new = np.array([name in key_of and key_of[name] not in said for name in ids], dtype=bool)
    keys = [key_of.get(name, -1) for name in ids]
    _insert(conn, run_key, keys, batch, (credit, advantage, forecasts), new)
    _add_tools(conn, run_key, tool_sums(batch, credit, new))
    return int(new.sum())


def credits_of(conn: Connection, project: str, run: str, ref: str) -> Scored:
    """What a run says of one trajectory; NotFoundError where it did not score it."""
    trajectory = find(conn, project, ref)
    query = _SCORED.where(runs.c.project == project, runs.c.id == run, credit_rows.c.trajectory == trajectory.key)
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"run {run!r} has no credit for trajectory {ref!r}")
    return Scored(row.id, row.external_id, row.group_name, _joined([row.credit]), _joined([row.advantage]))


def said_of(conn: Connection, run: Run, trajectory: str) -> Scored | None:
    """What a run says of one trajectory, by our id; null where it did not read it."""
    row = conn.execute(_SCORED.where(runs.c.id == run.id, trajectories.c.id == trajectory)).one_or_none()
    if row is None:
        return None
    return Scored(row.id, row.external_id, row.group_name, _joined([row.credit]), _joined([row.advantage]))


def pieces(conn: Connection, project: str, run: str) -> Iterator[Piece]:
    """What a run says of every trajectory, in the order they were stored, a few hundred in memory at a time."""
    key = conn.scalar(select(runs.c.key).where(runs.c.project == project, runs.c.id == run))
    c, last, size = credit_rows.c, 0, CHUNK
    while size == CHUNK:
        # a page first, then its names: a planner that knows nothing of new tables would join all of both each time
        page = select(c.trajectory, c.group_name, c.credit, c.advantage).where(c.run == key, c.trajectory > last)
        own = page.order_by(c.trajectory).limit(CHUNK).subquery()
        query = select(own.c.trajectory, trajectories.c.id, trajectories.c.external_id, *list(own.c)[1:])
        joined = query.join(trajectories, trajectories.c.key == own.c.trajectory).order_by(own.c.trajectory)
        rows = conn.execute(joined).all()
        size = len(rows)
        if rows:
            last = rows[-1].trajectory
            yield _piece(rows)


def each(conn: Connection, project: str, run: str) -> Iterator[Scored]:
    """The same, one trajectory after the other."""
    for piece in pieces(conn, project, run):
        ends = piece.offsets.tolist()
        for t, names in enumerate(zip(piece.ids, piece.external_ids, piece.group_names, strict=True)):
            own = slice(ends[t], ends[t + 1])
            yield Scored(*names, piece.credit[own], piece.advantage[own])


def summaries(conn: Connection, project: str, run: str, ids: Sequence[str]) -> dict[str, Summary]:
    """What lists show of those of the trajectories that the run scored; ids are ours."""
    c = credit_rows.c
    query = (
        select(trajectories.c.id, *(c[name] for name in _SHOWN))
        .join(runs, runs.c.key == c.run)
        .join(trajectories, trajectories.c.key == c.trajectory)
        .where(runs.c.project == project, runs.c.id == run, among(conn, trajectories.c.id, ids))
        .order_by(c.trajectory)
    )
    rows = conn.execute(query).all()
    ends = {(row.trajectory, span) for row in rows for span in (row.low_span, row.high_span) if span is not None}
    places = tuple_(spans.c.trajectory, spans.c.span)
    tools = select(spans.c.trajectory, spans.c.span, spans.c.tool).where(places.in_(sorted(ends)))
    names = {(key, span): tool for key, span, tool in conn.execute(tools)} if ends else {}
    return {row.id: _summary(row, names) for row in rows}


def by_tool(conn: Connection, project: str, run: str) -> dict[str, ToolSums]:
    """The calls of every tool in a run, the lowest sum of credit first."""
    c = run_tools.c
    query = (
        select(c.tool, c.calls, c.scored, c.credit, c.negative, c.errors)
        .join(runs, runs.c.key == c.run)
        .where(runs.c.project == project, runs.c.id == run)
        .order_by(c.credit.asc().nulls_last(), c.tool)
    )
    return {tool: ToolSums(*sums) for tool, *sums in conn.execute(query)}


def _running(conn: Connection, run: str) -> int:
    key: int | None = conn.scalar(select(runs.c.key).where(runs.c.id == run, runs.c.state == "running"))
    if key is None:
        raise InputError(f"run {run!r} does not run (any more): nothing is saved")
    return key


def _refuse_infinite(batch: Batch, *columns: F64) -> None:
    for column in columns:
        at = np.flatnonzero(np.isinf(column))
        if len(at):
            t = batch.trajectory_of(int(at[0]))
            span = int(at[0] - batch.span_offsets[t])
            raise InputError(f"span {span} of trajectory {batch.trajectory_ids[t]!r} got an infinite credit")


def _insert(
    conn: Connection,
    run: int,
    keys: Sequence[int],
    batch: Batch,
    said: tuple[F64, F64, F64 | None],
    new: BOOL,
) -> None:
    credit, advantage, forecasts = said
    kept = [None] * len(keys) if forecasts is None else blocks(batch, forecasts)
    found = extremes(credit, batch.span_offsets)
    ends = (8 * batch.span_offsets).tolist()
    data, scaled = (column.astype("<f8", copy=False).tobytes() for column in (credit, advantage))
    figures = zip(
        found.n.tolist(),
        found.low.tolist(),
        found.low_span.tolist(),
        found.high.tolist(),
        found.high_span.tolist(),
        found.abs_sum.tolist(),
        strict=True,
    )
    groups = [clean(name) for name in batch.group_ids]
    group = batch.group.tolist()
    rows = []
    for t, (n, low, low_span, high, high_span, abs_sum) in enumerate(figures):
        if new[t]:
            blobs = (data[ends[t] : ends[t + 1]], scaled[ends[t] : ends[t + 1]], kept[t])
            shown = (low, low_span, high, high_span, finite(abs_sum)) if n else (None,) * 5
            rows.append((run, keys[t], groups[group[t]], n, *shown, *blobs))
    insert_many(conn, credit_rows, _ROW, rows)


def _add_tools(conn: Connection, run: int, new: dict[str, ToolSums]) -> None:
    c = run_tools.c
    query = select(c.tool, c.calls, c.scored, c.credit, c.negative, c.errors).where(c.run == run)
    known = {tool: ToolSums(*sums) for tool, *sums in conn.execute(query)}
    rows = []
    for tool, own in new.items():
        sums = known[tool] + own if tool in known else own
        rows.append((run, tool, sums.calls, sums.scored, sums.credit, sums.negative, sums.errors))
    conn.execute(delete(run_tools).where(c.run == run, among(conn, c.tool, list(new))))
    insert_many(conn, run_tools, ("run", "tool", "calls", "scored", "credit", "negative", "errors"), rows)


def _piece(rows: Sequence[Row[*tuple[Any, ...]]]) -> Piece:
    _, ids, external_ids, groups, credit, advantage = zip(*rows, strict=True)
    lengths = np.fromiter(map(len, credit), np.int64, len(credit)) // 8
    return Piece(ids, external_ids, groups, offsets_of(lengths), _joined(credit), _joined(advantage))


def _joined(blobs: Sequence[bytes]) -> F64:
    return np.frombuffer(b"".join(blobs), dtype="<f8").astype(np.float64)


def _summary(row: Row[*tuple[Any, ...]], tools: dict[tuple[int, int], str | None]) -> Summary:
    low, high = (
        None if span is None else Extreme(span, tools.get((row.trajectory, span)), value)
        for span, value in ((row.low_span, row.low), (row.high_span, row.high))
    )
    return Summary(row.group_name, row.n_scored, low, high, row.abs_sum, strip(np.frombuffer(row.credit, dtype="<f8")))


_SCORED = (
    select(
        credit_rows.c.trajectory,
        trajectories.c.id,
        trajectories.c.external_id,
        credit_rows.c.group_name,
        credit_rows.c.credit,
        credit_rows.c.advantage,
    )
    .join(trajectories, trajectories.c.key == credit_rows.c.trajectory)
    .join(runs, runs.c.key == credit_rows.c.run)
)
