"""Rewards of sub-agents and of the trajectories that started them, wherever these are stored in the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, select

from trajcredit.batching.parents import Kin, shared_outcomes
from trajcredit.model import Note, Reward
from trajcredit.store.bulk import among
from trajcredit.store.tables import trajectories

__all__ = ["Fetch", "with_shared_outcomes"]

Fetch = Callable[[Sequence[int]], Mapping[int, list[Reward]]]
"""Keys of trajectories -> the rewards of each that has any."""
MOST_LEVELS = 20
"""Agents that started agents."""


def with_shared_outcomes(
    conn: Connection,
    project: str,
    ids: Sequence[str],
    parents: Sequence[str | None],
    own: Sequence[list[Reward]],
    fetch: Fetch,
) -> tuple[tuple[list[Reward], ...], list[Note]]:
    """The rewards of trajectories by the client's ids, with what their ancestors share, whether among them or not."""
    if not any(parents):
        return tuple(own), []
    elsewhere = _ancestors(conn, project, {parent for parent in parents if parent} - set(ids), fetch)
    found, notes = shared_outcomes(ids, parents, own, elsewhere)
    return tuple(map(list, found)), notes


def _ancestors(conn: Connection, project: str, wanted: set[str], fetch: Fetch) -> dict[str, Kin]:
    """Those of these ids that are stored, and those above them."""
    c = trajectories.c
    query = select(c.key, c.external_id, c.parent_trajectory).where(c.project == project).order_by(c.key)
    found: dict[str, Kin] = {}
    for _ in range(MOST_LEVELS):
        rows = conn.execute(query.where(among(conn, c.external_id, sorted(wanted)))).all() if wanted else []
        given = fetch([row.key for row in rows]) if rows else {}
        found |= {row.external_id: (row.parent_trajectory, given.get(row.key, [])) for row in rows}
        wanted = {row.parent_trajectory for row in rows if row.parent_trajectory} - found.keys()
    return found
