"""Lists of groups: one row a group, sorted, one page after the other, none dropped or shown twice."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from sqlalchemy import ColumnElement, Connection, Subquery, and_, case, func, or_, select

from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import REWARD_SOURCES
from trajcredit.store.border import clean
from trajcredit.store.bulk import among
from trajcredit.store.ids import EXTERNAL
from trajcredit.store.pages import COUNTED
from trajcredit.store.tables import trajectories

__all__ = ["GroupHead", "GroupPage", "GroupSort", "find_group", "group_page"]

GroupSort: TypeAlias = Literal["created", "-created", "mean", "-mean", "size", "-size"]
"""A minus: largest first. Created: by the member stored last. Without a reward: last, whichever the direction."""
LARGEST = 200
LAST = 1e308
SCALE = 2.0**-64
"""A power of two, so that scaling changes no digit: sums of any rewards stay in the range of numbers."""


@dataclass(frozen=True, slots=True)
class GroupHead:
    """One group: what is the same of all its members, and when the newest of them was stored."""

    key: str
    name: str
    dataset: str | None
    task: str | None
    role: str | None
    step: int | None
    created: str


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Some groups, the cursor of the next page (null on the last), and how many there are on all."""

    groups: tuple[GroupHead, ...]
    next: str | None
    total: int
    """At most COUNTED."""
    more: bool
    """Whether there are more than `total`."""


class _Cursor(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    sort: GroupSort
    value: float | int
    key: int


def group_page(
    conn: Connection,
    project: str,
    begins: str = "",
    sort: GroupSort = "-created",
    cursor: str | None = None,
    limit: int = 100,
) -> GroupPage:
    """The page that begins after `cursor`, at most `limit` long; `begins` is how the name does, as text."""
    if sort not in get_args(GroupSort):
        raise InputError(f"no sort {sort!r}; known: {', '.join(get_args(GroupSort))}")
    if not 1 <= limit <= LARGEST:
        raise InputError(f"limit {limit}: a page has 1 to {LARGEST} groups")
    found = _grouped(project, clean(begins), sort)
    value, key = found.c.value, found.c.newest
    order = (value.desc(), key.desc()) if sort[0] == "-" else (value.asc(), key.asc())
    query = select(found)
    if cursor is not None:
        query = query.where(_after(sort, value, key, _opened(cursor, sort)))
    rows = conn.execute(query.order_by(*order).limit(limit + 1)).all()
    end = rows[limit - 1] if len(rows) > limit else None
    total = _total(conn, project, clean(begins))
    return GroupPage(
        groups=_heads(conn, [row.newest for row in rows[:limit]]),
        next=None if end is None else _closed(_Cursor(sort, end.value, end.newest)),
        total=min(total, COUNTED),
        more=total > COUNTED,
    )


def find_group(conn: Connection, project: str, ref: str) -> GroupHead:
    """The group of our id, or of `ext:` and its name; InputError where several have that name, with their ids."""
    t = trajectories.c
    named = ref.startswith(EXTERNAL)
    column = t.group_name if named else t.group_key
    query = select(func.max(t.key), t.group_key).where(t.project == project, column == ref.removeprefix(EXTERNAL))
    rows = conn.execute(query.group_by(t.group_key).order_by(t.group_key).limit(6)).all()
    if not rows:
        raise NotFoundError(f"no group {ref!r} in project {project!r}")
    if len(rows) > 1:
        ids = ", ".join(row.group_key for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        raise InputError(f"several groups are called {ref.removeprefix(EXTERNAL)!r}: name one by its id, {ids}")
    return _heads(conn, [rows[0][0]])[0]


def _grouped(project: str, begins: str, sort: GroupSort) -> Subquery:
    """One row a group: the key of its newest member, and what it is sorted by."""
    t = trajectories.c
    newest = func.max(t.key)
    by = {"created": newest, "size": func.count(), "mean": _mean(-LAST if sort[0] == "-" else LAST)}
    query = select(newest.label("newest"), by[sort.removeprefix("-")].label("value"))
    return query.where(_matching(project, begins)).group_by(t.group_key).subquery()


def _mean(last: float) -> ColumnElement[Any]:
    """Of the outcomes that the most trusted source gave, scaled; `last` where nobody gave any."""
    t = trajectories.c
    own = [case((t.outcome_source == source, t.outcome * SCALE)) for source in REWARD_SOURCES]
    return func.coalesce(*(func.avg(one) for one in own), last)


def _matching(project: str, begins: str) -> ColumnElement[bool]:
    t = trajectories.c
    if not begins:
        return t.project == project
    return and_(t.project == project, t.group_name >= begins, func.substr(t.group_name, 1, len(begins)) == begins)


def _heads(conn: Connection, keys: Sequence[int]) -> tuple[GroupHead, ...]:
    """The groups of these members, in their order."""
    t = trajectories.c
    query = select(t.key, t.group_key, t.group_name, t.dataset, t.task, t.role, t.step, t.created)
    found = {key: GroupHead(*rest) for key, *rest in conn.execute(query.where(among(conn, t.key, keys)))}
    return tuple(found[key] for key in keys)


def _after(sort: GroupSort, value: ColumnElement[Any], key: ColumnElement[int], at: _Cursor) -> ColumnElement[bool]:
    if sort[0] == "-":
        return and_(value <= at.value, or_(value < at.value, key < at.key))
    return and_(value >= at.value, or_(value > at.value, key > at.key))


def _total(conn: Connection, project: str, begins: str) -> int:
    some = select(trajectories.c.group_key).where(_matching(project, begins)).distinct().limit(COUNTED + 1).subquery()
    return conn.scalar(select(func.count()).select_from(some)) or 0


def _closed(cursor: _Cursor) -> str:
    return urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def _opened(cursor: str, sort: GroupSort) -> _Cursor:
    try:
        found = msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=_Cursor)
    except (ValueError, msgspec.DecodeError) as error:
        raise InputError(f"no page begins at {cursor[:40]!r}: use the cursor of the last page") from error
    fits = isfinite(found.value) and abs(found.key) < 1 << 62
    if found.sort != sort or not fits or (isinstance(found.value, int) and abs(found.value) >= 1 << 62):
        raise InputError(f"that cursor belongs to a list sorted by {found.sort}: begin again at the first page")
    return found
