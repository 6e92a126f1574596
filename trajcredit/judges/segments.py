"""What is judged as one: a trajectory -> segments of actions, with the observations that belong to them.

| kind | a segment is |
| --- | --- |
| action | one action |
| call | a call with its results; any other action by itself |
| turn | what the policy wrote at once, with the results of its calls |
| retry | calls of one tool of which each repeats the one before, or follows its failure; all else as `call` |
| goal | a call that changed something, with what it rests on; the last action likewise; all else as `call` |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from trajcredit.errors import UnknownNameError
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.judges.base import Segment
from trajcredit.model import ACTION_KINDS, body

__all__ = ["KINDS", "segmented"]

Cut: TypeAlias = Callable[[SpanGraph], list[Segment]]
CLAIM = 0.25
"""Edges below are candidates, not claims."""
RESTS_ON = ("call", "turn", "value", "state", "explicit", "override")
"""Kinds of edges that say what a span rests on."""


def segmented(graph: SpanGraph, kind: str) -> tuple[Segment, ...]:
    """The segments of a trajectory in the order of their last actions; every action is in one of them."""
    if kind not in KINDS:
        raise UnknownNameError("kind of segment", kind, KINDS)
    return tuple(sorted(KINDS[kind](graph), key=lambda one: one.actions[-1]))


def _actions(graph: SpanGraph) -> list[Segment]:
    return [Segment((i,), (i,)) for i in _acts(graph)]


def _calls(graph: SpanGraph) -> list[Segment]:
    return _with_results(graph, ([i] for i in _acts(graph)))


def _turns(graph: SpanGraph) -> list[Segment]:
    turns = defaultdict[tuple[int, str | None], list[int]](list)
    for i in _acts(graph):
        span = graph.trajectory.spans[i]
        turns[span.turn, span.agent].append(i)
    return _with_results(graph, turns.values())


def _retries(graph: SpanGraph) -> list[Segment]:
    """A chain ends where the user says something: what comes then answers that."""
    chains, last = list[list[int]](), dict[tuple[str | None, str | None], list[int]]()
    for i, span in enumerate(graph.trajectory.spans):
        if span.kind == "user":
            last.clear()
        elif span.kind in ACTION_KINDS:
            key = (span.agent, span.name)
            chain = last.get(key) if span.kind == "tool_call" else None
            if chain is None or not _retries_after(graph, chain[-1], i):
                chain = []
                chains.append(chain)
            chain.append(i)
            if span.kind == "tool_call":
                last[key] = chain
    return _with_results(graph, chains)


def _goals(graph: SpanGraph) -> list[Segment]:
    """Of effects the earlier one takes what both rest on; calls that failed changed nothing."""
    acts = _acts(graph)
    own = set(acts)
    effects = np.flatnonzero(graph.is_write & ~graph.is_error).tolist()
    goals, taken = list[list[int]](), set[int]()
    for end in [*effects, *acts[-1:]]:
        if end not in taken:
            found = [i for i in _ancestors(graph, end) if i in own and i not in taken]
            taken.update(found)
            goals.append(found)
    return _with_results(graph, [*goals, *([i] for i in acts if i not in taken)])


def _acts(graph: SpanGraph) -> list[int]:
    return [i for i, span in enumerate(graph.trajectory.spans) if span.kind in ACTION_KINDS]


def _with_results(graph: SpanGraph, parts: Iterable[list[int]]) -> list[Segment]:
    """Segments of these actions, each with the results of its calls."""
    results = defaultdict[int, list[int]](list)
    for i, span in enumerate(graph.trajectory.spans):
        if span.kind == "tool_result" and span.result_of is not None:
            results[span.result_of].append(i)
    return [Segment(tuple(some), tuple(sorted({*some, *(r for i in some for r in results[i])}))) for some in parts]


def _retries_after(graph: SpanGraph, before: int, call: int) -> bool:
    """Whether a call repeats the one before it of the same tool, or that one had failed."""
    spans = graph.trajectory.spans
    return bool(graph.is_error[before]) or body(spans[before]) == body(spans[call])


def _ancestors(graph: SpanGraph, end: int) -> list[int]:
    """The span and all that it rests on, ascending."""
    claims = (graph.weight >= CLAIM) & np.isin(graph.kind, [EDGE_KINDS.index(kind) for kind in RESTS_ON])
    found, waiting = {end}, [end]
    while waiting:
        first, stop = graph.parent_offsets[(child := waiting.pop()) : child + 2].tolist()
        for edge in range(first, stop):
            parent = int(graph.parents[edge])
            if claims[edge] and parent not in found:
                found.add(parent)
                waiting.append(parent)
    return sorted(found)


KINDS: dict[str, Cut] = {"action": _actions, "call": _calls, "turn": _turns, "retry": _retries, "goal": _goals}
