"""The packed rows of trajectories: columns for scoring, evidence for graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, select

from trajcredit.batching import Columns
from trajcredit.errors import NotFoundError
from trajcredit.graph import SpanGraph
from trajcredit.model import Trajectory
from trajcredit.store.bulk import among
from trajcredit.store.evidence import graph_of
from trajcredit.store.packing import Fetch, unpacked_columns
from trajcredit.store.tables import packed, trajectories

__all__ = ["columns_of_keys", "columns_where", "graphs_of_keys", "sizes_where"]


def sizes_where(conn: Connection, matching: ColumnElement[bool]) -> tuple[list[int], list[int]]:
    """The numbers of spans and of edges of all matching trajectories, in the order they were stored."""
    c = trajectories.c
    rows = conn.execute(select(c.n_spans, c.n_edges).where(matching).order_by(c.key)).all()
    return [row[0] for row in rows], [row[1] for row in rows]


def columns_where(conn: Connection, matching: ColumnElement[bool], n: Sequence[int], m: Sequence[int]) -> Columns:
    """The columns of all matching trajectories, in the order they were stored; n, m: their spans and edges."""
    query = select(packed.c.tools, packed.c.columns).join(trajectories, packed.c.trajectory == trajectories.c.key)
    rows = conn.execute(query.where(matching).order_by(trajectories.c.key))
    return _columns(n, m, rows.fetchmany)


def columns_of_keys(conn: Connection, keys: Sequence[int]) -> Columns:
    """The columns of the trajectories of these keys, in their order."""
    return _of_rows(_rows(conn, keys))


def graphs_of_keys(conn: Connection, keys: Sequence[int], documents: Sequence[Trajectory]) -> list[SpanGraph]:
    """The graph of each, on its document, in their order."""
    rows = _rows(conn, keys, packed.c.evidence)
    columns = _of_rows(rows)
    return [graph_of(t, columns, at, row.evidence) for at, (t, row) in enumerate(zip(documents, rows, strict=True))]


def _rows(conn: Connection, keys: Sequence[int], *more: ColumnElement[Any]) -> list[Row[*tuple[Any, ...]]]:
    """The packed rows of these keys, in their order."""
    query = _PACKED.add_columns(*more).where(among(conn, trajectories.c.key, keys)).order_by(trajectories.c.key)
    found = {row.key: row for row in conn.execute(query)}
    try:
        return [found[key] for key in keys]
    except KeyError as error:
        raise NotFoundError("a trajectory was deleted or replaced in the meantime") from error


def _of_rows(rows: Sequence[Row[*tuple[Any, ...]]]) -> Columns:
    rest = iter([(row.tools, row.columns) for row in rows])
    return _columns(
        [row.n_spans for row in rows], [row.n_edges for row in rows], lambda count: list(islice(rest, count))
    )


def _columns(n: Sequence[int], m: Sequence[int], fetch: Fetch) -> Columns:
    return unpacked_columns(np.array(n, dtype=np.int64), np.array(m, dtype=np.int64), fetch)


_PACKED = select(
    trajectories.c.key, trajectories.c.n_spans, trajectories.c.n_edges, packed.c.tools, packed.c.columns
).join(packed, packed.c.trajectory == trajectories.c.key)
