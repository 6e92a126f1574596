"""Work done by processes of this machine.

Workers are started afresh (spawn), so that no lock of this process is copied half held; each has one thread for
numerics, ignores Ctrl-C, which this process hears for all, and ends when this process is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from trajcredit.engines.base import ATTEMPTS, Name
from trajcredit.errors import EngineError

__all__ = ["ONE_THREAD", "Pool"]

T = TypeVar("T")
R = TypeVar("R")

ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Settings under which a worker works with one thread: there are as many workers as cores."""
AHEAD = 2
"""Tasks a worker that are handed out before their results are taken."""
WATCH = 1.0
"""Seconds between looks whether the parent is there."""


@dataclass(slots=True)
class _Begun:
    """A task that was handed out."""

    task: Any
    future: Future[Any]
    attempts: int = 1


class Pool:
    """So many processes, for as long as the block lasts."""

    name: ClassVar[Name] = "pool"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end(at_once=kind is not None)

    def map(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """As `Engine.map`."""
        waiting: deque[_Begun] = deque()
        left = iter(tasks)
        finished = False
        while waiting or not finished:
            while not finished and len(waiting) < AHEAD * self.workers:
                try:
                    task = next(left)
                except StopIteration:
                    finished = True
                else:
                    waiting.append(_Begun(task, self._submit(work, task)))
            if not waiting:
                return
            try:
                result: R = waiting[0].future.result()
            except BrokenProcessPool:
                self._again(work, waiting)
            else:
                waiting.popleft()
                yield result

    def _submit(self, work: Callable[[Any], Any], task: Any) -> Future[Any]:
        for _ in range(ATTEMPTS):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self.workers, multiprocessing.get_context("spawn"), _begin, (os.getpid(),)
                )
            try:
                with _environment(ONE_THREAD):  # processes are started when there is work for them
                    return self._pool.submit(work, task)
            except BrokenProcessPool:
                self._end(at_once=True)
        raise EngineError(f"{ATTEMPTS} pools of {self.workers} workers broke before they had work")

    def _again(self, work: Callable[[Any], Any], waiting: deque[_Begun]) -> None:
        """A new pool for the tasks without a result; a worker that dies takes those of its pool with it."""
        self._end(at_once=True)
        for one in waiting:
            if one.future.done() and not one.future.cancelled() and one.future.exception() is None:
                continue
            if one.future.done() and not one.future.cancelled():
                failed = one.future.exception()
                if failed is not None and not isinstance(failed, BrokenProcessPool):
                    continue  # it failed by itself, and is raised when its turn comes
            if one.attempts == ATTEMPTS:
                why = "killed, out of memory (fewer workers need less of it), or a crash in native code"
                raise EngineError(f"workers died {ATTEMPTS} times at a task, or beside it: {why}")
            one.attempts += 1
            one.future = self._submit(work, one.task)

    def _end(self, at_once: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=not at_once, cancel_futures=True)
        if at_once:  # what they work on nobody waits for
            for process in processes:
                with suppress(OSError, ValueError):
                    process.terminate()
            for process in processes:
                process.join(10)


class _environment:  # noqa: N801 - a context manager, named as one
    """Variables of the environment for as long as the block lasts."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values

    def __enter__(self) -> None:
        self._before = {name: os.environ.get(name) for name in self._values}
        os.environ.update(self._values)

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin(parent: int) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(ONE_THREAD)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)
