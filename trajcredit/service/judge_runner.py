"""Who works on queued judgings: one thread of one process a database, beside the one that works on runs.

A model that is slow never holds up the scoring.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Event, Thread

from trajcredit.errors import StoreError
from trajcredit.judges.models import Configured, configured
from trajcredit.service.judge_work import judge
from trajcredit.store import Store, judgings
from trajcredit.store.sole import sole_runner

__all__ = ["JudgeRunner", "configured"]

POLL = 1.0
"""Seconds until the queue is looked at again: other processes put judgings into it without a word."""
WAIT_ENDS = 30.0
"""Seconds that a stopping server waits for the questions under way."""
_log = logging.getLogger(__name__)


class JudgeRunner:
    """A thread that works on the judgings of a database, and goes on with what a dead process left behind."""

    def __init__(self, store: Store, models: Mapping[str, Configured]) -> None:
        self.models = models
        self._store = store
        self._stopping, self._woken = Event(), Event()
        self._thread = Thread(target=self._live, name="judge-runner", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._woken.set()

    def stop(self) -> None:
        """Ask nothing more, and end once the questions under way are answered; the judging at work goes on later."""
        self._stopping.set()
        self._woken.set()
        self._thread.join(WAIT_ENDS)

    def _live(self) -> None:
        while not self._stopping.is_set():
            try:
                with sole_runner(self._store, "judge") as ours:
                    if ours:
                        self._work()
            except StoreError as error:
                _log.warning("judgings wait: %s", error)
            except Exception:  # the thread must outlive what it could not foresee
                _log.exception("judgings wait")
            self._rest()

    def _work(self) -> None:
        with self._store.write() as conn:
            left = judgings.requeue(conn)
        if left:
            _log.warning("%d judging(s) left behind by a process that died: gone on with", left)
        while not self._stopping.is_set():
            with self._store.write() as conn:
                found = judgings.claim(conn)
            if found is None:
                self._rest()
            else:
                judge(self._store, found, self.models, self._stopping.is_set)

    def _rest(self) -> None:
        if not self._stopping.is_set():
            self._woken.wait(POLL)
            self._woken.clear()
