"""Torch twins of `kernels.whitening`; which trainer whitens how, and what moments are, is said there."""

from __future__ import annotations

from math import hypot, inf, sqrt

import torch
from torch import Tensor

from trajcredit.kernels.whitening import Moments, Whitening, merged

__all__ = ["merged", "moments", "padded_whiten", "whiten", "whitened"]


def moments(values: Tensor, mask: Tensor) -> Moments:
    """The moments of the values on the mask, as numbers: they are read from the device.

    values  f64[N] or f32[N]    off the mask anything, NaN too; on it finite
    mask    bool[N] or i64[N]
    """
    own = values[mask != 0].double()
    if not len(own):
        return Moments(0, 0.0, 0.0, inf, -inf)
    mean = own[0] + (own - own[0]).sum() / len(own)
    low, high = own.min(), own.max()
    largest = torch.maximum(high - mean, mean - low)
    squares = (((own - mean) / torch.where(largest > 0.0, largest, 1.0)) ** 2).sum()
    found = torch.stack([mean, largest * squares.sqrt(), low, high]).tolist()
    return Moments(len(own), *found)


def whiten(values: Tensor, mask: Tensor, how: Whitening) -> Tensor:
    """The values on the mask, of mean 0 and about unit spread; 0 off it. Arguments as the numba kernel of the name."""
    return whitened(values, mask, moments(values, mask), how)


def whitened(values: Tensor, mask: Tensor, of: Moments, how: Whitening) -> Tensor:
    """As `whiten`, with the moments of the whole of which these values are a chunk."""
    spread = of.spread(how.ddof)
    if spread == 0.0:
        divisor = inf
    elif how.at == "outside":
        divisor = spread + how.eps
    else:
        divisor = hypot(spread, sqrt(how.eps)) if how.at == "inside" else max(spread, sqrt(how.eps))
    return torch.where(mask != 0, (values.double() - of.mean) / divisor, 0.0).to(values.dtype)


def padded_whiten(values: Tensor, mask: Tensor, how: Whitening) -> Tensor:
    """`whiten` over all rows of a padded batch: values f64[B, L] or f32[B, L], mask bool[B, L] or i64[B, L]."""
    return whiten(values.reshape(-1), mask.reshape(-1), how).reshape(values.shape)
