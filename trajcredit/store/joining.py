"""Runs whose groups gained a member after they had read them: what they scored was compared with too few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select, tuple_

from trajcredit.store import runs
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.runs import Run
from trajcredit.store.tables import credit_rows, trajectories
from trajcredit.store.tables import runs as run_rows

__all__ = ["Across", "mark_if_joined", "mark_joined"]

Across: TypeAlias = Callable[[Run], bool]
"""Whether a run compares across groups, so that every trajectory it would read is a member of what it scored."""

JOINED = "a trajectory joined a group it scored"
ADDED = "a trajectory was added, and it compares across groups"
COLUMNS = {"group": "own_group"}
"""Fields that make a group, where their column has another name."""


def mark_joined(conn: Connection, project: str, ids: Sequence[str], across: Across) -> None:
    """Finished runs that would read one of these new trajectories (our ids) beside those they scored are stale."""
    alike: dict[tuple[Filters, str | None, bool], list[Run]] = {}
    for run in runs.fresh(conn, project) if ids else ():
        alike.setdefault((run.asked.filters, run.asked.group_by, across(run)), []).append(run)
    newcomers = among(conn, trajectories.c.id, ids)
    for (_, _, compares), some in alike.items():
        _mark(conn, some, newcomers, compares)


def mark_if_joined(conn: Connection, run: Run, across: Across) -> None:
    """The same of a run about to finish and what was stored since it read its inputs."""
    key = select(run_rows.c.key).where(run_rows.c.id == run.id).scalar_subquery()
    read = select(func.max(credit_rows.c.trajectory)).where(credit_rows.c.run == key)
    newest = func.coalesce(read.scalar_subquery(), 0)  # a newcomer's key is greater than all that were there
    _mark(conn, [run], trajectories.c.key > newest, across(run))


def _mark(conn: Connection, some: Sequence[Run], newcomers: ColumnElement[bool], compares: bool) -> None:
    """Of runs that ask for the same, those that scored any of what the newcomers are compared with."""
    project, asked, ids = some[0].project, some[0].asked, [run.id for run in some]
    wanted = and_(conditions(conn, project, asked.filters), newcomers)
    if not compares:
        scored = select(credit_rows.c.run).where(credit_rows.c.trajectory.in_(_mates(project, asked.group_by, wanted)))
        runs.mark(conn, ids, JOINED, scored)
    elif conn.scalar(select(exists().where(wanted))):
        runs.mark(conn, ids, ADDED)


def _mates(project: str, by: str | None, wanted: ColumnElement[bool]) -> Select[int]:
    """Keys of all in the groups of the wanted; who lacks a field asked for is alone, as NULL is in no list."""
    mate = trajectories.alias("mate")
    names = ["group_key"] if by is None else [COLUMNS.get(name, name) for name in by.split("+")]
    theirs = select(*(trajectories.c[name] for name in names)).where(wanted)
    return select(mate.c.key).where(mate.c.project == project, tuple_(*(mate.c[name] for name in names)).in_(theirs))
