"""Trajectories -> graphs: every rule in the order of application, then one edge a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajcredit.arrays import offsets_of
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.evidence import EDGE_KINDS, RULES
from trajcredit.graph.spangraph import SpanGraph
from trajcredit.model import Trajectory, check

__all__ = ["build_graphs"]

_KIND_OF_RULE = np.array([EDGE_KINDS.index(rule.kind) for rule in RULES], dtype=np.uint8)


def build_graphs(trajectories: Sequence[Trajectory]) -> list[SpanGraph]:
    """One graph a trajectory. Raises InputError where spans or explicit edges refer to nothing or to the future."""
    return [_build(trajectory) for trajectory in trajectories]


def _build(trajectory: Trajectory) -> SpanGraph:
    check(trajectory)
    edges = EdgeList()
    for i, span in enumerate(trajectory.spans):
        if span.result_of is not None:
            edges.add(span.result_of, i, "call", 1.0)
    for edge in trajectory.edges:
        edges.add(edge.parent, edge.child, edge.kind, edge.weight, detail=edge.evidence or "")
    n = len(trajectory.spans)
    pairs = sorted(edges.found)
    counts = [0] * n
    for child, _ in pairs:
        counts[child] += 1
    rule = np.array([edges.found[pair][1] for pair in pairs], dtype=np.int64)
    ranges = [edges.matches.get(pair, []) for pair in pairs]
    return SpanGraph(
        trajectory=trajectory,
        parent_offsets=offsets_of(counts),
        parents=np.array([parent for _, parent in pairs], dtype=np.int64),
        weight=np.array([edges.found[pair][0] for pair in pairs], dtype=np.float64),
        kind=_KIND_OF_RULE[rule] if len(rule) else np.zeros(0, dtype=np.uint8),
        rule=rule.astype(np.uint8),
        match_offsets=offsets_of(len(found) for found in ranges),
        matches=np.array([r for found in ranges for r in found], dtype=np.int64).reshape(-1, 4),
        details={e: edges.details[pair] for e, pair in enumerate(pairs) if pair in edges.details},
        is_write=np.zeros(n, dtype=bool),
        write_basis=("",) * n,
        is_error=np.array([bool(s.error) for s in trajectory.spans], dtype=bool),
    )
