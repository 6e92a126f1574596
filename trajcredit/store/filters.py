"""Which trajectories: typed filters over an allow-list of columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from sqlalchemy import ColumnElement, Connection, and_, exists, func, not_, or_, select

from trajcredit.errors import InputError
from trajcredit.store.border import clean, cut, word
from trajcredit.store.bulk import among
from trajcredit.store.group_filters import is_alone, is_zero_variance
from trajcredit.store.labels import is_labelled
from trajcredit.store.overridden import has_any
from trajcredit.store.tables import tool_use, trajectories

__all__ = ["PASS", "Filters", "conditions", "tools"]

PASS = 0.5
"""An outcome of at least this passes."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What all of which must hold; null asks nothing."""

    ids: tuple[str, ...] | None = None
    """One of these, as we name them."""
    id_prefix: str | None = None
    """How the id begins, ours or the client's."""
    id_part: str | None = None
    """Some of the id, ours or the client's."""
    group: str | None = None
    """The key of a group."""
    group_name: str | None = None
    """The name of a group, which may stand for several of them."""
    dataset: str | None = None
    task: str | None = None
    role: str | None = None
    policy_version: str | None = None
    model: str | None = None
    """The name of the model that answered."""
    tool: str | None = None
    """A tool it called."""
    has_error: bool | None = None
    """Whether a tool result failed."""
    has_override: bool | None = None
    """Whether a person edited an edge, and did not withdraw it."""
    result: Literal["pass", "fail", "unscored"] | None = None
    outcome_min: float | None = None
    outcome_max: float | None = None
    step_min: int | None = None
    step_max: int | None = None
    alone: bool | None = None
    """Whether no other trajectory is in its group."""
    zero_variance: bool | None = None
    """Whether all that are scored of its group, at least two, ended alike."""
    labelled: bool | None = None
    """Whether somebody labelled a span of it."""


def conditions(conn: Connection, project: str, filters: Filters) -> ColumnElement[bool]:
    """The filters as SQL over the table of trajectories."""
    t = trajectories.c
    found: list[ColumnElement[bool]] = [t.project == project]
    same = {
        t.group_key: filters.group,
        t.group_name: filters.group_name,
        t.dataset: filters.dataset,
        t.task: filters.task,
        t.role: filters.role,
        t.policy_version: filters.policy_version,
        t.model: filters.model,
    }
    found += [column == value for column, value in same.items() if value is not None]
    if filters.ids is not None:
        found.append(among(conn, t.id, filters.ids))
    if filters.id_prefix:
        found.append(_begins(filters.id_prefix))
    if filters.id_part:
        found.append(_holds(conn, filters.id_part))
    if filters.tool is not None:
        found.append(_calls(project, filters.tool))
    if filters.has_error is not None:
        found.append(t.n_errors > 0 if filters.has_error else t.n_errors == 0)
    for wanted, holds in ((filters.alone, is_alone), (filters.zero_variance, is_zero_variance)):
        if wanted is not None:
            found.append(holds(project) if wanted else not_(holds(project)))
    if filters.labelled is not None:
        found.append(is_labelled() if filters.labelled else ~is_labelled())
    if filters.has_override is not None:
        found.append(has_any(project) if filters.has_override else not_(has_any(project)))
    return and_(*found, *_outcome(filters), *_steps(filters))


def tools(conn: Connection, project: str) -> list[str]:
    """Every tool that some trajectory of the project called, by name."""
    query = select(tool_use.c.tool).where(tool_use.c.project == project).distinct().order_by(tool_use.c.tool)
    return list(conn.scalars(query))


def _begins(prefix: str) -> ColumnElement[bool]:
    """Compared as text, so that no character of it is a pattern; the lower bound lets an index help."""
    prefix = clean(prefix)
    return or_(
        *(
            and_(column >= prefix, func.substr(column, 1, len(prefix)) == prefix)
            for column in (trajectories.c.external_id, trajectories.c.id)
        )
    )


def _holds(conn: Connection, part: str) -> ColumnElement[bool]:
    """Found as text too."""
    place = func.instr if conn.dialect.name == "sqlite" else func.strpos
    return or_(*(place(column, clean(part)) > 0 for column in (trajectories.c.external_id, trajectories.c.id)))


def _calls(project: str, tool: str) -> ColumnElement[bool]:
    use = tool_use.c
    return exists().where(use.project == project, use.tool == cut(tool), use.trajectory == trajectories.c.key)


def _outcome(filters: Filters) -> list[ColumnElement[bool]]:
    outcome = trajectories.c.outcome
    kinds = {"pass": outcome >= PASS, "fail": outcome < PASS, "unscored": outcome.is_(None)}
    if filters.result is not None and filters.result not in kinds:
        raise InputError(f"no result {filters.result!r}; known: {', '.join(kinds)}")
    for value in (filters.outcome_min, filters.outcome_max):
        if value is not None and not isfinite(value):
            raise InputError(f"an outcome is a finite number, not {value}")
    found = [kinds[filters.result]] if filters.result is not None else []
    found += [outcome >= filters.outcome_min] if filters.outcome_min is not None else []
    return found + ([outcome <= filters.outcome_max] if filters.outcome_max is not None else [])


def _steps(filters: Filters) -> list[ColumnElement[bool]]:
    step = trajectories.c.step
    found = [step >= word(filters.step_min, "step")] if filters.step_min is not None else []
    return found + ([step <= word(filters.step_max, "step")] if filters.step_max is not None else [])
