"""What becomes of the size of advantages where a trainer packs rows of a batch together and rescales them."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64

__all__ = ["pack_rescale"]

EPS = 1e-6


def pack_rescale(advantages: F64, mask: BOOL, offsets: I64) -> tuple[F64, F64]:
    """Token advantages and weights as ART trains on them: only ratios of what goes in survive.

    advantages  f64[N]    of the tokens of a packed batch
    mask        bool[N]   tokens the assistant wrote
    offsets     i64[T+1]  trajectory t owns tokens offsets[t]:offsets[t+1]
    returns     f64[N]    A / mean(|A| w) over the mask; A itself where that mean is 0; 0 off the mask
                f64[N]    w = 1 / (tokens of the trajectory on the mask + 1e-6), rescaled to mean 1; 0 off the mask

    ART 0.5.18, pack.py:140-160.
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    written = np.bincount(owner, mask, len(offsets) - 1)
    weights: F64 = np.where(mask, 1.0 / (written + EPS)[owner], 0.0)
    kept: F64 = np.where(mask, advantages, 0.0)
    if not mask.any():
        return kept, weights
    weights = weights / weights[mask].mean()
    size = float((np.abs(kept) * weights)[mask].mean())
    return (kept / size if size > 0.0 else kept), weights
