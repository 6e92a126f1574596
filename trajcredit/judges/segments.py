"""What is judged as one: a trajectory -> segments of actions, with the observations that belong to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from trajcredit.errors import UnknownNameError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Segment
from trajcredit.model import ACTION_KINDS

__all__ = ["KINDS", "segmented"]

Cut: TypeAlias = Callable[[SpanGraph], list[Segment]]


def segmented(graph: SpanGraph, kind: str) -> tuple[Segment, ...]:
    """The segments of a trajectory in the order of their last actions; every action is in one of them."""
    if kind not in KINDS:
        raise UnknownNameError("kind of segment", kind, KINDS)
    return tuple(sorted(KINDS[kind](graph), key=lambda one: one.actions[-1]))


def _actions(graph: SpanGraph) -> list[Segment]:
    spans = graph.trajectory.spans
    return [Segment((i,), (i,)) for i, span in enumerate(spans) if span.kind in ACTION_KINDS]


KINDS: dict[str, Cut] = {"action": _actions}
