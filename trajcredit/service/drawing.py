"""Graphs as text for other programs: edge rows, whole graphs, pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from trajcredit.errors import InputError, UnknownNameError
from trajcredit.graph import SpanGraph
from trajcredit.graph.render import edge_rows, to_dot, to_graphml, to_mermaid

__all__ = ["DRAWINGS", "draw", "whole"]

DRAWINGS = ("jsonl", "json", "dot", "mermaid", "graphml")
_ONE_A_FILE = {"mermaid": to_mermaid, "graphml": to_graphml}
_encoder = msgspec.json.Encoder()


def draw(graphs: Sequence[SpanGraph], to: str) -> Iterator[bytes]:
    """Pieces of the output file: `jsonl` one edge a line, `json` one graph a line, the rest a picture."""
    if to == "jsonl":
        return _lines(row for graph in graphs for row in edge_rows(graph))
    if to == "json":
        return _lines(whole(graph) for graph in graphs)
    if to == "dot":
        return (to_dot(graph).encode() for graph in graphs)
    if to not in _ONE_A_FILE:
        raise UnknownNameError("drawing", to, DRAWINGS)
    if len(graphs) != 1:
        raise InputError(f"{to} holds one graph a file and there are {len(graphs)}: name one with --trajectory ID")
    return iter([_ONE_A_FILE[to](graphs[0]).encode()])


def whole(graph: SpanGraph) -> dict[str, Any]:
    """One graph as one object: its spans in order, its edges with evidence."""
    spans = [
        {"span_index": i, "kind": s.kind, "turn": s.turn, "name": s.name, "tool_call_id": s.call_id}
        for i, s in enumerate(graph.trajectory.spans)
    ]
    return {"trajectory_id": graph.trajectory.id, "spans": spans, "edges": list(edge_rows(graph))}


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    return (_encoder.encode(row) + b"\n" for row in rows)
