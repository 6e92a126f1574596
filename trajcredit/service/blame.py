"""Which spans carry the most blame and the most praise, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trajcredit.attributors import Attributor
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.exporters import Credit
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import body
from trajcredit.service.attributing import explained

__all__ = ["Blame", "Finding", "Link", "Place", "Reason", "blame"]

Links: TypeAlias = dict[int, list[tuple[int, int]]]
GraphOf: TypeAlias = Callable[[int], SpanGraph]
"""The graph of a trajectory, by its number in the batch."""

DATA = frozenset({"value", "state"})
"""Edge kinds that say data flowed: the evidence a person wants to see."""


@dataclass(frozen=True, slots=True)
class Place:
    """A span, wherever in the batch it is."""

    trajectory_id: str
    span_index: int


@dataclass(frozen=True, slots=True)
class Reason:
    """One summand of a span's credit, and the spans it comes from: of this trajectory or of its siblings."""

    name: str
    value: float
    spans: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A data edge at a span: the other end, the edge's weight and its sentence."""

    span_index: int
    kind: str
    name: str | None
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One span with its numbers, the terms they add up from, and the data edges that lead to it and away from it."""

    trajectory_id: str
    group_id: str
    span_index: int
    turn: int
    kind: str
    name: str | None
    text: str
    outcome: float
    credit: float
    advantage: float
    reasons: tuple[Reason, ...]
    uses: tuple[Link, ...]
    used_by: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Blame:
    """The lowest and the highest advantages of one attributor, and how many spans lie below, at and above zero."""

    attributor: str
    parameters: dict[str, Any]
    negative: int
    zero: int
    positive: int
    blamed: tuple[Finding, ...]
    praised: tuple[Finding, ...]


def blame(
    credit: Credit,
    attributor: Attributor,
    count: int,
    trajectory_id: str | None = None,
    graph_of: GraphOf | None = None,
) -> Blame:
    """At most `count` spans on each side, furthest from zero first; of equal ones the earliest in the batch.

    `trajectory_id` narrows it to one trajectory, still scored against its whole group. Transcripts are those of the
    batch, or what `graph_of` gives for the few that are shown.
    """
    graph_of = graph_of or _graph_in(credit.batch)
    advantage = credit.advantage.copy()
    if trajectory_id is not None:
        t = credit.batch.trajectory_ids.index(trajectory_id)
        start, end = credit.batch.span_offsets[t : t + 2]
        advantage[:start] = advantage[end:] = np.nan
    low, high = np.flatnonzero(advantage < 0), np.flatnonzero(advantage > 0)
    worst = low[np.argsort(advantage[low], kind="stable")][:count]
    best = high[np.argsort(-advantage[high], kind="stable")][:count]
    links: dict[int, Links] = {}
    return Blame(
        attributor=credit.attributor,
        parameters=dict(credit.parameters),
        negative=len(low),
        zero=int((advantage == 0).sum()),
        positive=len(high),
        blamed=tuple(_finding(credit, attributor, int(i), links, graph_of) for i in worst),
        praised=tuple(_finding(credit, attributor, int(i), links, graph_of) for i in best),
    )


def _graph_in(batch: Batch) -> GraphOf:
    if batch.graphs is None:
        raise InputError("this batch was loaded without its transcripts, and they are what explains a number")
    return batch.graphs.__getitem__


def _finding(
    credit: Credit, attributor: Attributor, position: int, links: dict[int, Links], graph_of: GraphOf
) -> Finding:
    batch = credit.batch
    t = batch.trajectory_of(position)
    graph, index = graph_of(t), position - int(batch.span_offsets[t])
    if t not in links:
        links[t] = _used_by(graph)
    span = graph.trajectory.spans[index]
    return Finding(
        trajectory_id=batch.trajectory_ids[t],
        group_id=batch.group_ids[batch.group[t]],
        span_index=index,
        turn=span.turn,
        kind=span.kind,
        name=span.name,
        text=body(span),
        outcome=float(batch.outcome[t]),
        credit=float(credit.credit[position]),
        advantage=float(credit.advantage[position]),
        reasons=tuple(
            Reason(term.name, term.value, tuple(_place(batch, span) for span in term.spans))
            for term in explained(credit, attributor, position)
        ),
        uses=tuple(_uses(graph, index)),
        used_by=tuple(_link(graph, edge, child) for edge, child in links[t].get(index, ())),
    )


def _place(batch: Batch, position: int) -> Place:
    t = batch.trajectory_of(position)
    return Place(batch.trajectory_ids[t], position - int(batch.span_offsets[t]))


def _uses(graph: SpanGraph, index: int) -> Iterator[Link]:
    """Data edges into a span."""
    for edge in range(graph.parent_offsets[index], graph.parent_offsets[index + 1]):
        if EDGE_KINDS[graph.kind[edge]] in DATA:
            yield _link(graph, edge, int(graph.parents[edge]))


def _used_by(graph: SpanGraph) -> Links:
    """Span -> data edges out of it, and out of the results of a call as if they were its own: (edge, child)."""
    call_of = {i: span.result_of for i, span in enumerate(graph.trajectory.spans) if span.result_of is not None}
    found: Links = {}
    for edge, parent, child in graph.edges():
        if EDGE_KINDS[graph.kind[edge]] in DATA:
            found.setdefault(parent, []).append((edge, child))
            if parent in call_of:
                found.setdefault(call_of[parent], []).append((edge, child))
    return found


def _link(graph: SpanGraph, edge: int, other: int) -> Link:
    span = graph.trajectory.spans[other]
    return Link(other, span.kind, span.name, float(graph.weight[edge]), graph.evidence(edge).why)
