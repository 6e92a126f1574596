"""Large batches of padded rows in pieces, on several threads at once: the kernels hold no interpreter lock.

Pieces are cut by the shape alone, so that results do not depend on how many threads there are. As many threads work as
numba would use (NUMBA_NUM_THREADS, by default the cores this process may have); where the machine is busy with other
work they wait their turn like any others, where numba's own parallel loops spin.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from trajcredit.kernels.jit import threads

__all__ = ["PIECE", "by_rows", "row_pieces"]

PIECE = 1 << 20
"""Tokens of a piece, about: some milliseconds of work, against a tenth for a thread to start."""

T = TypeVar("T")


def by_rows(shape: tuple[int, ...], work: Callable[[slice], T]) -> list[T]:
    """What `work` gives for each piece of the rows, in their order."""
    pieces = row_pieces(shape)
    at_once = min(threads(), len(pieces))
    if at_once < 2:
        return list(map(work, pieces))
    with ThreadPoolExecutor(at_once, thread_name_prefix="kernel") as pool:
        return list(pool.map(work, pieces))


def row_pieces(shape: tuple[int, ...]) -> list[slice]:
    """Rows of B x L tokens in pieces of about PIECE tokens, as even as they can be; at least one."""
    rows, length = shape
    pieces = max(1, min(rows, round(rows * length / PIECE)))
    ends = [rows * k // pieces for k in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]
