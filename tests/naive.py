"""Slow twins of the kernels: pure Python, straight from the formula, that nobody can misread.

Statistics of groups are taken in fractions, so they are exact until the last line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from math import isnan, nan, sqrt
from typing import TypeAlias

from trajcredit.arrays import BOOL, F64, I64

Numbers: TypeAlias = Sequence[float] | F64
Labels: TypeAlias = Sequence[int] | I64
Masks: TypeAlias = Sequence[bool] | BOOL

# ---------------------------------------------------------------- one trajectory at a time


def _actions(action_mask: Masks, offsets: Labels) -> list[list[int]]:
    """The action spans of every trajectory."""
    return [[i for i in range(offsets[t], offsets[t + 1]) if action_mask[i]] for t in range(len(offsets) - 1)]


def broadcast(scalar: Numbers, action_mask: Masks, offsets: Labels) -> list[float]:
    """The number of the trajectory on its actions."""
    out = [nan] * len(action_mask)
    for t, actions in enumerate(_actions(action_mask, offsets)):
        for i in actions:
            out[i] = scalar[t]
    return out


def reward_to_go(rewards: Numbers, action_mask: Masks, offsets: Labels, gamma: float) -> list[float]:
    """sum over n of gamma^n r_{k+n}, n counted in actions."""
    out = [nan] * len(rewards)
    for actions in _actions(action_mask, offsets):
        for k, i in enumerate(actions):
            out[i] = sum(gamma**n * rewards[j] for n, j in enumerate(actions[k:]))
    return out


def gae(
    rewards: Numbers,
    values: Numbers,
    action_mask: Masks,
    bootstrap: Numbers,
    offsets: Labels,
    gamma: float,
    lam: float,
) -> list[float]:
    """sum over l of (gamma lam)^l delta_{k+l}."""
    out = [nan] * len(rewards)
    for t, actions in enumerate(_actions(action_mask, offsets)):
        steps = [(rewards[i], values[i]) for i in actions]
        for i, advantage in zip(actions, _advantages(steps, bootstrap[t], gamma, lam), strict=True):
            out[i] = advantage
    return out


def gae_by_turn(
    rewards: Numbers,
    values: Numbers,
    action_mask: Masks,
    turn: Labels,
    bootstrap: Numbers,
    offsets: Labels,
    gamma: float,
    lam: float,
) -> list[float]:
    """The same with one step a turn: its rewards added, V at its first action."""
    out = [nan] * len(rewards)
    for t, actions in enumerate(_actions(action_mask, offsets)):
        turns = [list(spans) for _, spans in groupby(actions, key=lambda i: turn[i])]
        steps = [(sum(rewards[i] for i in spans), values[spans[0]]) for spans in turns]
        for spans, advantage in zip(turns, _advantages(steps, bootstrap[t], gamma, lam), strict=True):
            for i in spans:
                out[i] = advantage
    return out


def _advantages(steps: list[tuple[float, float]], bootstrap: float, gamma: float, lam: float) -> list[float]:
    after = [value for _, value in steps[1:]] + [bootstrap]
    deltas = [reward + gamma * after[k] - value for k, (reward, value) in enumerate(steps)]
    return [sum((gamma * lam) ** n * delta for n, delta in enumerate(deltas[k:])) for k in range(len(deltas))]


# ---------------------------------------------------------------- groups


def moving_average(outcome: Numbers, beta: float) -> list[float]:
    """Weighted mean of the earlier scored outcomes, the one before at weight 1, the one before that at beta, ..."""
    out: list[float] = []
    earlier: list[float] = []
    for reward in outcome:
        weights = [beta**age for age in range(len(earlier))]
        mean = sum(w * r for w, r in zip(weights, reversed(earlier), strict=True)) / sum(weights) if earlier else 0.0
        out.append(nan if isnan(reward) else mean)
        earlier += [] if isnan(reward) else [reward]
    return out


def members(outcome: Numbers, group: Labels) -> list[int]:
    """Scored members of the group of each trajectory."""
    return [sum(g == mine and not isnan(r) for r, g in zip(outcome, group, strict=True)) for mine in group]


def centre(outcome: Numbers, group: Labels) -> list[float]:
    """R - mean of the group."""
    return _each(outcome, group, lambda mine, others: mine - _mean([mine, *others]))


def leave_one_out(outcome: Numbers, group: Labels) -> list[float]:
    """R - mean of the others; 0 without others."""
    return _each(outcome, group, lambda mine, others: mine - _mean(others) if others else 0.0)


def spread(outcome: Numbers, group: Labels, ddof: int) -> list[float]:
    """Standard deviation of the group; 0 where it is not defined."""
    return _each(outcome, group, lambda mine, others: _deviation([mine, *others], ddof))


def sibling_spread(outcome: Numbers, group: Labels, ddof: int) -> list[float]:
    """Standard deviation of the others; 0 where it is not defined."""
    return _each(outcome, group, lambda _, others: _deviation(others, ddof))


def _each(outcome: Numbers, group: Labels, says: Callable[[Fraction, list[Fraction]], Fraction | float]) -> list[float]:
    """What `says` answers for each scored member, given its reward and those of the other scored ones."""
    out = []
    for t, reward in enumerate(outcome):
        others = [Fraction(r) for o, r in enumerate(outcome) if o != t and group[o] == group[t] and not isnan(r)]
        out.append(nan if isnan(reward) else float(says(Fraction(reward), others)))
    return out


def _mean(rewards: list[Fraction]) -> Fraction:
    return sum(rewards, Fraction(0)) / len(rewards)


def _deviation(rewards: list[Fraction], ddof: int) -> float:
    if len(rewards) <= ddof:
        return 0.0
    mean = _mean(rewards)
    return sqrt(sum((r - mean) ** 2 for r in rewards) / (len(rewards) - ddof))


# ---------------------------------------------------------------- graphs


def ancestors(sinks: Masks, edges: Sequence[tuple[int, int]]) -> list[bool]:
    """Sinks, and whatever has an edge into something already found."""
    found = {i for i, sink in enumerate(sinks) if sink}
    while more := {parent for parent, child in edges if child in found} - found:
        found |= more
    return [i in found for i in range(len(sinks))]


def best_path(
    sinks: Masks, action_mask: Masks, edges: Sequence[tuple[int, int, float]], gamma: float
) -> tuple[list[float], list[int]]:
    """Every path from every span to every sink is walked; the largest factor wins, then the fewest hops."""

    def paths(i: int) -> list[tuple[float, int]]:
        found = [(1.0, 0)] if sinks[i] else []
        for parent, child, gain in edges:
            if parent == i and gain > 0:
                step = 1 if action_mask[i] else 0
                found += [(factor * gain * gamma**step, hops + step) for factor, hops in paths(child)]
        return found

    best = [max(paths(i), key=lambda path: (path[0], -path[1]), default=(0.0, -1)) for i in range(len(sinks))]
    factors = [factor if acts else nan for (factor, _), acts in zip(best, action_mask, strict=True)]
    return factors, [hops for _, hops in best]
