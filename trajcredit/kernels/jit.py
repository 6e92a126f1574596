"""numba's njit with a type, and where the machine code is kept: the only place that names numba.

numba takes kept code for fresh while the file of the called function is unchanged, whatever happened to the kernels
that it calls in other files. So all is kept in a folder named after the sources of all kernels: a change in one of them
starts anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

from numba import config, njit
from numba.misc.appdirs import AppDirs

__all__ = ["KEPT_IN", "jit"]

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


def _place() -> Path | None:
    """The folder for code compiled from these sources; null, and said once, where none can be written to."""
    here = Path(__file__).parent
    sources = sha256(b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))).hexdigest()
    own = (here / "__pycache__", Path(_dirs(appname="numba", appauthor=False).user_cache_dir))
    for parent in [Path(_numba.CACHE_DIR)] if _numba.CACHE_DIR else own:
        folder = parent / f"trajcredit-{sources[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    logging.getLogger(__name__).warning(
        "no folder to keep compiled kernels in: every run compiles them again, which can take a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )
    return None


@contextmanager
def _cache_at(folder: Path) -> Iterator[None]:
    """numba reads the place of its cache when a function is decorated; other users of numba keep theirs."""
    before = _numba.CACHE_DIR
    _numba.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _numba.CACHE_DIR = before


KEPT_IN = _place()
"""Where compiled kernels are kept; null: nowhere."""
