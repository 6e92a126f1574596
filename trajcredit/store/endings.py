"""How rollouts ended, group by group, over all trajectories of a filter: streamed, one group in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from sqlalchemy import Connection, Row, select

from trajcredit.model import REWARD_SOURCES
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.tables import trajectories

__all__ = ["Ending", "GroupEnds", "endings_of", "group_ends"]

ROWS = 2000
"""Fetched at a time."""


@dataclass(frozen=True, slots=True)
class GroupEnds:
    """The rollouts of one group that the filter leaves.

    Scored by one source, the most trusted that any of them has, as in a run: rewards of different sources are never
    held against each other. `rewards` are those of the scored ones, in the order they were stored.
    """

    key: str
    name: str
    size: int
    source: str | None
    rewards: tuple[float, ...]
    step: int | None
    """Of training: rollouts of different steps are never of one group."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One rollout of a group; its reward is null where it has none of the source that its group is read by."""

    id: str
    external_id: str
    reward: float | None


def group_ends(conn: Connection, project: str, filters: Filters) -> Iterator[GroupEnds]:
    """Every group of the filter, by its key."""
    t = trajectories.c
    query = (
        select(t.group_key, t.group_name, t.outcome, t.outcome_source, t.step)
        .where(conditions(conn, project, filters))
        .order_by(t.group_key, t.key)
    )
    rows = conn.execute(query, execution_options={"yield_per": ROWS})
    for key, members in groupby(rows, key=itemgetter(0)):
        yield _ends(key, list(members))


def endings_of(conn: Connection, project: str, filters: Filters, groups: Sequence[str]) -> dict[str, list[Ending]]:
    """The rollouts of some groups that the filter leaves, by the key of the group, in the order they were stored."""
    t = trajectories.c
    query = (
        select(t.group_key, t.id, t.external_id, t.outcome, t.outcome_source)
        .where(conditions(conn, project, filters), among(conn, t.group_key, sorted(set(groups))))
        .order_by(t.group_key, t.key)
    )
    found: dict[str, list[Ending]] = {}
    for key, members in groupby(conn.execute(query), key=itemgetter(0)):
        rows = list(members)
        source = _source([row[4] for row in rows])
        found[key] = [Ending(row[1], row[2], row[3] if row[4] == source else None) for row in rows]
    return found


def _ends(key: str, rows: Sequence[Row[str, str, float | None, str | None, int | None]]) -> GroupEnds:
    source = _source([row[3] for row in rows])
    return GroupEnds(
        key=key,
        name=rows[0][1],
        size=len(rows),
        source=source,
        rewards=tuple(row[2] for row in rows if row[2] is not None and row[3] == source),
        step=rows[0][4],
    )


def _source(sources: Sequence[str | None]) -> str | None:
    """The most trusted of them."""
    return next((source for source in REWARD_SOURCES if source in sources), None)
