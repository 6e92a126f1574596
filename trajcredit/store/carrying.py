"""Labels of trajectories that others take the place of: they go along where every span is the same.

A label is about a span. Where spans differ nobody knows what it would say of the new ones, so it is dropped, and told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from trajcredit.model import decode
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.documents import documents_of_keys
from trajcredit.store.keeping import Kept
from trajcredit.store.logs import decompress
from trajcredit.store.tables import labels, trajectories

__all__ = ["Lifted", "lift", "put_down"]

_ROW = ("project", "trajectory", "span", "verdict", "labeller", "note", "blind", "seconds", "queue", "at")
_SAID = _ROW[2:]


@dataclass(frozen=True, slots=True)
class Lifted:
    """Labels on their way, each with the name of its trajectory; and how many of which trajectory do not go along."""

    rows: tuple[tuple[str, tuple[Any, ...]], ...]
    dropped: dict[str, int]


def lift(conn: Connection, replaced: Sequence[tuple[int, Kept]]) -> Lifted:
    """The labels of trajectories (keys) that are about to be removed for others."""
    keys = [key for key, _ in replaced]
    said = labels.c
    query = select(said.trajectory, *(said[name] for name in _SAID)).where(among(conn, said.trajectory, keys))
    rows = conn.execute(query.order_by(said.id)).all() if keys else []
    labelled = {row.trajectory for row in rows}
    new = {key: item for key, item in replaced if key in labelled}
    same = {key for key, item in new.items() if _spans_are_same(conn, key, item)}
    dropped = Counter(new[row.trajectory].external_id for row in rows if row.trajectory not in same)
    kept = [(new[row.trajectory].external_id, tuple(row)[1:]) for row in rows if row.trajectory in same]
    return Lifted(tuple(kept), dict(dropped))


def put_down(conn: Connection, project: str, lifted: Lifted) -> None:
    """Add them to the trajectories that have those names now, in the order they had."""
    if not lifted.rows:
        return
    t = trajectories.c
    names = sorted({name for name, _ in lifted.rows})
    query = select(t.external_id, t.key).where(t.project == project, among(conn, t.external_id, names))
    keys: dict[str, int] = {row.external_id: row.key for row in conn.execute(query)}
    insert_many(conn, labels, _ROW, [(project, keys[name], *said) for name, said in lifted.rows])


def _spans_are_same(conn: Connection, key: int, item: Kept) -> bool:
    return documents_of_keys(conn, [key])[0].spans == decode(decompress(item.line)).spans
