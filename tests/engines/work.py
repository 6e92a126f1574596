"""Work for engines: functions of a module, as workers need them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from trajcredit.errors import InputError, ParseError


def squared(n: int) -> int:
    time.sleep(0.002 * (n % 3))  # later tasks may end earlier
    return n * n


def told(n: int) -> tuple[int, str | None]:
    """The process, and how many threads its kernels may have."""
    return os.getpid(), os.environ.get("NUMBA_NUM_THREADS")


def fails_at_three(n: int) -> int:
    if n == 3:
        raise ParseError("no number", "a.jsonl", 7)
    return n


def refuses(n: int) -> int:
    raise InputError(f"no {n}")


def dies_once(task: tuple[str, int]) -> int:
    """Number 2 kills its worker, the first time."""
    place, n = task
    begun = Path(place) / f"begun-{n}"
    if n == 2 and not begun.exists():
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def dies(n: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return n
