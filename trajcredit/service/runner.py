"""Who works on queued runs: one thread of one process a database, the oldest run first."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

from trajcredit.engines import Engine
from trajcredit.errors import StoreError
from trajcredit.service.executing import execute
from trajcredit.service.running import ENDED, RunView, find
from trajcredit.store import Store, run_numbers, runs
from trajcredit.store.sole import sole_runner

__all__ = ["Runner", "see_through"]

POLL = 1.0
"""Seconds until the queue is looked at again: other processes put runs into it without a word."""
WAIT_ENDS = 30.0
"""Seconds that a stopping server waits for the piece at work."""
_log = logging.getLogger(__name__)


class Runner:
    """A thread that works on the runs of a database. What a dead process left behind is begun anew."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stopping, self._woken = Event(), Event()
        self._thread = Thread(target=self._live, name="runner", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._woken.set()

    def stop(self) -> None:
        """End after the run at work, or leave it behind where that takes long."""
        self._stopping.set()
        self._woken.set()
        self._thread.join(WAIT_ENDS)

    def _live(self) -> None:
        while not self._stopping.is_set():
            try:
                with sole_runner(self._store) as ours:
                    if ours:
                        self._work()
            except StoreError as error:
                _log.warning("runs wait: %s", error)
            except Exception:  # the thread must outlive what it could not foresee
                _log.exception("runs wait")
            self._rest()

    def _work(self) -> None:
        with self._store.write() as conn:
            left = run_numbers.requeue(conn)
        if left:
            _log.warning("%d run(s) left behind by a process that died: begun anew", left)
        while not self._stopping.is_set():
            with self._store.write() as conn:
                run = runs.claim(conn)
            if run is None:
                self._rest()
            else:
                execute(self._store, run)

    def _rest(self) -> None:
        if not self._stopping.is_set():
            self._woken.wait(POLL)
            self._woken.clear()


def see_through(
    store: Store,
    project: str,
    run: str,
    told: Callable[[int, int], None],
    engine: Engine | None = None,
    away: Callable[[], None] = lambda: None,
) -> RunView:
    """Work on a run here, by an engine that is open, or wait for the process that works on this database; how it ended.

    `away` is called once where it is that process: it has an engine of its own.
    """
    pause, said = Event(), False
    while True:
        with sole_runner(store) as ours:
            if ours:
                _work_on(store, run, told, engine)
            elif not said:
                said = True
                away()
        found = find(store, project, run)
        if found.state in ENDED:
            return found
        told(found.done, found.total)
        pause.wait(POLL / 4)


def _work_on(store: Store, run: str, told: Callable[[int, int], None], engine: Engine | None) -> None:
    with store.write() as conn:
        run_numbers.requeue(conn)
        started = runs.start(conn, run)
    if started is not None:
        execute(store, started, told, engine)
