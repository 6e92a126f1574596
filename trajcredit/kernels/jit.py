"""numba's njit with a type: the only place that names numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["jit"]

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk, release the interpreter lock while it runs."""
    return cast("F", njit(cache=True, nogil=True)(function))
