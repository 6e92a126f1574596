"""What grading needs of the database: finished runs, and the trajectories that labels name."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from trajcredit.graph import SpanGraph
from trajcredit.store import batches, documents, runs
from trajcredit.store.batches import Loaded
from trajcredit.store.ids import EXTERNAL, known
from trajcredit.store.runs import Run

__all__ = ["finished", "named"]

PAGE = 200


def finished(conn: Connection, project: str, every: bool, most: int) -> list[Run]:
    """Finished runs, newest first, at most so many; unless every one is wanted, of one label the newest."""
    found: dict[str, Run] = {}
    cursor: str | None = None
    while True:
        page = runs.page(conn, project, cursor, PAGE)
        for run in page.runs:
            if run.state == "done" and len(found) < most:
                found.setdefault(run.id if every else run.asked.label, run)
        cursor = page.next
        if cursor is None or len(found) == most:
            return list(found.values())


def named(
    conn: Connection, project: str, names: Sequence[str], texts: bool
) -> tuple[Loaded, tuple[SpanGraph, ...] | None]:
    """Those of the trajectories, by the client's ids, that are stored; their graphs too where texts are wanted."""
    ours = [one.id for one in known(conn, project, [EXTERNAL + name for name in names]).values()]
    return batches.load(conn, project, ours), tuple(documents.graphs(conn, project, ours)) if texts else None
