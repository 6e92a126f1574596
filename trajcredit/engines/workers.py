"""What a worker process does before its first item: one thread, no say in Ctrl-C, and an end when its parent ends.

Light on purpose: a library reads its number of threads when it is imported, so this comes first.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread

__all__ = ["ONE_THREAD", "begin", "one_thread"]

ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""As many workers as cores are asked for: threads of theirs would only get into each other's way."""


def begin(lifeline: Connection) -> None:
    """Get ready. The parent holds the other end of `lifeline`: closed, or the parent dead, this ends."""
    one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent too, which ends this one
    Thread(target=_watch, args=(lifeline,), name="lifeline", daemon=True).start()


def one_thread() -> None:
    """One thread for each library that is imported from here on."""
    for name in ONE_THREAD:
        os.environ[name] = "1"


def _watch(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)
