"""What is stored, diagnosed: the newest trajectories of a filter, their transcripts read some at a time."""

from __future__ import annotations

from dataclasses import replace

from trajcredit.service.diagnosing import Asked, Diagnosis, diagnosed
from trajcredit.service.running import condensed
from trajcredit.store import Store, batches
from trajcredit.store.filters import Filters
from trajcredit.store.recent import graphs_in_turn, recent

__all__ = ["MOST", "MOST_SPANS", "Asked", "Filters", "of_project"]

MOST = 4_000
"""Trajectories that one request reads."""
KEPT_NOTES = 1
"""Notes of one kind that are told, with how many there are."""
MOST_SPANS = 200_000
"""Spans that one request reads."""


def of_project(
    store: Store, project: str, filters: Filters, asked: Asked, most: int = MOST, spans: int = MOST_SPANS
) -> Diagnosis:
    """The newest so many, whole groups; how many were left out is said. InputError as `diagnose`."""
    with store.read() as conn:
        picked = recent(conn, project, filters, most, spans)
        loaded = batches.load(conn, project, picked.ids)
        names = [(own, head.id) for own, head in zip(loaded.ids, loaded.heads, strict=True)]
        graphs = graphs_in_turn(conn, project, loaded.ids)
        left = picked.left_out
        found = diagnosed(loaded.heads, loaded.columns, loaded.rewards, graphs, names, asked, left, loaded.notes)
    return replace(found, notes=condensed(found.notes, KEPT_NOTES))
