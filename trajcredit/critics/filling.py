"""A batch and the name of a critic -> the batch with the critic's columns filled, pool by pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch, decisions, spread
from trajcredit.critics import compatible, ridge, sequence
from trajcredit.critics.best import fit_best
from trajcredit.critics.levels import levels
from trajcredit.critics.members import LEAST_GROUPS, Members, has_texts, learning_pools, members_of
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.story import Story
from trajcredit.errors import UnknownNameError
from trajcredit.model import Note

__all__ = ["COLUMNS", "KINDS", "LEAST_GROUPS", "fill", "filled", "read_by"]

Fit: TypeAlias = Callable[[Sequence[Story], I64, Sequence[str], F64], PoolFit]
SINGLE: dict[str, Fit] = {
    "compatible": compatible.fit_pool,
    "ridge": ridge.fit_pool,
    "sequence": sequence.fit_pool,
}
KINDS: dict[str, Fit] = {**SINGLE, "best": partial(fit_best, SINGLE)}
"""Critics by name."""
COLUMNS = ("values", "q_values", "advantage_forecast")
"""Columns that a critic fills."""


def fill(batch: Batch, kind: str) -> Batch:
    """The batch with `advantage_forecast`, `values` and `q_values` of every action, cross-fitted by group.

    advantage_forecast  f64[N]  forecast advantage of the choice; words beside calls carry the sum of their turn
    values              f64[N]  forecast of what is still to come. A critic that forecasts no outcome, only advantages:
                                the group's mean outcome without this trajectory, plus the forecasts of earlier choices,
                                minus the rewards of earlier actions
    q_values            f64[N]  the same with this choice; of words beside calls, with all choices of their turn

    Pools of tasks that share tools share a model. Pools with fewer than LEAST_GROUPS groups that have scored siblings
    are put together; where that is not enough either, the forecast is 0 and a note says so. Logged values stay where
    the log has them, with a note. Raises UnknownNameError for a critic there is none of, InputError where the batch has
    no graphs.
    """
    if kind not in KINDS:
        raise UnknownNameError("critic", kind, KINDS)
    has_texts(batch, kind)
    chosen = decisions(batch)
    pool, notes = learning_pools(batch)
    said = []
    for number in np.unique(pool[pool >= 0]).tolist():
        members = members_of(batch, chosen, np.flatnonzero(pool == number))
        fitted = KINDS[kind](members.stories, members.groups, members.names, members.outcome)
        said.append((members.at, fitted))
        notes += [read_by(kind, members, fitted.columns), *fitted.notes]
    return filled(batch, chosen, said, notes)


def filled(batch: Batch, chosen: BOOL, said: Iterable[tuple[I64, PoolFit]], notes: Sequence[Note]) -> Batch:
    """The batch with the columns that follow from what a critic said of the decisions of some trajectories (their
    positions, ascending); of the decisions of others the forecast is 0."""
    forecast = np.zeros(batch.n_spans)
    before, after = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, np.nan)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    for at, fitted in said:
        mine = chosen & np.isin(owner, at)
        forecast[mine] = fitted.advantage
        if fitted.before is not None and fitted.after is not None:
            before[mine], after[mine] = fitted.before, fitted.after
    column = spread(batch, forecast, chosen)
    values, q_values = levels(batch, forecast, column, before, after)
    told = list(notes)
    logged = ~np.isnan(batch.values)
    if logged.any():
        told.append(Note("critic-values-logged", f"{int(logged.sum())} spans have a logged value: it stays"))
    columns = {
        "advantage_forecast": column,
        "values": np.where(logged, batch.values, values),
        "q_values": q_values,
    }
    for one in columns.values():
        one.setflags(write=False)  # no attributor can change what the next one reads
    return replace(batch, **columns, notes=(*batch.notes, *told))  # type: ignore[arg-type]  # columns by name


def read_by(kind: str, members: Members, columns: int) -> Note:
    """What a critic was fitted to."""
    scored = int((~np.isnan(members.outcome)).sum())
    return Note(
        "critic",
        f"critic {kind} read {scored} scored of {len(members.at)} trajectories of {len(members.names)} groups that "
        f"share tools, {columns} features{'' if columns else ': nothing recurs from task to task, the forecast is 0'}",
    )
