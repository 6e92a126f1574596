"""Groups: the rollouts of one task, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from trajcredit.errors import NotFoundError
from trajcredit.model import REWARD_SOURCES
from trajcredit.store.border import finite
from trajcredit.store.bulk import among
from trajcredit.store.filters import PASS
from trajcredit.store.pages import LISTED, Listed
from trajcredit.store.tables import trajectories

__all__ = ["Tally", "members", "tallies"]


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
    t = trajectories.c
    query = (
        select(t.group_key, t.outcome, t.outcome_source)
        .where(t.project == project, among(conn, t.group_key, sorted(set(groups))))
        .order_by(t.group_key, t.key)
    )
    outcomes: dict[str, list[tuple[float | None, str | None]]] = {}
    for group, outcome, source in conn.execute(query):
        outcomes.setdefault(group, []).append((outcome, source))
    return {group: _tally(found) for group, found in outcomes.items()}


def _tally(outcomes: Sequence[tuple[float | None, str | None]]) -> Tally:
    """By the most trusted source that any of them has."""
    sources = {source for _, source in outcomes}
    read = next((source for source in REWARD_SOURCES if source in sources), None)
    scored = [outcome for outcome, source in outcomes if outcome is not None and source == read]
    passed = sum(outcome >= PASS for outcome in scored)
    mean = finite(sum(scored) / len(scored)) if scored else None
    return Tally(len(outcomes), len(scored), passed, mean, read)
