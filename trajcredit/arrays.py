"""The array types every layer speaks: flat, contiguous, one dtype a meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

F64: TypeAlias = npt.NDArray[np.float64]
I64: TypeAlias = npt.NDArray[np.int64]
I32: TypeAlias = npt.NDArray[np.int32]
U64: TypeAlias = npt.NDArray[np.uint64]
U16: TypeAlias = npt.NDArray[np.uint16]
U8: TypeAlias = npt.NDArray[np.uint8]
BOOL: TypeAlias = npt.NDArray[np.bool_]


def offsets_of(lengths: Iterable[int]) -> I64:
    """Offsets i64[n+1] of n consecutive pieces: piece t is [offsets[t], offsets[t+1])."""
    sizes = np.fromiter(lengths, dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
