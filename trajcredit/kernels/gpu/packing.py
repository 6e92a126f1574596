"""Torch twin of `kernels.packing`: the size of advantages where a trainer packs rows together and rescales them."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.segments import owners, totals
from trajcredit.kernels.packing import EPS

__all__ = ["pack_rescale"]


def pack_rescale(advantages: Tensor, mask: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Token advantages and weights as ART trains on them; arguments and both results, f64[N], as the numpy function.

    ART 0.5.18, pack.py:140-160.
    """
    owner = owners(offsets, len(mask))
    written = totals(mask.double(), offsets.diff())
    weights = torch.where(mask, (1.0 / (written + EPS))[owner], 0.0)
    kept = torch.where(mask, advantages, 0.0)
    n = mask.sum().clamp(min=1)
    weights = weights / torch.where(mask.any(), weights.sum() / n, 1.0)
    size = (kept.abs() * weights).sum() / n
    return torch.where(size > 0.0, kept / torch.where(size > 0.0, size, 1.0), kept), weights
