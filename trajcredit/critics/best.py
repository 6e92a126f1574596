"""The critic that foretells outcomes best, pool by pool: whichever of the other kinds does, out of fold.

A kind is chosen for half of the tasks by what the kinds foretell in the other half, fitted there alone: so no outcome
of a task has a say in whose forecasts it gets. What is compared is what a kind leaves of R - b, b the mean of the
siblings, when the sum of its forecasts is taken off (held against siblings likewise). The first kind stays unless
another one leaves clearly less: by more than one standard error of the paired difference over tasks (the rule of one
standard error, Breiman, Friedman, Olshen, Stone 1984, section 3.4.3).

All kinds compared forecast advantages of centred choices. Between centred and uncentred forms outcomes cannot choose:
an uncentred one foretells them better and blames worse (docs/credit.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.folds import folds_of
from trajcredit.critics.members import LEAST_GROUPS
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.story import Story
from trajcredit.critics.taught import teaching
from trajcredit.model import Note

__all__ = ["fit_best"]

Fit: TypeAlias = Callable[[Sequence[Story], I64, Sequence[str], F64], PoolFit]
HALVES = 2


def fit_best(
    kinds: Mapping[str, Fit], stories: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64
) -> PoolFit:
    """Forecasts of all decisions of the stories of a pool, in order, of the kind chosen for each task; `kinds` by name,
    the one to stay with first."""
    half = folds_of(names, HALVES)[groups]
    chosen: dict[int, str] = {}
    told = []
    for h in np.unique(half).tolist():
        left = _left(kinds, stories, groups, names, outcome, half != h)
        chosen[h] = _chosen(left) if left else next(iter(kinds))
        told.append(_told(len(np.unique(groups[half == h])), chosen[h], left))
    fits = {kind: kinds[kind](stories, groups, names, outcome) for kind in dict.fromkeys(chosen.values())}
    note = Note("critic-chosen", "; ".join(told))
    if len(fits) == 1:
        [only] = fits.values()
        return replace(only, notes=(*only.notes, note))
    of = half[np.repeat(np.arange(len(stories)), [len(story.choices) for story in stories])]
    return _joined({h: fits[kind] for h, kind in chosen.items()}, of, note)


def _left(
    kinds: Mapping[str, Fit],
    stories: Sequence[Story],
    groups: I64,
    names: Sequence[str],
    outcome: F64,
    mine: BOOL,
) -> dict[str, F64]:
    """What each kind leaves of the outcomes of some tasks, f64[G] mean squares a task in parts of the whole; empty
    where these tasks are too few to learn from."""
    mine = mine & teaching(outcome, groups)
    known, group = np.unique(groups[mine], return_inverse=True)
    if len(known) < LEAST_GROUPS:
        return {}
    some = [story for story, this in zip(stories, mine.tolist(), strict=True) if this]
    owner = np.repeat(np.arange(len(some)), [len(story.choices) for story in some])
    reward = outcome[mine]
    against = kernels.leave_one_out(kernels.centre(reward, group), group)
    unit = float(np.abs(against).max()) or 1.0  # squares of huge rewards stay numbers
    scale = float(np.mean((against / unit) ** 2)) or 1.0
    found = {}
    for kind, fit in kinds.items():
        forecast = fit(some, group, [names[g] for g in known.tolist()], reward).advantage
        total: F64 = np.bincount(owner, forecast, minlength=len(some)).astype(np.float64)
        rest = against - kernels.leave_one_out(kernels.centre(total, group), group)
        found[kind] = np.bincount(group, (rest / unit) ** 2) / np.bincount(group) / scale
    return found


def _chosen(left: Mapping[str, F64]) -> str:
    """The first kind, or the one that leaves least where that is clearly less."""
    first, *others = left
    best = min(left, key=lambda kind: float(left[kind].mean()))
    if best == first or not others:
        return first
    gain = left[first] - left[best]
    return best if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)) else first


def _told(tasks: int, kind: str, left: Mapping[str, F64]) -> str:
    if not left:
        return f"{tasks} tasks by {kind}: fewer than {LEAST_GROUPS} other tasks to choose by"
    shares = ", ".join(f"{name} {round(1 - float(rest.mean()), 2) + 0.0:.2f}" for name, rest in left.items())
    return f"{tasks} tasks by {kind}: share of the outcomes of the other tasks that each kind foretells: {shares}"


def _joined(fits: Mapping[int, PoolFit], of: I64, note: Note) -> PoolFit:
    """Each decision from the fit of its half, i64[D] `of`."""

    def column(name: str, missing: float) -> F64:
        out = np.full(len(of), missing)
        for h, fit in fits.items():
            said = getattr(fit, name)
            if said is not None:
                out[of == h] = said[of == h]
        return out

    forecasts_outcomes = any(fit.before is not None for fit in fits.values())
    return PoolFit(
        advantage=column("advantage", 0.0),
        columns=max(fit.columns for fit in fits.values()),
        before=column("before", np.nan) if forecasts_outcomes else None,
        after=column("after", np.nan) if forecasts_outcomes else None,
        notes=(*dict.fromkeys(note for fit in fits.values() for note in fit.notes), note),
        by_siblings=column("by_siblings", 0.0) if any(fit.by_siblings is not None for fit in fits.values()) else None,
    )
