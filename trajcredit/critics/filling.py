"""A batch and the name of a critic -> the batch with the critic's columns filled, pool by pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch, decisions, spread
from trajcredit.critics.compatible import fit_pool
from trajcredit.critics.levels import levels
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.story import Story, story_of
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import Note

__all__ = ["COLUMNS", "KINDS", "fill"]

Fit: TypeAlias = Callable[[Sequence[Story], I64, Sequence[str], F64], PoolFit]
KINDS: dict[str, Fit] = {"compatible": fit_pool}
"""Critics by name."""
COLUMNS = ("values", "q_values", "advantage_forecast")
"""Columns that a critic fills."""
LEAST_GROUPS = 8
"""Groups with siblings that a pool needs: fewer tasks say nothing about another one."""


def fill(batch: Batch, kind: str) -> Batch:
    """The batch with `advantage_forecast`, `values` and `q_values` of every action, cross-fitted by group.

    advantage_forecast  f64[N]  forecast advantage of the choice; words beside calls carry the sum of their turn
    values              f64[N]  the group's mean outcome without this trajectory, plus the forecasts of earlier choices,
                                minus the rewards of earlier actions: what is still to come
    q_values            f64[N]  the same with this choice; of words beside calls, with all choices of their turn

    Pools of tasks that share tools share a model. Pools with fewer than LEAST_GROUPS groups that have scored siblings
    are put together; where that is not enough either, the forecast is 0 and a note says so. Logged values stay where
    the log has them, with a note. Raises UnknownNameError for a critic there is none of, InputError where the batch has
    no graphs.
    """
    if kind not in KINDS:
        raise UnknownNameError("critic", kind, KINDS)
    if batch.graphs is None:
        raise InputError(
            f"critic {kind!r} reads texts, and this batch was loaded from packed rows without them: "
            "score the logs themselves (`trajcredit score`)"
        )
    chosen = decisions(batch)
    pool, notes = _pools(batch)
    forecast = np.zeros(batch.n_spans)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    for number in np.unique(pool[pool >= 0]).tolist():
        members = np.flatnonzero(pool == number)
        stories = [story_of(batch.graphs[t], _of(batch, chosen, t)) for t in members.tolist()]
        known, groups = np.unique(batch.group[members], return_inverse=True)
        names = [batch.group_ids[g] for g in known.tolist()]
        fitted = KINDS[kind](stories, groups.astype(np.int64), names, batch.outcome[members])
        forecast[chosen & (pool[owner] == number)] = fitted.advantage
        notes.append(_said(batch, kind, members, len(known), fitted))
    column = spread(batch, forecast, chosen)
    values, q_values = levels(batch, forecast, column)
    logged = ~np.isnan(batch.values)
    if logged.any():
        notes.append(Note("critic-values-logged", f"{int(logged.sum())} spans have a logged value: it stays"))
    columns = {
        "advantage_forecast": column,
        "values": np.where(logged, batch.values, values),
        "q_values": q_values,
    }
    for filled in columns.values():
        filled.setflags(write=False)  # no attributor can change what the next one reads
    return replace(batch, **columns, notes=(*batch.notes, *notes))  # type: ignore[arg-type]  # columns by name


def _of(batch: Batch, column: BOOL, t: int) -> BOOL:
    return column[batch.span_offsets[t] : batch.span_offsets[t + 1]]


def _said(batch: Batch, kind: str, members: I64, n_groups: int, fitted: PoolFit) -> Note:
    scored = int((~np.isnan(batch.outcome[members])).sum())
    return Note(
        "critic",
        f"critic {kind} read {scored} scored of {len(members)} trajectories of {n_groups} groups that share tools, "
        f"{fitted.columns} features{'' if fitted.columns else ': nothing recurs from task to task, the forecast is 0'}",
    )


def _pools(batch: Batch) -> tuple[I64, list[Note]]:
    """Pool i64[T] of every trajectory; -1 where there is too little to learn from."""
    scored = ~np.isnan(batch.outcome)
    n_groups = len(batch.group_ids)
    siblings = np.bincount(batch.group[scored], minlength=n_groups) > 1
    pool = batch.pool.copy()
    teaching = siblings[batch.group]
    pairs = np.unique(pool[teaching] * max(n_groups, 1) + batch.group[teaching])
    small = np.bincount(pairs // max(n_groups, 1), minlength=int(pool.max(initial=-1)) + 1)[pool] < LEAST_GROUPS
    notes: list[Note] = []
    if not small.any():
        return pool, notes
    together = len(np.unique(batch.group[small & teaching]))
    if together < LEAST_GROUPS:
        pool[small] = -1
        notes.append(
            Note(
                "critic-too-small",
                f"{int(small.sum())} trajectories are of pools with fewer than {LEAST_GROUPS} groups that have scored "
                "siblings: nothing can be learnt for them, their forecast is 0",
            )
        )
    else:
        pool[small] = int(pool.max()) + 1
        notes.append(
            Note(
                "critic-pools-merged",
                f"pools with fewer than {LEAST_GROUPS} groups that have scored siblings share one model "
                f"({int(small.sum())} trajectories)",
            )
        )
    return pool, notes
