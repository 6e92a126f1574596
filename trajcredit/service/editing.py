"""Edges as people edit them: what was said of which, kept beside what was derived, and said anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajcredit.graph import SpanGraph
from trajcredit.model import Edge
from trajcredit.service.evidence import EdgeEvidence, between
from trajcredit.service.sources import Sources
from trajcredit.store import Store, documents, overrides
from trajcredit.store.overrides import Action, Change, Said

__all__ = ["Action", "Change", "EdgeEdits", "Edited", "Saying", "edit", "edits", "withdraw"]


@dataclass(frozen=True, slots=True)
class Saying:
    """What a person said of the edge of one pair of spans."""

    number: int | None
    """Null where the log brought it along."""
    parent: int
    child: int
    action: Action
    reason: str
    person: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Edited:
    """A pair whose edge is as a person says, and what was derived or logged for it; null where nothing was."""

    saying: Saying
    derived: EdgeEvidence | None


@dataclass(frozen=True, slots=True)
class EdgeEdits:
    """What is in force of a trajectory, by child, then parent, and everything that was ever said, oldest first."""

    in_force: tuple[Edited, ...]
    history: tuple[Saying, ...]


def edits(store: Store, project: str, ref: str) -> EdgeEdits:
    """What people said of the edges of a trajectory, with the evidence of what they overruled."""
    with store.read() as conn:
        graph = documents.graph(conn, project, ref, None)
        said = overrides.history(conn, project, ref)
    return _edits(graph, said)


def edit(store: Store, project: str, ref: str, changes: Sequence[Change]) -> EdgeEdits:
    """Say something of edges: all of it or, where one of the changes cannot be (InputError), nothing.

    The runs that scored the trajectory are stale from then on.
    """
    with store.write() as conn:
        overrides.append(conn, project, ref, changes)
    return edits(store, project, ref)


def withdraw(store: Store, project: str, ref: str, parent: int, child: int, reason: str, person: str) -> EdgeEdits:
    """Go back to what was derived for a pair; what had been said of it stays in the history."""
    return edit(store, project, ref, [Change(parent, child, "withdraw", reason, person)])


def _edits(graph: SpanGraph, said: Sequence[Said]) -> EdgeEdits:
    newest = {(one.change.parent, one.change.child): one for one in said}
    standing = [_saying(one) for one in newest.values() if one.change.action != "withdraw"]
    decided = {(one.parent, one.child) for one in standing}
    logged = [edge for edge in graph.trajectory.edges if edge.kind == "override"]
    standing += [_logged(edge) for edge in logged if (edge.parent, edge.child) not in decided]
    sources = Sources(graph.trajectory)
    ordered = sorted(standing, key=lambda one: (one.child, one.parent))
    return EdgeEdits(
        tuple(Edited(one, _derived(graph, sources, one)) for one in ordered),
        tuple(_saying(one) for one in said),
    )


def _derived(graph: SpanGraph, sources: Sources, one: Saying) -> EdgeEvidence | None:
    """What is stored for its pair; an override that the log brought along took the place of what was derived."""
    return None if one.number is None else between(graph, sources, one.parent, one.child)


def _saying(one: Said) -> Saying:
    change = one.change
    return Saying(one.number, change.parent, change.child, change.action, change.reason, change.person, one.at)


def _logged(edge: Edge) -> Saying:
    action: Action = "add" if edge.weight > 0 else "remove"
    return Saying(None, edge.parent, edge.child, action, edge.evidence or "", None, None)
