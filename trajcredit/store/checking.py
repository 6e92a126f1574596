"""`db check`: whether the file is sound, every row belongs to something, and every block says what its rows say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec
import zstandard
from sqlalchemy import Connection, exists, func, or_, select

from trajcredit.errors import TrajcreditError
from trajcredit.store.bulk import among
from trajcredit.store.documents import documents_of_keys
from trajcredit.store.keeping import content_digest
from trajcredit.store.logs import decompress
from trajcredit.store.outcomes import Outcome, outcomes
from trajcredit.store.packed import columns_of_keys, graphs_of_keys
from trajcredit.store.rewards import rewards_of_keys
from trajcredit.store.tables import (
    credit_rows,
    documents,
    edges,
    labels,
    logs,
    packed,
    runs,
    spans,
    tool_use,
    trajectories,
)

__all__ = ["Checked", "check"]

CHUNK = 500
BROKEN = (TrajcreditError, msgspec.MsgspecError, zstandard.ZstdError, ValueError, IndexError, KeyError)
"""What decoding raises when the bytes are not those that were stored."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How much was looked at, and a sentence for everything that is wrong."""

    logs: int
    trajectories: int
    credits: int
    problems: tuple[str, ...]


def check(conn: Connection) -> Checked:
    """Look at everything, of all projects."""
    log_count, trajectory_count, credit_count = (
        conn.scalar(select(func.count()).select_from(table)) or 0 for table in (logs, trajectories, credit_rows)
    )
    problems = [*_file(conn), *_rows(conn), *_credits(conn), *_labels(conn), *_logs(conn), *_trajectories(conn)]
    return Checked(log_count, trajectory_count, credit_count, tuple(problems))


def _file(conn: Connection) -> Iterator[str]:
    """What SQLite says of its own pages and references; PostgreSQL keeps its own in order."""
    if conn.dialect.name == "sqlite":
        for (said,) in conn.exec_driver_sql("PRAGMA integrity_check").all():
            if said != "ok":
                yield f"the file: {said}"
        for table, row, parent, _ in conn.exec_driver_sql("PRAGMA foreign_key_check").all():
            yield f"{table}: row {row} belongs to no row of {parent}"


def _rows(conn: Connection) -> Iterator[str]:
    """Rows that belong to no trajectory, and trajectories without all of their rows."""
    t = trajectories.c
    for table in (spans, edges, tool_use):
        orphans = select(table.c.trajectory).where(~exists().where(t.key == table.c.trajectory)).distinct()
        for key in conn.scalars(orphans.order_by(table.c.trajectory)).all():
            yield f"{table.name}: rows of trajectory {key}, which is not there"
    for table, said in ((spans, t.n_spans), (edges, t.n_edges)):
        count = select(func.count()).where(table.c.trajectory == t.key).scalar_subquery()
        for name, expected, found in conn.execute(select(t.id, said, count).where(said != count).order_by(t.key)):
            yield f"trajectory {name}: {found} rows in {table.name}, not {expected}"
    for table in (documents, packed):
        missing = select(t.id).where(~exists().where(table.c.trajectory == t.key)).order_by(t.key)
        for name in conn.scalars(missing).all():
            yield f"trajectory {name}: no row in {table.name}"


def _credits(conn: Connection) -> Iterator[str]:
    c, t = credit_rows.c, trajectories.c
    wrong = or_(
        func.length(c.credit) != 8 * t.n_spans,
        func.length(c.advantage) != 8 * t.n_spans,
        func.length(c.forecasts) != 24 * t.n_spans,  # null where the run asked no critic
    )
    query = select(c.run, t.id).join(trajectories, t.key == c.trajectory).where(wrong).order_by(c.run, t.key)
    for run, name in conn.execute(query):
        yield f"trajectory {name}: the credit of run {run} is not as long as its spans"
    lacking = select(c.run, t.id).join(trajectories, t.key == c.trajectory).join(runs, runs.c.key == c.run)
    query = lacking.where(runs.c.critic.is_not(None), c.forecasts.is_(None)).order_by(c.run, t.key)
    for run, name in conn.execute(query):
        yield f"trajectory {name}: run {run} kept nothing of what its critic said"


def _labels(conn: Connection) -> Iterator[str]:
    """Labels of spans that no policy wrote."""
    said, s, t = labels.c, spans.c, trajectories.c
    action = exists().where(s.trajectory == said.trajectory, s.span == said.span, s.is_action == 1)
    query = select(t.id, said.span).join(trajectories, t.key == said.trajectory).where(~action).order_by(said.id)
    for name, span in conn.execute(query):
        yield f"trajectory {name}: a label of span {span}, which is no action of it"


def _logs(conn: Connection) -> Iterator[str]:
    """Logs that are not what their hash says; one at a time, they may be large."""
    for project, sha in conn.execute(select(logs.c.project, logs.c.sha256).order_by(*logs.primary_key)).all():
        data = conn.scalar(select(logs.c.data).where(logs.c.project == project, logs.c.sha256 == sha))
        try:
            sound = data is not None and sha256(decompress(data)).hexdigest() == sha
        except zstandard.ZstdError:
            sound = False
        if not sound:
            yield f"raw log {sha} of project {project!r}: its bytes have another hash"


def _trajectories(conn: Connection) -> Iterator[str]:
    """Trajectories whose document, packed row, rewards and head do not say the same."""
    t, last = trajectories.c, 0
    while keys := list(conn.scalars(select(t.key).where(t.key > last).order_by(t.key).limit(CHUNK))):
        try:
            yield from _disagreements(conn, keys)
        except BROKEN:
            yield from _one_by_one(conn, keys)
        last = keys[-1]


def _one_by_one(conn: Connection, keys: Sequence[int]) -> Iterator[str]:
    """The same where one of them cannot be decoded: which."""
    for key in keys:
        try:
            yield from _disagreements(conn, [key])
        except BROKEN as error:
            name = conn.scalar(select(trajectories.c.id).where(trajectories.c.key == key))
            yield f"trajectory {name}: cannot be read: {error}"


def _disagreements(conn: Connection, keys: Sequence[int]) -> list[str]:
    t = trajectories.c
    heads = conn.execute(
        select(t.id, t.content_sha256, t.dataset, t.n_spans, t.outcome, t.outcome_source, documents.c.line)
        .join(documents, documents.c.trajectory == t.key)
        .where(among(conn, t.key, keys))
        .order_by(t.key)
    ).all()
    found = documents_of_keys(conn, keys)
    graphs_of_keys(conn, keys, found)
    given = rewards_of_keys(conn, keys)
    worked_out = outcomes([given.get(key, []) for key in keys], columns_of_keys(conn, keys))
    problems = []
    for head, document, outcome in zip(heads, found, worked_out, strict=True):
        if content_digest(decompress(head.line), head.dataset) != head.content_sha256:
            problems.append(f"trajectory {head.id}: its document has another hash")
        if len(document.spans) != head.n_spans:
            problems.append(f"trajectory {head.id}: {len(document.spans)} spans in its document, not {head.n_spans}")
        if Outcome(head.outcome, head.outcome_source) != outcome:
            problems.append(f"trajectory {head.id}: outcome {head.outcome}, and its rewards say {outcome.value}")
    return problems
