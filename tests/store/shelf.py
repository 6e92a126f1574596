"""Putting trajectories into a store the way an upload does, for tests that start from there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory
from trajcredit.store import Store, keeping, logs, trajectories
from trajcredit.store.trajectories import Added

__all__ = ["PROJECT", "named", "put"]

PROJECT = "default"


def put(
    store: Store,
    *items: Trajectory,
    project: str = PROJECT,
    raw: bytes | None = None,
    replace: bool = False,
) -> list[Added]:
    """Build the graphs and store them, with the log they are said to come from."""
    log = None if raw is None else logs.packed(raw, "log.jsonl", "openai_chat")
    kept = keeping.keep(project, build_graphs(items), None if log is None else log.sha256)
    with store.write() as conn:
        if log is not None:
            logs.keep_raw(conn, project, log)
        return trajectories.add(conn, project, kept, replace)


def named(items: Sequence[Trajectory], project: str = PROJECT) -> list[Trajectory]:
    """The same, each with an id of its own, in one project."""
    return [replace(item, id=f"t{n}", project=project) for n, item in enumerate(items)]
