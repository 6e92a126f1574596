"""Engines by their names."""

from __future__ import annotations

from trajcredit.engines.base import ENGINES, Engine, InProcess
from trajcredit.engines.pool import Pool
from trajcredit.engines.ray_tasks import RayTasks
from trajcredit.errors import InputError, UnknownNameError

__all__ = ["engine_of"]

MOST_WORKERS = 1024


def engine_of(name: str = "in-process", workers: int | None = None) -> Engine:
    """The engine of that name, not begun yet; `workers` null: as many as it has cores.

    UnknownNameError of another name; InputError of a number of workers that is none, or where its library is missing.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"workers {workers}: expected a number from 1 to {MOST_WORKERS:,}")
    if name == "in-process":
        if workers is not None and workers > 1:
            raise InputError(f"workers {workers}: the engine in-process has one; name another: pool or ray")
        return InProcess()
    return Pool(workers) if name == "pool" else RayTasks(workers)
