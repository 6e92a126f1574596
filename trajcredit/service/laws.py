"""How a run's credits of one trajectory hang together, as far as the numbers prove it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trajcredit.arrays import F64
from trajcredit.attributors import Attributor, Dag, Gae, Grpo, Rloo, Rtg
from trajcredit.batching import Batch
from trajcredit.registry import attributors

__all__ = ["Law", "Proven", "compares_siblings", "law_of", "totals", "unexplained"]

Law: TypeAlias = Literal["flat", "mask", "shared", "free"]

RELATIVE = 1e-9
"""How far numbers may be apart that are said to be the same."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A law, and what the trajectory as a whole gets by it: outcome minus baseline; null where that is not known."""

    law: Law
    total: float | None


def law_of(credit: F64, gains: F64 | None, totals: Callable[[], Sequence[float]]) -> Proven:
    """The law of the credit of the scored spans of one trajectory.

    gains   f64[n]  the share of one number that each of them got by the attributor's own word; null where it has none
    totals  what outcome minus baseline may be: only asked where the numbers alone prove nothing
    """
    if not len(credit):
        return Proven("free", None)
    size = float(np.abs(credit).max())
    if float(np.ptp(credit)) <= RELATIVE * size:
        return Proven("flat", float(credit[0]) + 0.0)  # -0.0 is 0.0
    if gains is not None and gains.any():
        most = int(gains.argmax())
        whole = float(credit[most] / gains[most])
        if _same(credit, whole * gains, abs(whole)):
            return Proven("mask", whole)
    possible = totals()
    for total in possible:
        if _same(credit[credit != 0], total, abs(total)):
            return Proven("mask", total)
    for total in possible:
        if abs(float(credit.sum()) - total) <= RELATIVE * float(np.abs(credit).sum()):
            return Proven("shared", total)
    return Proven("free", None)


def totals(attributor: Attributor | None, batch: Batch, trajectory: int) -> tuple[float, ...]:
    """What outcome minus baseline may be, by what the attributor subtracts; of an unknown one, all there is."""
    base = _base(attributor)
    outcome = batch.outcome[trajectory]
    first, last = batch.span_offsets[trajectory : trajectory + 2]
    actions = first + np.flatnonzero(batch.action_mask[first:last])
    forecast = float(batch.values[actions[0]]) if len(actions) else np.nan
    siblings = (batch.group == batch.group[trajectory]) & ~np.isnan(batch.outcome)
    mean = float(batch.outcome[siblings].mean()) if siblings.any() else np.nan
    siblings[trajectory] = False
    others = float(batch.outcome[siblings].mean()) if siblings.any() else np.nan
    if isinstance(base, Rtg):
        baselines: tuple[float, ...] = (0.0,)
    elif isinstance(base, Gae):
        baselines = (forecast if base.values == "logged" else 0.0,)
    else:
        baselines = (mean, others, 0.0, forecast)
    return tuple(float(outcome - baseline) for baseline in baselines if np.isfinite(outcome - baseline))


def unexplained(credit: F64, forecasts: F64) -> float | None:
    """The part that is the same in every number of `doubly_robust`: what its critic leaves unexplained of the outcome.

    credit, forecasts  f64[n]  of the scored spans of one trajectory: each credit is this part plus a factor times the
                               forecast; null where the numbers are not so, or the forecasts are all the same
    """
    low, high = int(forecasts.argmin()), int(forecasts.argmax())
    spread = float(forecasts[high] - forecasts[low])
    if not spread > 0:
        return None
    factor = float(credit[high] - credit[low]) / spread
    rest = float(credit[low]) - factor * float(forecasts[low])
    size = max(float(np.abs(credit).max()), abs(rest), abs(factor) * float(np.abs(forecasts).max()))
    if not _same(credit, rest + factor * forecasts, size):
        return None
    return rest if abs(rest) > RELATIVE * size else 0.0


def compares_siblings(attributor: Attributor | None) -> bool:
    """Whether its number is the outcome against the mean of the group."""
    return isinstance(_base(attributor), Grpo | Rloo)


def _base(attributor: Attributor | None) -> Attributor | None:
    """Whose numbers `dag` spreads; the attributor itself where it is another."""
    if not isinstance(attributor, Dag):
        return attributor
    made: Attributor = attributors.get(attributor.base)()
    return made


def _same(numbers: F64, expected: F64 | float, size: float) -> bool:
    return bool((np.abs(numbers - expected) <= RELATIVE * size).all())
