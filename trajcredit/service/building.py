"""Graphs built by an engine: trajectories go out some at a time, and what comes back of each is its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from trajcredit.engines import Engine
from trajcredit.graph import CHUNK, SpanGraph, build_graphs, characters, chunks
from trajcredit.model import Trajectory

__all__ = ["graphs_by"]

SMALLEST = 200_000
"""Characters of a task: below, handing it out costs too much of its work."""
A_WORKER = 4
"""Tasks a worker, where there is enough: so that one long task does not keep the others waiting."""

Task: TypeAlias = "tuple[list[Trajectory], dict[str, bool]]"
Bare: TypeAlias = "tuple[Any, ...]"
"""A graph without its trajectory, which whoever asked has: its other fields in order."""

_OTHERS = tuple(field.name for field in fields(SpanGraph) if field.name != "trajectory")


def graphs_by(
    engine: Engine, trajectories: Sequence[Trajectory], writes: Mapping[str, bool] | None = None
) -> list[SpanGraph]:
    """`build_graphs` of the trajectories, to the bit, built by the workers of an engine."""
    if engine.name == "in-process":
        return build_graphs(trajectories, writes=writes or {})
    tasks = ((some, dict(writes or {})) for some in _tasks(trajectories, engine.workers))
    found = (bare for built in engine.map(build, tasks) for bare in built)
    return [
        SpanGraph(trajectory=trajectory, **dict(zip(_OTHERS, bare, strict=True)))
        for trajectory, bare in zip(trajectories, found, strict=True)
    ]


def build(task: Task) -> list[Bare]:
    """What a worker does."""
    trajectories, writes = task
    return [tuple(getattr(graph, name) for name in _OTHERS) for graph in build_graphs(trajectories, writes=writes)]


def _tasks(trajectories: Sequence[Trajectory], workers: int) -> Iterator[list[Trajectory]]:
    """Consecutive trajectories of about as many characters together."""
    return chunks(trajectories, min(CHUNK, max(SMALLEST, sum(map(characters, trajectories)) // (A_WORKER * workers))))
