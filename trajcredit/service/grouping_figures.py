"""How the rollouts of a group did: mean, spread, and the chance that one of k passes."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite, sqrt

__all__ = ["mean_of", "pass_at_k", "spread_of"]

MOST_K = 1000


def mean_of(values: Sequence[float]) -> float | None:
    """The mean, whatever the order of the values; null of none."""
    if not values:
        return None
    try:
        return fsum(values) / len(values)
    except OverflowError:
        return fsum(value / len(values) for value in values)


def spread_of(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample (divided by n - 1), as trainers print it; null of fewer than two.

    torch.std, which the group normalisation of verl, TRL and OpenRLHF calls, divides so too. 0 exactly where all values
    are equal.
    """
    if len(values) < 2:
        return None
    if min(values) == max(values):
        return 0.0
    largest = max(map(abs, values))
    middle = fsum(value / largest for value in values) / len(values)
    squares = fsum((value / largest - middle) ** 2 for value in values)
    spread = sqrt(squares / (len(values) - 1)) * largest
    return spread if isfinite(spread) else None


def pass_at_k(n: int, passed: int) -> list[float]:
    """The chance that at least one of k rollouts passes, for k = 1..n (at most MOST_K): 1 - C(n - c, k) / C(n, k).

    Unbiased from n rollouts of which c passed: Chen et al. 2021 (arXiv 2107.03374), eq. 1, as the product that they
    compute it by.
    """
    found, none_of_them = [], 1.0
    for drawn in range(min(n, MOST_K)):
        none_of_them *= max(0, n - passed - drawn) / (n - drawn)
        found.append(1 - none_of_them)
    return found
