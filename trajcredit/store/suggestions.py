"""What there is to filter by: the tools of a project, the most frequent first."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from trajcredit.store.border import clean
from trajcredit.store.packing import tools_from
from trajcredit.store.tables import packed, tool_use, trajectories

__all__ = ["Counted", "declared", "tools"]


@dataclass(frozen=True, slots=True)
class Counted:
    """A name, and how many trajectories have it."""

    name: str
    count: int


def tools(conn: Connection, project: str, prefix: str, most: int) -> list[Counted]:
    """Tools by how many trajectories called them."""
    return _counted(conn, tool_use.c.tool, tool_use.c.project == project, prefix, most)


def declared(conn: Connection, project: str) -> set[str]:
    """Every tool that some trajectory could call: those it declares, else those it used."""
    sets = select(packed.c.tools).join(trajectories, trajectories.c.key == packed.c.trajectory)
    texts = conn.scalars(sets.where(trajectories.c.project == project).distinct())
    return {name for text in texts for name in tools_from(text).offered}


def _counted(
    conn: Connection, column: ColumnElement[str], where: ColumnElement[bool], prefix: str, most: int
) -> list[Counted]:
    """At most so many names that begin so; compared as text, so that no character is a pattern."""
    prefix, count = clean(prefix), func.count()
    query = select(column, count).where(where).group_by(column).order_by(count.desc(), column).limit(most)
    if prefix:
        query = query.where(column >= prefix, func.substr(column, 1, len(prefix)) == prefix)
    return [Counted(*row) for row in conn.execute(query)]
