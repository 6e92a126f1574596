"""One span's numbers in every finished run, without reading what the runs say of the other spans."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from struct import unpack

from sqlalchemy import Connection, func, select

from trajcredit.store.ids import find
from trajcredit.store.tables import credit_rows, runs

__all__ = ["SpanNumbers", "of_span"]


@dataclass(frozen=True, slots=True)
class SpanNumbers:
    """What one run says of one span; null where it did not score it."""

    run: str
    attributor: str
    label: str
    stale: str | None
    """What came after it."""
    credit: float | None
    advantage: float | None


def of_span(conn: Connection, project: str, ref: str, span: int, most: int = 100) -> list[SpanNumbers]:
    """Finished runs that scored the trajectory, the newest first, at most so many; of one label only the newest."""
    trajectory = find(conn, project, ref)
    if not 0 <= span < trajectory.n_spans:
        return []
    c = credit_rows.c
    pieces = (func.substr(column, 8 * span + 1, 8) for column in (c.credit, c.advantage))
    scored = (runs.c.project == project, runs.c.state == "done", c.trajectory == trajectory.key, c.n_scored > 0)
    newest = select(func.max(runs.c.key)).join(credit_rows, c.run == runs.c.key).where(*scored).group_by(runs.c.label)
    query = (
        select(runs.c.id, runs.c.attributor, runs.c.label, runs.c.stale, *pieces)
        .join(credit_rows, c.run == runs.c.key)
        .where(runs.c.key.in_(newest), c.trajectory == trajectory.key)
        .order_by(runs.c.key.desc())
        .limit(most)
    )
    return [
        SpanNumbers(run, attributor, label, stale, _number(credit), _number(advantage))
        for run, attributor, label, stale, credit, advantage in conn.execute(query)
    ]


def _number(piece: bytes) -> float | None:
    (value,) = unpack("<d", piece)
    return None if isnan(value) else value
