"""Reward, pass rate, divergence and length over the course of training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64
from trajcredit.diagnostics.intervals import LEAST, mean, share
from trajcredit.diagnostics.table import Table

__all__ = ["Point", "Trend", "trend"]

MOST = 60
"""Points that are told; where there are more places, neighbours are put together."""


@dataclass(frozen=True, slots=True)
class Point:
    """One step or version, or so many neighbours. Null: nobody has it; intervals are null below LEAST tasks."""

    first: float
    last: float
    label: str
    trajectories: int
    scored: int
    reward: float | None
    reward_low: float | None
    reward_high: float | None
    doubted: float | None
    """Mean of the reward that is held against a more trusted one, where there are two."""
    pass_rate: float | None
    pass_low: float | None
    pass_high: float | None
    kl: float | None
    """Nats a token from the reference."""
    length: float
    """Mean, in the unit of the trend."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Points in order; `axis` is what they are placed by (empty: the log names neither step nor version)."""

    axis: str
    length_unit: str
    points: tuple[Point, ...]
    common_tasks: int
    """Tasks that every point has: figures over changing tasks are no learning curve."""
    unplaced: int
    """Trajectories without a step or version."""


def trend(table: Table) -> Trend:
    """One point a place, at most MOST."""
    place = table.scale.place
    lengths, unit = table.lengths()
    known = np.unique(place[~np.isnan(place)])
    bins = np.array_split(known, min(MOST, len(known))) if len(known) else []
    rows = [(place >= own[0]) & (place <= own[-1]) for own in bins]
    tasks = [set(table.task[use].tolist()) for use in rows]
    return Trend(
        axis=table.scale.what,
        length_unit=unit,
        points=tuple(_point(table, own, use, lengths) for own, use in zip(bins, rows, strict=True)),
        common_tasks=len(set.intersection(*tasks)) if tasks else 0,
        unplaced=int(np.isnan(place).sum()),
    )


def _point(table: Table, places: F64, use: BOOL, lengths: F64) -> Point:
    scored = use & table.scored
    tasks = len(np.unique(table.task[scored]))
    reward = mean(table.outcome[scored], table.task[scored]) if scored.any() else None
    passes = share(table.passed[scored], table.task[scored]) if scored.any() else None
    wide = tasks >= LEAST
    chosen = np.flatnonzero(use).tolist()
    tokens = sum(table.seen[t].sampled.kl_tokens for t in chosen)
    names = list(dict.fromkeys(_name(table, t) for t in chosen))
    return Point(
        first=float(places[0]),
        last=float(places[-1]),
        label=names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}",
        trajectories=len(chosen),
        scored=int(scored.sum()),
        reward=None if reward is None else reward.value,
        reward_low=reward.low if reward is not None and wide else None,
        reward_high=reward.high if reward is not None and wide else None,
        doubted=_doubted(table, use),
        pass_rate=None if passes is None else passes.value,
        pass_low=passes.low if passes is not None and wide else None,
        pass_high=passes.high if passes is not None and wide else None,
        kl=sum(table.seen[t].sampled.kl for t in chosen) / tokens if tokens else None,
        length=float(lengths[use].mean()),
    )


def _doubted(table: Table, use: BOOL) -> float | None:
    known = use & ~np.isnan(table.proxy)
    return float(table.proxy[known].mean()) if table.trusted_name is not None and known.any() else None


def _name(table: Table, t: int) -> str:
    one = table.seen[t]
    return str(one.step) if table.scale.what == "training step" else one.policy_version or ""
