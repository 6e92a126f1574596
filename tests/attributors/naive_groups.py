"""Slow twins of the group baselines: pure Python, in fractions up to the last line, a formula of the trainers each."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

__all__ = ["gpg", "grpo", "maxrl", "opo", "passk", "rloo"]

Scores = Sequence[float]
Groups = Sequence[str]


def _group(outcomes: Scores, groups: Groups, i: int) -> list[Fraction]:
    return [Fraction(r) for r, g in zip(outcomes, groups, strict=True) if g == groups[i]]


def _mean(rewards: Sequence[Fraction]) -> Fraction:
    return sum(rewards, Fraction(0)) / len(rewards)


def _spread(numbers: Sequence[Fraction], about: Fraction, ddof: int) -> float:
    return sqrt(sum((x - about) ** 2 for x in numbers) / (len(numbers) - ddof))


def grpo(
    outcomes: Scores, groups: Groups, ddof: int, eps: float, baseline: str, spread: str, residual: bool, raw: bool
) -> tuple[list[float], list[float]]:
    """Credit and advantage; residual: the spread is of credits about 0; raw: what a group of one gets."""
    every = [Fraction(r) for r in outcomes]
    credit = []
    for i, r in enumerate(every):
        own = every if baseline == "batch" else _group(outcomes, groups, i)
        mean = _mean(own)
        if len(own) == 1:
            credit.append(r if raw else Fraction(0))
        else:
            credit.append((r - mean) * (Fraction(len(own), len(own) - 1) if baseline == "siblings" else 1))
    advantage = []
    for i, c in enumerate(credit):
        beside = [j for j in range(len(every)) if spread == "batch" or groups[j] == groups[i]]
        if spread == "siblings":
            beside.remove(i)
        numbers = [credit[j] if residual else every[j] for j in beside]
        alone = len(beside) + (spread == "siblings") == 1
        if spread == "none":
            advantage.append(float(c))
        elif alone:
            advantage.append(float(c) / (1 + eps))
        else:
            s = _spread(numbers, Fraction(0) if residual else _mean(numbers), ddof) if len(numbers) > ddof else 0.0
            advantage.append(float(c) / (s + eps) if s else float(c))
    return list(map(float, credit)), advantage


def rloo(outcomes: Scores, groups: Groups, raw: bool) -> list[float]:
    """R minus the mean of the others."""
    return grpo(outcomes, groups, 0, 0.0, "siblings", "none", False, raw)[0]


def opo(outcomes: Scores, groups: Groups, lengths: Sequence[int], raw: bool) -> list[float]:
    """R - sum L R / sum L."""
    out = []
    for i, r in enumerate(outcomes):
        own = [j for j in range(len(outcomes)) if groups[j] == groups[i]]
        mean = Fraction(sum(lengths[j] * Fraction(outcomes[j]) for j in own), sum(lengths[j] for j in own))
        out.append(r if raw and len(own) == 1 else float(Fraction(r) - mean))
    return out


def maxrl(outcomes: Scores, groups: Groups, eps: float, raw: bool) -> list[float]:
    """(R - mean) / (mean + eps); without eps 0 where the mean is not above 0."""
    out = []
    for i, r in enumerate(outcomes):
        own = _group(outcomes, groups, i)
        mean = _mean(own)
        if raw and len(own) == 1:
            out.append(r)
        elif eps == 0 and mean <= 0:
            out.append(0.0)
        else:
            out.append(float(Fraction(r) - mean) / (float(mean) + eps))
    return out


def gpg(outcomes: Scores, groups: Groups, raw: bool) -> list[float]:
    """B / (rewards that are not 0) times R - mean."""
    centred = grpo(outcomes, groups, 0, 0.0, "group", "none", False, raw)[0]
    alpha = len(outcomes) / max(1, sum(r != 0 for r in outcomes))
    return [alpha * c for c in centred]


def passk(outcomes: Scores, groups: Groups, eps: float) -> list[float]:
    """(R_1 - R_2) / (std + eps) for the best of each group."""
    out = []
    for i, r in enumerate(outcomes):
        own = sorted(_group(outcomes, groups, i), reverse=True)
        leads = len(own) > 1 and Fraction(r) == own[0] != own[1]
        out.append(float(own[0] - own[1]) / (_spread(own, _mean(own), 1) + eps) if leads else 0.0)
    return out
