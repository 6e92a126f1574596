"""Work done here, one task after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, TypeVar

from trajcredit.engines.base import Name

__all__ = ["InProcess"]

T = TypeVar("T")
R = TypeVar("R")


class InProcess:
    """The engine that needs nothing."""

    name: ClassVar[Name] = "in-process"
    workers = 1

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """As `Engine.map`."""
        return map(work, tasks)
