"""The interval of a share, that of none and of all included."""

from __future__ import annotations

from math import nan, sqrt

__all__ = ["Z", "wilson"]

Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % score interval of a share of n (Wilson 1927, as in Brown, Cai and DasGupta 2001, section 3.1.1).

    (p + z^2/2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2/n)
    """
    if n < 1:
        return nan, nan
    p, part = min(max(share, 0.0), 1.0), Z * Z / n
    middle, half = p + part / 2, Z * sqrt(p * (1 - p) / n + part / (4 * n))
    low = (middle - half) / (1 + part) if p > 0.0 else 0.0  # rounding alone would leave 1e-17
    return max(0.0, low), min(1.0, (middle + half) / (1 + part)) if p < 1.0 else 1.0
