"""What an engine is: one function over many items, results in the order of the items, whoever dies meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Protocol, Self, TypeVar

__all__ = ["ATTEMPTS", "ENGINES", "Engine", "InProcess"]

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("in-process", "pool", "ray")
"""The names of all engines, the default first."""
ATTEMPTS = 3
"""How often an item is tried where the worker that has it dies."""


class Engine(Protocol):
    """Open with `with`: workers start when there is work, and none is left behind, however the block ends.

    name       one of ENGINES
    workers    processes that work at once; 1 where it is this one
    """

    name: str
    workers: int

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`do` of every item, in order. Both are pickled, `do` by its name, where the work is done elsewhere.

        What `do` raises is raised here, in its place. An item whose worker dies is given to another, ATTEMPTS times in
        all, then EngineError. `do` may so be called again: it must write nothing.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class InProcess:
    """The work is done here, one item after the other."""

    name = "in-process"
    workers = 1

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`do` of every item."""
        return map(do, items)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""
