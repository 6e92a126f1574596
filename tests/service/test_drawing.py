"""Graphs as text: rows, whole graphs, pictures."""

from __future__ import annotations

import json

import pytest

from tests.build import run
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.service.drawing import DRAWINGS, draw


def graphs_of(*names: str) -> list[SpanGraph]:
    return build_graphs([run("ucra", name=name, edges=[(2, 3)]) for name in names])


def test_edge_rows_are_one_json_object_a_line_with_both_ends() -> None:
    rows = [json.loads(line) for line in draw(graphs_of("a", "b"), "jsonl")]
    assert {row["trajectory_id"] for row in rows} == {"a", "b"}
    call = next(row for row in rows if row["kind"] == "call")
    assert list(call) == ["trajectory_id", "child", "parent", "kind", "weight", "evidence"]
    assert call["child"] == {"span_index": 2, "message_index": None, "tool_call_id": None}
    assert call["parent"]["span_index"] == 1


def test_whole_graphs_are_one_json_object_a_line_with_their_spans() -> None:
    [a, b] = [json.loads(line) for line in draw(graphs_of("a", "b"), "json")]
    assert (a["trajectory_id"], b["trajectory_id"]) == ("a", "b")
    assert a["spans"][1] == {"span_index": 1, "kind": "tool_call", "turn": 0, "name": "look", "tool_call_id": None}
    assert {(edge["parent"]["span_index"], edge["child"]["span_index"]) for edge in a["edges"]} >= {(1, 2), (2, 3)}


@pytest.mark.parametrize(
    ("to", "start"), [("dot", "digraph"), ("mermaid", "flowchart TD"), ("graphml", "<graphml")], ids=str
)
def test_a_picture_of_one_graph(to: str, start: str) -> None:
    assert b"".join(draw(graphs_of("a"), to)).decode().startswith(start)


def test_dot_holds_many_graphs() -> None:
    assert b"".join(draw(graphs_of("a", "b"), "dot")).count(b"digraph") == 2


@pytest.mark.parametrize("to", ["mermaid", "graphml"])
def test_what_holds_one_graph_asks_for_one(to: str) -> None:
    with pytest.raises(InputError, match="holds one graph a file and there are 2: name one with --trajectory"):
        draw(graphs_of("a", "b"), to)


def test_an_unknown_drawing_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=", ".join(sorted(DRAWINGS))):
        draw(graphs_of("a"), "png")
