"""Which trajectories by how their whole group did: those without a sibling, those whose group tells nothing apart."""

from __future__ import annotations

from sqlalchemy import ColumnElement, case, func, select

from trajcredit.model import REWARD_SOURCES
from trajcredit.store.tables import trajectories

__all__ = ["is_alone", "is_zero_variance"]

_t = trajectories.c


def is_alone(project: str) -> ColumnElement[bool]:
    """No other trajectory is in its group: nothing to hold its outcome against."""
    alone = select(_t.group_key).where(_t.project == project).group_by(_t.group_key).having(func.count() == 1)
    return _t.group_key.in_(alone)


def is_zero_variance(project: str) -> ColumnElement[bool]:
    """At least two trajectories of its group are scored, and all of them alike: a baseline leaves nothing.

    By the most trusted source that any of them has, as in `groups.tallies`.
    """
    trust = case(
        *((_t.outcome_source == source, n) for n, source in enumerate(REWARD_SOURCES)), else_=len(REWARD_SOURCES)
    )
    place = func.row_number().over(partition_by=_t.group_key, order_by=trust)
    by_source = (
        select(
            _t.group_key,
            place.label("place"),
            func.count().label("scored"),
            func.min(_t.outcome).label("low"),
            func.max(_t.outcome).label("high"),
        )
        .where(_t.project == project, _t.outcome.is_not(None))
        .group_by(_t.group_key, _t.outcome_source)
        .subquery()
        .c
    )
    alike = select(by_source.group_key).where(
        by_source.place == 1, by_source.scored > 1, by_source.low == by_source.high
    )
    return _t.group_key.in_(alike)
