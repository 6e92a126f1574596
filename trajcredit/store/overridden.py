"""Which overrides of edges are the newest of their pair, and which trajectories have one in force: the SQL of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from trajcredit.store.bulk import among
from trajcredit.store.tables import overrides, trajectories

__all__ = ["counts", "has_any", "newest_of_pairs"]

WITHDRAWN = "withdraw"


def newest_of_pairs(some: ColumnElement[bool], upto: int | None = None) -> Select[tuple[Any, ...]]:
    """The newest row of every pair among some rows, of those numbered `upto` at most; in the order they came."""
    o = overrides.c
    last = select(func.max(o.id)).where(some).group_by(o.trajectory, o.parent, o.child)
    if upto is not None:
        last = last.where(o.id <= upto)
    return select(overrides).where(o.id.in_(last)).order_by(o.id)


def counts(conn: Connection, ids: Sequence[str]) -> dict[str, int]:
    """How many pairs of each trajectory (our ids) have an override in force; none, no entry."""
    t = trajectories.c
    keys = select(t.key).where(among(conn, t.id, ids))
    said = newest_of_pairs(overrides.c.trajectory.in_(keys)).order_by(None).subquery()
    query = select(t.id, func.count()).join(said, said.c.trajectory == t.key).where(said.c.action != WITHDRAWN)
    return {row[0]: row[1] for row in conn.execute(query.group_by(t.id))}


def has_any(project: str) -> ColumnElement[bool]:
    """Whether a row of the table of trajectories has an override in force."""
    said = newest_of_pairs(overrides.c.project == project).order_by(None).subquery()
    return trajectories.c.key.in_(select(said.c.trajectory).where(said.c.action != WITHDRAWN))
