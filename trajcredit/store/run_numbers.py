"""Runs among their own: the short number of each in its project, how many are fresh, and those a dead process left."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select, update

from trajcredit.store.bulk import among
from trajcredit.store.tables import credit_rows, run_tools, runs

__all__ = ["fresh", "numbers", "requeue"]


def numbers(conn: Connection, project: str, ids: Sequence[str]) -> dict[str, int]:
    """The number of each run in its project, the first is 1: what people call it (#17)."""
    before = runs.alias()
    count = select(func.count()).where(before.c.project == project, before.c.key <= runs.c.key).scalar_subquery()
    query = select(runs.c.id, count).where(runs.c.project == project, among(conn, runs.c.id, ids)).order_by(runs.c.key)
    return {row[0]: row[1] for row in conn.execute(query)}


def fresh(conn: Connection, project: str) -> int:
    """How many finished runs of the project are not stale."""
    c = runs.c
    query = select(func.count()).where(c.project == project, c.state == "done", c.stale.is_(None))
    return conn.scalar(query) or 0


def requeue(conn: Connection) -> int:
    """Queue the runs again that are said to run; how many. For whoever knows that nobody works on them.

    What they had saved is forgotten: the rewards may be others now, and a run sees one state of them.
    """
    left = list(conn.scalars(select(runs.c.key).where(runs.c.state == "running")))
    if left:
        for table in (credit_rows, run_tools):
            conn.execute(delete(table).where(among(conn, table.c.run, left)))
        of_inputs = ("total", "watermark", "override_watermark", "reward_used")
        asked = ("critic", "critic_fingerprint", "judge", "judge_fingerprint")
        nothing = dict.fromkeys((*of_inputs, *asked, "started", "stale"))
        again = {"state": "queued", "done": 0, **nothing}
        conn.execute(update(runs).where(among(conn, runs.c.key, left)).values(**again))
    return len(left)
