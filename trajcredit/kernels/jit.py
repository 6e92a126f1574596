"""numba's njit with a type, and where the machine code is kept: the only place that names numba.

numba takes kept code for fresh while the file of the called function is unchanged, whatever happened to the kernels
that it calls in other files. So all is kept in a folder named after the sources of all kernels: a change in one of them
starts anew. A process holds a lock on its folder for as long as it lives, and removes those beside it that nobody used
for a week: two versions that take turns keep what they compiled.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

from numba import config, njit
from numba.misc.appdirs import AppDirs

if sys.platform != "win32":
    import fcntl

__all__ = ["KEPT_IN", "jit", "threads"]

LOCK = "in-use"
"""File in a folder that is locked by whoever uses it; its time is that of the last start."""
IDLE = 7 * 24 * 3600.0
"""Seconds without a start after which a folder that nobody has locked is removed."""
OURS = re.compile(r"trajcredit-[0-9a-f]{16}")
GONE = re.compile(r"trajcredit-gone-[0-9a-f]{16}-[0-9]+")
"""What a folder is called while its files are removed: whoever was killed at that left it to the next."""
ATTEMPTS = 10

F = TypeVar("F", bound=Callable[..., Any])

_numba: Any = config
_dirs: Any = AppDirs
"""numba tells no types."""


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk, release the interpreter lock while it runs."""
    if KEPT_IN is None:
        return cast("F", njit(nogil=True)(function))
    with _cache_at(KEPT_IN):
        return cast("F", njit(cache=True, nogil=True)(function))


def threads() -> int:
    """How many threads numba would use: NUMBA_NUM_THREADS, by default the cores that this process may have."""
    return int(_numba.NUMBA_NUM_THREADS)


def _place() -> Path | None:
    """The folder for code compiled from these sources; null, and said once, where none can be written to."""
    here = Path(__file__).parent
    sources = sha256(b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))).hexdigest()
    own = (here / "__pycache__", Path(_dirs(appname="numba", appauthor=False).user_cache_dir))
    for parent in [Path(_numba.CACHE_DIR)] if _numba.CACHE_DIR else own:
        folder = parent / f"trajcredit-{sources[:16]}"
        try:
            _held.append(_hold(folder))
            TemporaryFile(dir=folder).close()
        except OSError:
            continue
        _prune(parent, folder, time.time())
        return folder
    logging.getLogger(__name__).warning(
        "no folder to keep compiled kernels in: every run compiles them again, which can take a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )
    return None


def _hold(folder: Path) -> int:
    """The open file of a lock on the folder, made where it is not there, that ends with the process."""
    for _ in range(ATTEMPTS):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # removed since
            held = os.open(folder / LOCK, os.O_RDONLY | os.O_CREAT, 0o644)
            if sys.platform != "win32":
                with suppress(OSError):  # a file system without locks: then only the time tells
                    fcntl.flock(held, fcntl.LOCK_SH)
            with suppress(PermissionError):  # of another user, who keeps its time
                os.utime(held if os.utime in os.supports_fd else folder / LOCK)
            if _is_at(held, folder / LOCK):
                return held
            os.close(held)  # what it locks was moved away before we had it
    raise OSError(f"{folder}: removed by others again and again")


def _prune(parent: Path, own: Path, now: float) -> None:
    """Remove the folders of other versions that nobody uses, and what others left half removed."""
    if sys.platform == "win32":
        return
    for folder in parent.glob("trajcredit-*"):
        if GONE.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
        elif OURS.fullmatch(folder.name) and folder != own:
            with suppress(OSError):  # somebody uses it, removed it just now, or it is not ours to write in
                _remove_idle(folder, now)


def _remove_idle(folder: Path, now: float) -> None:
    """Moved first, so that no process finds half of it; OSError where it is in use."""
    lock = folder / LOCK
    told = lock.exists()  # by versions that lock it
    if now - (lock if told else folder).stat().st_mtime < IDLE:
        return
    held = os.open(lock, os.O_RDONLY | os.O_CREAT, 0o644)
    gone = folder.with_name(f"{folder.name.replace('-', '-gone-')}-{os.getpid()}")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        used = told and now - os.fstat(held).st_mtime < IDLE  # by somebody who came and went since we looked
        if used or not _is_at(held, lock):
            return
        folder.rename(gone)
    finally:
        os.close(held)
    shutil.rmtree(gone, ignore_errors=True)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file is the one of that path: neither was moved since it was opened."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _cache_at(folder: Path) -> Iterator[None]:
    """numba reads the place of its cache when a function is decorated; other users of numba keep theirs."""
    before = _numba.CACHE_DIR
    _numba.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _numba.CACHE_DIR = before


_held: list[int] = []
"""Open files whose locks end with the process."""
KEPT_IN = _place()
"""Where compiled kernels are kept; null: nowhere."""
