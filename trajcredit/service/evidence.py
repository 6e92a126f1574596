"""The dependency graph as it is drawn, and the reason of every edge at one span."""

from __future__ import annotations

from dataclasses import dataclass

from trajcredit.graph import EDGE_KINDS, RULES, SpanGraph
from trajcredit.model import body
from trajcredit.service.sources import Sources
from trajcredit.store import Store, documents
from trajcredit.store.shown import check_span

__all__ = ["EdgeColumns", "EdgeEvidence", "EdgeEvidenceList", "EdgeMatch", "between", "edge_columns", "edges_of"]


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """One entry an edge, ordered by child, then parent."""

    parent: tuple[int, ...]
    child: tuple[int, ...]
    kind: tuple[str, ...]
    weight: tuple[float, ...]
    rule: tuple[str, ...]
    normalised: tuple[bool, ...]
    """Whether a value stands written differently on the two sides."""


@dataclass(frozen=True, slots=True)
class EdgeMatch:
    """One value on both sides: half-open character ranges into the texts of child and parent."""

    child_text: str
    child_start: int
    child_end: int
    parent_text: str
    parent_start: int
    parent_end: int


@dataclass(frozen=True, slots=True)
class EdgeEvidence:
    """One edge with its reason."""

    parent: int
    child: int
    kind: str
    weight: float
    rule: str
    why: str
    matches: tuple[EdgeMatch, ...]
    sources: int
    """Earlier spans that hold every value of the edge: its parent, and what else the agent was shown; 1 where it rests
    on no value."""


@dataclass(frozen=True, slots=True)
class EdgeEvidenceList:
    """What a span is fed by and what it feeds, in the order of the other ends."""

    fed_by: tuple[EdgeEvidence, ...]
    feeds: tuple[EdgeEvidence, ...]


def edge_columns(store: Store, project: str, ref: str) -> EdgeColumns:
    """Every edge of a trajectory."""
    with store.read() as conn:
        graph = documents.graph(conn, project, ref)
    ends = list(graph.edges())
    return EdgeColumns(
        parent=tuple(parent for _, parent, _ in ends),
        child=tuple(child for _, _, child in ends),
        kind=tuple(EDGE_KINDS[code] for code in graph.kind.tolist()),
        weight=tuple(graph.weight.tolist()),
        rule=tuple(RULES[code].name for code in graph.rule.tolist()),
        normalised=_normalised(graph, ends),
    )


def edges_of(store: Store, project: str, ref: str, span: int) -> EdgeEvidenceList:
    """Every edge at one span, with its reason."""
    with store.read() as conn:
        graph = documents.graph(conn, project, ref)
    check_span(span, len(graph.trajectory.spans), ref)
    sources = Sources(graph.trajectory)
    into = range(int(graph.parent_offsets[span]), int(graph.parent_offsets[span + 1]))
    out = (graph.parents == span).nonzero()[0]
    children = graph.parent_offsets.searchsorted(out, side="right") - 1
    return EdgeEvidenceList(
        fed_by=tuple(_evidence(graph, sources, edge, span) for edge in into),
        feeds=tuple(
            _evidence(graph, sources, edge, child) for edge, child in zip(out.tolist(), children.tolist(), strict=True)
        ),
    )


def between(graph: SpanGraph, sources: Sources, parent: int, child: int) -> EdgeEvidence | None:
    """The edge of one pair of spans with its reason; null where there is none."""
    first, last = graph.parent_offsets[child : child + 2].tolist()
    edge = first + int(graph.parents[first:last].searchsorted(parent))
    if edge == last or int(graph.parents[edge]) != parent:
        return None
    return _evidence(graph, sources, edge, child)


def _evidence(graph: SpanGraph, sources: Sources, edge: int, child: int) -> EdgeEvidence:
    found, parent = graph.evidence(edge), int(graph.parents[edge])
    return EdgeEvidence(
        parent=parent,
        child=child,
        kind=EDGE_KINDS[graph.kind[edge]],
        weight=float(graph.weight[edge]),
        rule=found.rule,
        why=found.why,
        matches=tuple(EdgeMatch(m.child_text, *m.child, m.parent_text, *m.parent) for m in found.matches),
        sources=sources.of(parent, child, found.matches),
    )


def _normalised(graph: SpanGraph, ends: list[tuple[int, int, int]]) -> tuple[bool, ...]:
    """Bodies are made once: those of calls are encoded for it."""
    offsets, matches = graph.match_offsets.tolist(), graph.matches.tolist()
    bodies: dict[int, str] = {}
    spans = graph.trajectory.spans

    def text(span: int) -> str:
        if span not in bodies:
            bodies[span] = body(spans[span])
        return bodies[span]

    return tuple(
        any(text(child)[a:b] != text(parent)[c:d] for a, b, c, d in matches[offsets[edge] : offsets[edge + 1]])
        for edge, parent, child in ends
    )
