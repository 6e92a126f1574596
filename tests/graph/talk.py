"""Transcripts written as a play: what most graph tests start from.

talk(user("Book a flight"), call("search", to="LIS"), result("id FX-2291"), say("Done"))
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trajcredit.graph import EDGE_KINDS, SpanGraph, build_graphs
from trajcredit.model import Edge, Span, Tool, Trajectory

__all__ = ["call", "claims", "edge", "failure", "graph_of", "result", "say", "talk", "think", "tool", "user"]

Line = dict[str, Any]


def user(text: str) -> Line:
    """A user turn."""
    return {"kind": "user", "text": text}


def say(text: str) -> Line:
    """A message of the agent; with `same_turn` it shares the turn of the line before."""
    return {"kind": "assistant", "text": text}


def think(text: str) -> Line:
    """A reasoning block."""
    return {"kind": "reasoning", "text": text}


def call(tool_name: str, /, **arguments: Any) -> Line:
    """A tool call."""
    return {"kind": "tool_call", "name": tool_name, "arguments": arguments, "arguments_raw": json.dumps(arguments)}


def result(text: str, error: bool | None = None) -> Line:
    """The result of the first call still open."""
    return {"kind": "tool_result", "text": text, "error": error}


def failure(text: str = "boom") -> Line:
    """A result that the log marks as failed."""
    return result(text, error=True)


def tool(name: str, description: str = "", writes: bool | None = None) -> Tool:
    """A declared tool."""
    return Tool(name, description or None, None, writes)


def talk(
    *lines: Line | Iterable[Line], tools: Iterable[Tool] = (), name: str = "t", edges: Iterable[Edge] = ()
) -> Trajectory:
    """One trajectory. Actions in a row without an observation between them share a turn."""
    spans: list[Span] = []
    turn, acted = -1, False
    still_open: list[int] = []
    for line in lines:
        assert isinstance(line, dict)
        acts = line["kind"] in ("assistant", "reasoning", "tool_call")
        turn += acts and not acted
        acted = acts
        answered = still_open.pop(0) if line["kind"] == "tool_result" and still_open else None
        if line["kind"] == "tool_call":
            still_open.append(len(spans))
        spans.append(Span(**line, turn=turn, result_of=answered, message_index=len(spans)))
    return Trajectory(id=name, spans=spans, tools=list(tools), edges=list(edges))


def graph_of(*lines: Line, tools: Iterable[Tool] = ()) -> SpanGraph:
    """The graph of one talk."""
    return build_graphs([talk(*lines, tools=tools)])[0]


def claims(graph: SpanGraph, *kinds: str, at_least: float = 0.25) -> set[tuple[int, int]]:
    """(parent, child) of every edge of these kinds (all but call and context by default) that is a claim."""
    wanted = kinds or ("turn", "value", "state", "control", "explicit", "override")
    return {
        (parent, child)
        for e, parent, child in graph.edges()
        if EDGE_KINDS[graph.kind[e]] in wanted and graph.weight[e] >= at_least
    }


def edge(graph: SpanGraph, parent: int, child: int) -> tuple[str, float, str]:
    """Rule, weight and sentence of the edge between two spans."""
    for e, p, c in graph.edges():
        if (p, c) == (parent, child):
            found = graph.evidence(e)
            return found.rule, round(float(graph.weight[e]), 4), found.why
    raise AssertionError(f"no edge {parent} -> {child}")
