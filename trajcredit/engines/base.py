"""What an engine is, and which there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar, Literal, Protocol, TypeVar, get_args

from trajcredit.errors import InputError, UnknownNameError

__all__ = ["ATTEMPTS", "NAMES", "Engine", "Name", "engine"]

T = TypeVar("T")
R = TypeVar("R")

Name = Literal["in-process", "pool", "ray"]
NAMES: tuple[Name, ...] = get_args(Name)
ATTEMPTS = 3
"""How often a task is begun whose worker died."""


class Engine(Protocol):
    """Works on tasks; a context manager's value, done with when the block ends."""

    name: ClassVar[Name]
    workers: int

    def map(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """What `work` gives for each task, in the order of the tasks; a few are ahead of what was taken.

        `work` is a function of a module, without effects that would hurt if it is begun twice: a task whose worker
        dies is begun again, up to ATTEMPTS times, and then EngineError. What `work` raises is raised here.
        """
        ...


def engine(name: str, workers: int | None = None) -> AbstractContextManager[Engine]:
    """The engine of that name, with so many workers; none = one a core.

    UnknownNameError where there is none, InputError where its package is not installed or it has no such number.
    """
    if name not in NAMES:
        raise UnknownNameError("engine", name, NAMES)
    if workers is not None and workers < 1:
        raise InputError(f"workers: expected at least 1, found {workers}")
    if name == "in-process":
        if workers is not None and workers > 1:
            raise InputError(f"the engine in-process has 1 worker, not {workers}: --engine pool has several")
        from trajcredit.engines.in_process import InProcess

        return InProcess()
    if name == "pool":
        from trajcredit.engines.pool import Pool

        return Pool(workers or cores())
    from trajcredit.engines.ray import OnRay

    return OnRay(workers)


def cores() -> int:
    """Cores that this process may have."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
