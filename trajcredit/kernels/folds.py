"""Folds of named groups, for whatever is fitted on some and asked of the others."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from trajcredit.arrays import I64

__all__ = ["FOLDS", "folds_of", "ranks"]

FOLDS = 10


def folds_of(names: Sequence[str], most: int) -> I64:
    """Fold i64[G] of each group, sizes differing by one at most; it follows from the names, not from their order."""
    fold: I64 = ranks(names) % max(1, min(most, len(names)))
    return fold


def ranks(names: Sequence[str]) -> I64:
    """The place i64[G] of each group in an order that follows from the names alone, and that no alphabet decides."""
    marks = [(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest(), name) for name in names]
    order = sorted(range(len(names)), key=marks.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank
