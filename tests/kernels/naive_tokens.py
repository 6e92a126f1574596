"""Slow twins of the kernels of padded rows, a row at a time, straight from the trainers' recursions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import sqrt

__all__ = ["advantages", "by_turn", "returns", "white"]

Row = Sequence[float]


def advantages(
    rewards: Row, values: Row, mask: Sequence[int], bootstrap: float, gamma: float, lam: float, gap: str
) -> list[float]:
    """sum over l of (gamma lam)^l delta_{k+l} over the steps; gap: skip, step (at 0) or read."""
    acts = [j for j, sampled in enumerate(mask) if sampled]
    steps = acts if gap == "skip" else list(range(len(mask)))
    r = {j: rewards[j] if mask[j] or gap == "read" else 0.0 for j in steps}
    v = [values[j] if mask[j] or gap == "read" else 0.0 for j in steps] + [bootstrap]
    delta = [r[j] + gamma * v[k + 1] - v[k] for k, j in enumerate(steps)]
    out = [0.0] * len(mask)
    for k, j in enumerate(steps):
        if mask[j] or gap == "read":
            out[j] = sum((gamma * lam) ** n * d for n, d in enumerate(delta[k:]))
    return out


def by_turn(
    rewards: Row, values: Row, mask: Sequence[int], turn: Sequence[int], bootstrap: float, gamma: float, lam: float
) -> list[float]:
    """As `advantages`, over the turns of the sampled tokens."""
    acts = [j for j, sampled in enumerate(mask) if sampled]
    turns = [list(of) for _, of in groupby(acts, key=lambda j: turn[j])]
    v = [values[of[0]] for of in turns] + [bootstrap]
    delta = [sum(rewards[j] for j in of) + gamma * v[k + 1] - v[k] for k, of in enumerate(turns)]
    out = [0.0] * len(mask)
    for k, of in enumerate(turns):
        for j in of:
            out[j] = sum((gamma * lam) ** n * d for n, d in enumerate(delta[k:]))
    return out


def returns(rewards: Row, mask: Sequence[int], gamma: float, gap: str) -> list[float]:
    """sum of gamma^n r over what is ahead, n counted in sampled tokens (skip) or all (step); reset: up to the gap."""
    out = [0.0] * len(mask)
    for j, sampled in enumerate(mask):
        if gap == "reset":
            for n, at in enumerate(range(j, len(mask))):
                if n and not mask[at]:
                    break
                out[j] += gamma**n * rewards[at]
        elif sampled:
            ahead = [at for at in range(j, len(mask)) if mask[at]]
            out[j] = sum(gamma ** (at - j if gap == "step" else n) * rewards[at] for n, at in enumerate(ahead))
    return out


def white(values: Row, mask: Sequence[int], ddof: int, eps: float, at: str) -> list[float]:
    """(x - mean) over sqrt(var + eps) (inside), sqrt(max(var, eps)) (floor) or sqrt(var) + eps (outside)."""
    kept = [x for x, sampled in zip(values, mask, strict=True) if sampled]
    if len(kept) <= ddof or len(set(kept)) < 2:
        return [0.0] * len(mask)
    mean = sum(kept) / len(kept)
    var = sum((x - mean) ** 2 for x in kept) / (len(kept) - ddof)
    over = {"inside": sqrt(var + eps), "floor": sqrt(max(var, eps)), "outside": sqrt(var) + eps}[at]
    return [(x - mean) / over if sampled else 0.0 for x, sampled in zip(values, mask, strict=True)]
