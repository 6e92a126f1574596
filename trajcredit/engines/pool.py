"""A pool of processes: fresh ones, begun when there is work; one that dies is replaced, its items done again."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self, TypeVar

from trajcredit.engines.base import ATTEMPTS
from trajcredit.engines.workers import begin
from trajcredit.errors import EngineError

__all__ = ["Pool"]

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items that are out for each worker: so many results wait in memory at most until they are asked for."""


class Pool:
    """Spawned, never forked: threads of this process, numba's and torch's, do not survive a fork."""

    name = "pool"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or _cores()
        self._executor: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`do` of every item, in order. When a process dies, all items out are given to new ones."""
        rest = iter(items)
        out: deque[tuple[Item, Future[Result]]] = deque()
        while True:
            while len(out) < AHEAD * self.workers and (more := next(rest, None)) is not None:
                out.append((more, self._submit(do, more)))
            if not out:
                return
            yield self._first(do, out)

    def _first(self, do: Callable[[Item], Result], out: deque[tuple[Item, Future[Result]]]) -> Result:
        """The result of the first item that is out, which is out no more."""
        for _ in range(ATTEMPTS):
            try:
                result = out[0][1].result()
            except BrokenProcessPool:
                self._end(at_once=True)
                for n, (item, future) in enumerate(out):
                    if not future.done() or future.cancelled() or future.exception() is not None:
                        out[n] = item, self._submit(do, item)
            else:
                out.popleft()
                return result
        raise EngineError(
            f"a worker process died {ATTEMPTS} times over the same work, so it was given up; where memory is short, "
            "fewer --workers need less, and --engine in-process needs least"
        )

    def _submit(self, do: Callable[[Item], Result], item: Item) -> Future[Result]:
        if self._executor is None:
            self._begin()
        assert self._executor is not None
        try:
            return self._executor.submit(do, item)
        except BrokenProcessPool as error:  # died idle: told where the result is asked for
            failed: Future[Result] = Future()
            failed.set_exception(error)
            return failed

    def _begin(self) -> None:
        fresh = multiprocessing.get_context("spawn")
        reader, self._lifeline = fresh.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(self.workers, mp_context=fresh, initializer=begin, initargs=(reader,))

    def _end(self, at_once: bool) -> None:
        executor, lifeline = self._executor, self._lifeline
        self._executor = self._lifeline = None
        if lifeline is not None and at_once:
            lifeline.close()
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
        if lifeline is not None:
            lifeline.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers: at once where something failed or Ctrl-C was pressed."""
        self._end(at_once=kind is not None)


def _cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
