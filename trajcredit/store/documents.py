"""Stored trajectories as they were: head, document, graph, skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection, select

from trajcredit.graph import SpanGraph, with_overrides
from trajcredit.model import Note, Origin, SpawnedBy, Trajectory, decode
from trajcredit.store.bulk import among
from trajcredit.store.ids import find, find_all
from trajcredit.store.logs import decompress
from trajcredit.store.overrides import ALL, Edits, in_force
from trajcredit.store.packed import graphs_of_keys
from trajcredit.store.pages import LISTED, Listed
from trajcredit.store.tables import documents, edges, spans, trajectories

__all__ = [
    "EdgeRow",
    "Skeleton",
    "SpanRow",
    "Stored",
    "document",
    "documents_of_keys",
    "graph",
    "graphs",
    "head",
    "skeleton",
]

CHUNK = 500
"""Trajectories whose rows are in memory beside their graphs at a time."""
_decode_report = msgspec.json.Decoder(list[Note]).decode
_decode_source = msgspec.json.Decoder(Origin).decode


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything about a trajectory but its spans."""

    listed: Listed
    own_group: str | None
    """The group the log names."""
    terminated: bool | None
    truncated: bool | None
    bootstrap: float | None
    answer: str | None
    parent: SpawnedBy | None
    report: tuple[Note, ...]
    source: Origin | None
    raw_sha256: str | None
    record: int | None
    """The line or record of the raw log it was read from."""
    content_sha256: str


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span without its text. `size` counts the characters of `model.body`."""

    span: int
    kind: str
    turn: int
    tool: str | None
    is_action: bool
    is_write: bool
    is_error: bool
    size: int


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge without its evidence."""

    child: int
    parent: int
    kind: str
    weight: float
    rule: str


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Spans in order; edges by child, then parent."""

    spans: tuple[SpanRow, ...]
    edges: tuple[EdgeRow, ...]


def head(conn: Connection, project: str, ref: str) -> Stored:
    """What is known of a trajectory without opening its document."""
    t = trajectories.c
    row = conn.execute(select(trajectories).where(t.key == find(conn, project, ref).key)).one()
    return Stored(
        listed=Listed(*(row._mapping[name] for name in LISTED)),
        own_group=row.own_group,
        terminated=row.terminated,
        truncated=row.truncated,
        bootstrap=row.bootstrap,
        answer=row.answer,
        parent=None if row.parent_trajectory is None else SpawnedBy(row.parent_trajectory, row.parent_span),
        report=tuple(_decode_report(row.report)),
        source=None if row.source is None else _decode_source(row.source),
        raw_sha256=row.raw_sha256,
        record=row.record,
        content_sha256=row.content_sha256,
    )


def document(conn: Connection, project: str, ref: str) -> Trajectory:
    """The trajectory, equal to the one that was stored."""
    return documents_of_keys(conn, [find(conn, project, ref).key])[0]


def graph(conn: Connection, project: str, ref: str, edits: Edits | None = ALL) -> SpanGraph:
    """The trajectory with the graph that was built when it was stored; `edits`: the overrides in force, null: none."""
    return graphs(conn, project, [ref], edits)[0]


def graphs(conn: Connection, project: str, refs: Sequence[str], edits: Edits | None = ALL) -> list[SpanGraph]:
    """The graph of each trajectory, in their order."""
    own = [(one.key, one.id) for one in find_all(conn, project, refs)]
    edited = {} if edits is None else in_force(conn, project, own, edits)
    found: list[SpanGraph] = []
    for first in range(0, len(own), CHUNK):
        some = [key for key, _ in own[first : first + CHUNK]]
        found += graphs_of_keys(conn, some, documents_of_keys(conn, some))
    return [with_overrides(graph, edited.get(t, ())) for t, graph in enumerate(found)]


def skeleton(conn: Connection, project: str, ref: str) -> Skeleton:
    """Spans and edges without text."""
    key = find(conn, project, ref).key
    s, e = spans.c, edges.c
    span_rows = conn.execute(
        select(s.span, s.kind, s.turn, s.tool, s.is_action, s.is_write, s.is_error, s.size)
        .where(s.trajectory == key)
        .order_by(s.span)
    )
    edge_rows = conn.execute(
        select(e.child, e.parent, e.kind, e.weight, e.rule).where(e.trajectory == key).order_by(e.child, e.parent)
    )
    return Skeleton(
        tuple(
            SpanRow(r.span, r.kind, r.turn, r.tool, bool(r.is_action), bool(r.is_write), bool(r.is_error), r.size)
            for r in span_rows
        ),
        tuple(EdgeRow(*row) for row in edge_rows),
    )


def documents_of_keys(conn: Connection, keys: Sequence[int]) -> list[Trajectory]:
    """The trajectory of each key, in their order."""
    t = trajectories.c
    query = (
        select(t.key, documents.c.line, t.report, t.source)
        .join(documents, documents.c.trajectory == t.key)
        .where(among(conn, t.key, keys))
        .order_by(t.key)
    )
    found = {row.key: row for row in conn.execute(query)}
    return [_document(found[key].line, found[key].report, found[key].source) for key in keys]


def _document(line: bytes, report: str, source: str | None) -> Trajectory:
    origin = None if source is None else _decode_source(source)
    return replace(decode(decompress(line)), report=_decode_report(report), source=origin)
