"""Whitening over the sampled tokens of a batch, as each trainer does it, in one piece or chunk by chunk.

Whoever cannot hold all advantages at once takes the `moments` of each chunk, merges them, and whitens chunk by chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, sqrt
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["WHITENING", "Moments", "Whitening", "merged", "moments", "padded_whiten", "whiten", "whitened"]

Floats = TypeVar("Floats", F64, npt.NDArray[np.float32])
Values: TypeAlias = F64 | npt.NDArray[np.float32]
Mask: TypeAlias = BOOL | I64


@dataclass(frozen=True, slots=True)
class Whitening:
    """How one trainer divides x - mean by a standard deviation s with `ddof`."""

    ddof: int
    """0 population, 1 sample (Bessel)."""
    eps: float
    """Keeps the division away from 0."""
    at: Literal["inside", "floor", "outside"]
    """sqrt(s^2 + eps), sqrt(max(s^2, eps)), or s + eps."""


WHITENING: dict[str, Whitening] = {
    # 0.9.1 utils/torch_functional.py:294-329 masked_whiten
    "verl": Whitening(1, 1e-8, "inside"),
    # 0.3.0, the same function; SkyRL's own mask has observations in, and so their statistics
    "skyrl": Whitening(1, 1e-8, "inside"),
    # 624b824a8 utils/distributed_utils.py:111 distributed_masked_whiten, only with --normalize-advantages
    "slime": Whitening(1, 1e-8, "inside"),
    # 7ea279abf GAE with normalize_advantages
    "nemo": Whitening(1, 1e-8, "inside"),
    # 7ea279abf REINFORCE++
    "nemo_reinforce_pp": Whitening(0, 1e-8, "floor"),
    # 0.11.2 experience_maker.py:325-338
    "openrlhf": Whitening(0, 1e-8, "floor"),
    # 1.0.4 utils/data.py:1378 adv_norm, levels batch
    "areal": Whitening(1, 1e-5, "outside"),
}


@dataclass(frozen=True, slots=True)
class Moments:
    """What whitening needs to know of many numbers.

    count      how many
    mean       their mean; 0 of none
    deviation  the root of the sum of squared differences to the mean: no square can leave the range of floats
    low, high  the smallest and the largest; equal if and only if all are equal. inf and -inf of none
    """

    count: int
    mean: float
    deviation: float
    low: float
    high: float

    def spread(self, ddof: int) -> float:
        """Standard deviation; exactly 0 where all numbers are equal or there are no more than `ddof`."""
        return self.deviation / sqrt(self.count - ddof) if self.count > ddof and self.low < self.high else 0.0


def moments(values: Values, mask: Mask) -> Moments:
    """The moments of the values on the mask.

    values  f64[N] or f32[N]    off the mask anything, NaN too; on it finite
    mask    bool[N] or i64[N]
    """
    count, mean, deviation, low, high = _moments(values, mask)
    return Moments(int(count), float(mean), float(deviation), float(low), float(high))


def merged(left: Moments, right: Moments) -> Moments:
    """The moments of two chunks together (Chan, Golub and LeVeque 1979), the same as of both at once but for rounding.

    Chunks of one and the same number merge to exactly that number and no deviation.
    """
    if not (left.count and right.count):
        return left if left.count else right
    count = left.count + right.count
    gap = right.mean - left.mean
    between = abs(gap) * sqrt(left.count) * sqrt(right.count / count)
    return Moments(
        count=count,
        mean=left.mean + gap * (right.count / count),
        deviation=hypot(left.deviation, right.deviation, between),
        low=min(left.low, right.low),
        high=max(left.high, right.high),
    )


def whiten(values: Floats, mask: Mask, how: Whitening) -> Floats:
    """The values on the mask, of mean 0 and about unit spread.

    values   f64[N] or f32[N]   off the mask anything: it changes nothing
    mask     bool[N] or i64[N]  1 on tokens the policy sampled
    how      one of WHITENING, or another
    returns  like values        (x - mean) / (s with eps); 0 off the mask; exactly 0 throughout where all values on it
                                are equal or there are no more than ddof (verl refuses those)
    """
    return whitened(values, mask, moments(values, mask), how)


def whitened(values: Floats, mask: Mask, of: Moments, how: Whitening) -> Floats:
    """As `whiten`, with the moments of the whole of which these values are a chunk."""
    spread = of.spread(how.ddof)
    white = np.empty_like(values)
    _divide(values, mask, of.mean, _divisor(spread, how) if spread > 0.0 else inf, white)
    return white


def padded_whiten(values: Floats, mask: Mask, how: Whitening) -> Floats:
    """`whiten` over all rows of a padded batch.

    values   f64[B, L] or f32[B, L]
    mask     bool[B, L] or i64[B, L]
    returns  like values
    """
    return whiten(values.reshape(-1), mask.reshape(-1), how).reshape(values.shape)


def _divisor(spread: float, how: Whitening) -> float:
    """The spread with eps; by hypot, so that its square cannot overflow."""
    if how.at == "outside":
        return spread + how.eps
    return hypot(spread, sqrt(how.eps)) if how.at == "inside" else max(spread, sqrt(how.eps))


@jit
def _moments(values: Values, mask: Mask) -> tuple[int, float, float, float, float]:
    """Two passes: the mean as the first number plus the mean difference to it, then differences over the largest."""
    count = 0
    first = 0.0
    total = 0.0
    low = np.inf
    high = -np.inf
    for i in range(len(values)):
        if mask[i]:
            value = np.float64(values[i])
            if count == 0:
                first = value
            count += 1
            total += value - first
            low = min(low, value)
            high = max(high, value)
    mean = first + total / max(count, 1)
    largest = max(high - mean, mean - low)
    square = 0.0
    if count > 0 and largest > 0.0:
        for i in range(len(values)):
            if mask[i]:
                square += ((np.float64(values[i]) - mean) / largest) ** 2
    return count, mean, largest * np.sqrt(square) if square > 0.0 else 0.0, low, high


@jit
def _divide(values: Values, mask: Mask, mean: float, divisor: float, white: Values) -> None:
    """Fill `white`."""
    for i in range(len(values)):
        white[i] = (np.float64(values[i]) - mean) / divisor if mask[i] else 0.0
