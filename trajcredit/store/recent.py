"""The newest trajectories of a filter, whole groups of them, as many as a request may read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from trajcredit.graph import SpanGraph
from trajcredit.store import documents
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.tables import trajectories

__all__ = ["Recent", "graphs_in_turn", "recent"]

AT_ONCE = 100
"""Transcripts in memory at a time."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Our ids in the order they were stored, and how many more meet the filter."""

    ids: tuple[str, ...]
    left_out: int


def recent(conn: Connection, project: str, filters: Filters, most: int, spans: int) -> Recent:
    """At most so many trajectories and spans, the newest.

    A group of which some would be left out is left out whole: half a group has another baseline.
    """
    t = trajectories.c
    matching = conditions(conn, project, filters)
    total = conn.scalar(select(func.count()).select_from(trajectories).where(matching)) or 0
    query = select(t.id, t.group_key, t.n_spans).where(matching).order_by(t.key.desc()).limit(most)
    taken: list[tuple[str, str]] = []
    left = spans
    for name, group, size in conn.execute(query):
        left -= size
        if left < 0:
            break
        taken.append((name, group))
    if len(taken) < total:
        here = Counter(group for _, group in taken)
        sizes = (
            select(t.group_key, func.count())
            .where(matching, among(conn, t.group_key, list(here)))
            .group_by(t.group_key)
        )
        whole = {group for group, size in conn.execute(sizes) if size == here[group]}
        taken = [one for one in taken if one[1] in whole]
    return Recent(tuple(name for name, _ in reversed(taken)), total - len(taken))


def graphs_in_turn(conn: Connection, project: str, ids: Sequence[str]) -> Iterator[SpanGraph]:
    """The graph of each trajectory, in their order, a few in memory at a time."""
    for first in range(0, len(ids), AT_ONCE):
        yield from documents.graphs(conn, project, ids[first : first + AT_ONCE])
