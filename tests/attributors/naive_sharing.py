"""The sharing out of what forecasts leave unexplained, in loops nobody can misread; levels in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import isnan, nan, prod, sqrt

import numpy as np

from trajcredit.arrays import BOOL, F64
from trajcredit.attributors.sharing import EFFECT, IN_VAIN, LEAST, MISSED, OTHER, SLIP, STOP
from trajcredit.batching import Batch
from trajcredit.model import KIND_CODES

__all__ = ["doubts", "levels", "share_out", "spreads"]


def _spans(batch: Batch, t: int) -> range:
    return range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))


def _scored(batch: Batch) -> list[int]:
    return [t for t in range(batch.n_trajectories) if not isnan(batch.outcome[t])]


def _groups(batch: Batch, pool: int) -> list[list[Fraction]]:
    """Outcomes of the groups of two or more that have a scored member in the pool."""
    there = {int(batch.group[t]) for t in _scored(batch) if batch.pool[t] == pool}
    groups = [_rewards(batch, g) for g in sorted(there)]
    return [rewards for rewards in groups if len(rewards) > 1]


def _rewards(batch: Batch, group: int) -> list[Fraction]:
    return [Fraction(float(batch.outcome[t])) for t in _scored(batch) if batch.group[t] == group]


def _mean(numbers: list[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


def _variance(numbers: list[Fraction]) -> Fraction:
    return sum(((x - _mean(numbers)) ** 2 for x in numbers), Fraction(0)) / (len(numbers) - 1)


def levels(batch: Batch) -> list[float]:
    """R - b of every trajectory."""
    out = [nan] * batch.n_trajectories
    for t in _scored(batch):
        mine = _rewards(batch, int(batch.group[t]))
        reward, n = Fraction(float(batch.outcome[t])), len(mine)
        groups = _groups(batch, int(batch.pool[t]))
        if n == 1:
            out[t] = 0.0
        elif len(set(mine)) > 1:
            out[t] = float(reward - (sum(mine) - reward) / (n - 1))
        elif len(groups) < 2:
            out[t] = 0.0
        else:
            k = _lean(groups)
            others = (sum((_mean(g) for g in groups), Fraction(0)) - reward) / (len(groups) - 1)
            out[t] = float(reward - (k * others + (n - 1) * reward) / (k + n - 1))
    return out


def _lean(groups: list[list[Fraction]]) -> Fraction:
    """Variance within over variance between; the largest group where there is none between."""
    within = _mean([_variance(g) for g in groups])
    luck = _mean([within / len(g) for g in groups])
    between = _variance([_mean(g) for g in groups]) - luck
    if between > luck * Fraction(LEAST):
        return within / between
    return Fraction(max(len(g) for g in groups) if within else 0)


def spreads(batch: Batch, forecast: F64, chosen: BOOL) -> list[float]:
    """Root mean square of the forecasts of decisions of the same kind, of scored trajectories."""
    kinds = {i: kind for t in range(batch.n_trajectories) for i, kind in _kinds(batch, chosen, t).items()}
    scored = {i for t in _scored(batch) for i in _spans(batch, t)}
    out = [0.0] * batch.n_spans
    for i, kind in kinds.items():
        like = [float(forecast[j]) ** 2 for j, other in kinds.items() if other == kind and j in scored]
        out[i] = sqrt(sum(like) / len(like)) if like else 0.0
    return out


def _kinds(batch: Batch, chosen: BOOL, t: int) -> dict[int, tuple[object, ...]]:
    """Decision -> pool, what it is, the last call of an earlier turn."""
    calls = [i for i in _spans(batch, t) if _is_call(batch, i)]
    found: dict[int, tuple[object, ...]] = {}
    mine = [i for i in _spans(batch, t) if chosen[i]]
    for i in mine:
        earlier = [j for j in calls if batch.turn[j] < batch.turn[i]]
        what = ("call", int(batch.tool[i])) if _is_call(batch, i) else ("says", i == mine[-1])
        last = (int(batch.tool[earlier[-1]]), bool(batch.is_error[earlier[-1]])) if earlier else None
        found[i] = (int(batch.pool[t]), what, last)
    return found


def _is_call(batch: Batch, i: int) -> bool:
    return bool(batch.kind[i] == KIND_CODES["tool_call"])


def doubts(batch: Batch, chosen: BOOL, short: BOOL, trust: F64) -> list[float]:
    """Chance that each decision spoilt its run."""
    out = [0.0] * batch.n_spans
    made = [_effects(batch, chosen, t) for t in range(batch.n_trajectories)]
    for t in range(batch.n_trajectories):
        mine = [i for i in _spans(batch, t) if chosen[i]]
        better = [(gap, set(made[u].values())) for u, gap in _better(batch, t)]
        intact = 1.0
        for i in mine:
            chance = OTHER
            if i in made[t]:
                votes = prod(SLIP**gap if made[t][i] in calls else MISSED**-gap for gap, calls in better)
                chance = _chance(EFFECT, votes)
            if i == mine[-1]:
                votes = prod(SLIP**gap if calls <= set(made[t].values()) else MISSED**-gap for gap, calls in better)
                chance = 1 - (1 - chance) * (1 - _chance(IN_VAIN if _in_vain(batch, t) else STOP, votes))
            out[i] = chance * (trust[t] + (1 - trust[t]) * (intact if short[i] else 1.0))
            intact *= 1 - chance if i in made[t] else 1.0
    return out


def _effects(batch: Batch, chosen: BOOL, t: int) -> dict[int, int]:
    """Successful effect -> what was called."""
    return {
        i: int(batch.call_key[i]) for i in _spans(batch, t) if chosen[i] and batch.is_write[i] and not batch.is_error[i]
    }


def _better(batch: Batch, t: int) -> list[tuple[int, float]]:
    """Siblings that did better, and by how much, in parts of the widest range within a group of the pool."""
    scored = _scored(batch)
    if t not in scored:
        return []
    there = {int(batch.group[u]) for u in scored if batch.pool[u] == batch.pool[t]}
    ranges = [float(max(r) - min(r)) for r in (_rewards(batch, g) for g in there)]
    siblings = [u for u in scored if batch.group[u] == batch.group[t] and batch.outcome[u] > batch.outcome[t]]
    return [(u, float(batch.outcome[u] - batch.outcome[t]) / max(ranges)) for u in siblings]


def _chance(prior: float, votes: float) -> float:
    odds = prior / (1 - prior) * votes
    return odds / (1 + odds)


def _in_vain(batch: Batch, t: int) -> bool:
    """Whether the last call of some tool that changes state failed."""
    last = {int(batch.tool[i]): bool(batch.is_error[i]) for i in _spans(batch, t) if batch.is_write[i]}
    return any(last.values())


def share_out(
    batch: Batch, forecast: F64, chosen: BOOL, trust: F64, part: float
) -> tuple[list[float], list[float], list[float]]:
    """Credit and share of every span, what is left of every trajectory."""
    mine = [[i for i in _spans(batch, t) if chosen[i]] for t in range(batch.n_trajectories)]
    believed = [0.0] * batch.n_spans
    for t, spans in enumerate(mine):
        for i in spans:
            believed[i] = float(trust[t] * forecast[i])
    against, left = levels(batch), [nan] * batch.n_trajectories
    for t in _scored(batch):
        alone = len(_rewards(batch, int(batch.group[t]))) == 1
        left[t] = 0.0 if alone else against[t] - sum(believed[i] for i in mine[t])
    short = np.zeros(batch.n_spans, dtype=bool)
    for t, spans in enumerate(mine):
        short[spans] = left[t] < 0
    usual = spreads(batch, np.array(believed), chosen)
    doubt = doubts(batch, chosen, short, trust)
    credit, share = [0.0] * batch.n_spans, [0.0] * batch.n_spans
    for t, spans in enumerate(mine):
        unknown = (1 - trust[t]) * _unit(batch, mine, int(batch.pool[t]))
        weight = [usual[i] + (abs(believed[i]) if short[i] else 0.0) + unknown * doubt[i] for i in spans]
        for i, own in zip(spans, weight, strict=True):
            share[i] = own / sum(weight) if sum(weight) > 0 else 1 / len(spans)
            credit[i] = believed[i] + part * share[i] * left[t]
    return credit, share, left


def _unit(batch: Batch, mine: list[list[int]], pool: int) -> float:
    """Spread of outcomes within the groups of a pool, for one decision of a run."""
    there = [t for t in _scored(batch) if batch.pool[t] == pool]
    squares, counts = [], [max(len(mine[t]), 1) for t in there]
    for t in there:
        rewards = _rewards(batch, int(batch.group[t]))
        if len(rewards) > 1:
            squares.append(float((Fraction(float(batch.outcome[t])) - _mean(rewards)) ** 2))
    return sqrt(sum(squares) / len(squares)) / sqrt(sum(counts) / len(counts)) if squares else 0.0
