"""Trajectories a handful at a time, while the garbage collector rests."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from trajcredit.errors import ParseError
from trajcredit.model import Trajectory

__all__ = ["read_ahead"]

SPANS = 1000
"""As many are read ahead at most, and the rest of the trajectory that has the last one: more would fill the memory."""


def read_ahead(items: Iterable[Trajectory | ParseError]) -> Iterator[Trajectory | ParseError]:
    """The same items in the same order, some of them before they are asked for; an error comes after them."""
    waiting = iter(items)
    while True:
        found, error = _some(waiting)
        yield from found
        if error is not None:
            raise error
        if not found:
            return


def _some(waiting: Iterator[Trajectory | ParseError]) -> tuple[list[Trajectory | ParseError], BaseException | None]:
    """The next items, and what ended them where that was an error: whoever reads them is to get them first."""
    found: list[Trajectory | ParseError] = []
    size = 0
    with _collector_paused():
        try:
            for item in waiting:
                found.append(item)
                size += 1 if isinstance(item, ParseError) else 1 + len(item.spans)
                if size > SPANS:
                    break
        except (Exception, SystemExit) as error:  # readers may be foreign code
            return found, error
    return found, None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Of short rows each leaves small lists that live on: looking through them for cycles would take a third longer."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
