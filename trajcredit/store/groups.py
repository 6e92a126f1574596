"""Groups: the rollouts of one task, and how they ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from sqlalchemy import Connection, func, select

from trajcredit.arrays import F64
from trajcredit.errors import NotFoundError
from trajcredit.model import REWARD_SOURCES, Trajectory
from trajcredit.store.border import finite
from trajcredit.store.bulk import among
from trajcredit.store.documents import documents_of_keys
from trajcredit.store.filters import PASS
from trajcredit.store.ids import find_all
from trajcredit.store.pages import LISTED, Listed
from trajcredit.store.tables import credit_rows, runs, trajectories
from trajcredit.store.tables import documents as kept

__all__ = ["Tally", "by_one_source", "credits", "documents", "members", "rewards", "sizes", "tallies"]

CHUNK = 20
"""Trajectories decoded at a time."""
Given: TypeAlias = tuple[float | None, str | None]
"""An outcome and its source."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rollouts a group has, how many are scored, how many passed, and the mean outcome of the scored.

    Scored by one source, as in a run: rewards of different sources are never added up.
    """

    size: int
    scored: int
    passed: int
    mean: float | None
    source: str | None = field(default=None, compare=False)
    """Whose rewards these are; null where none is scored."""


def members(conn: Connection, project: str, group: str) -> list[Listed]:
    """The trajectories of one group, in the order they were stored."""
    t = trajectories.c
    query = select(*(t[name] for name in LISTED)).where(t.project == project, t.group_key == group).order_by(t.key)
    found = [Listed(*row) for row in conn.execute(query)]
    if not found:
        raise NotFoundError(f"no group {group!r} in project {project!r}")
    return found


def tallies(conn: Connection, project: str, groups: Sequence[str]) -> dict[str, Tally]:
    """How each of some groups did: what a page of trajectories says beside every row.

    Not summed in SQL: PostgreSQL refuses a sum that leaves the range of numbers, and SQLite makes it infinite.
    """
    return {group: _tally(found) for group, found in _outcomes(conn, project, groups).items()}


def rewards(conn: Connection, project: str, groups: Sequence[str]) -> dict[str, list[float | None]]:
    """What each member of some groups got, in the order they were stored: by the most trusted source that any has."""
    return {group: by_one_source(found)[1] for group, found in _outcomes(conn, project, groups).items()}


def by_one_source(outcomes: Sequence[Given]) -> tuple[str | None, list[float | None]]:
    """The most trusted source that any outcome is from, and the outcomes from it; null where another gave it."""
    sources = {source for _, source in outcomes}
    read = next((source for source in REWARD_SOURCES if source in sources), None)
    return read, [outcome if source == read else None for outcome, source in outcomes]


def documents(conn: Connection, project: str, ids: Sequence[str]) -> Iterator[tuple[str, Trajectory]]:
    """The trajectories of these ids of ours, in their order, a few in memory at a time."""
    found = find_all(conn, project, ids)
    for first in range(0, len(found), CHUNK):
        some = found[first : first + CHUNK]
        for one, document in zip(some, documents_of_keys(conn, [one.key for one in some]), strict=True):
            yield one.id, document


def sizes(conn: Connection, project: str, group: str) -> list[int]:
    """Bytes of each member's document as it is kept, in the order they were stored."""
    t = trajectories.c
    query = select(func.length(kept.c.line)).join(trajectories, t.key == kept.c.trajectory)
    return list(conn.scalars(query.where(t.project == project, t.group_key == group).order_by(t.key)))


def credits(conn: Connection, run: str, ids: Sequence[str]) -> dict[str, F64]:  # noqa: A001 - the noun of the program
    """What a run says of some trajectories, by our ids: f64, one number a span; without those it did not read."""
    c, t = credit_rows.c, trajectories.c
    query = select(t.id, c.credit).join(runs, runs.c.key == c.run).join(trajectories, t.key == c.trajectory)
    rows = conn.execute(query.where(runs.c.id == run, among(conn, t.id, ids)))
    return {name: np.frombuffer(credit, dtype="<f8") for name, credit in rows}


def _outcomes(conn: Connection, project: str, groups: Sequence[str]) -> dict[str, list[Given]]:
    t = trajectories.c
    query = (
        select(t.group_key, t.outcome, t.outcome_source)
        .where(t.project == project, among(conn, t.group_key, sorted(set(groups))))
        .order_by(t.group_key, t.key)
    )
    found: dict[str, list[Given]] = {}
    for group, outcome, source in conn.execute(query):
        found.setdefault(group, []).append((outcome, source))
    return found


def _tally(outcomes: Sequence[Given]) -> Tally:
    """By the most trusted source that any of them has."""
    read, given = by_one_source(outcomes)
    scored = [outcome for outcome in given if outcome is not None]
    passed = sum(outcome >= PASS for outcome in scored)
    mean = finite(sum(scored) / len(scored)) if scored else None
    return Tally(len(outcomes), len(scored), passed, mean, read)
