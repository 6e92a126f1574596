"""Judgings: one judge asked about a set of trajectories, how far it is, and what it cost.

    queued -> running -> done | incomplete | failed | cancelled      incomplete, failed, cancelled -> queued (resumed)

Incomplete: some trajectories could not be judged. What was judged stays in every state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update
from uuid_utils import uuid7

from trajcredit.errors import InputError, NotFoundError
from trajcredit.store.border import now, project_name
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters
from trajcredit.store.tables import judgings, opinions, runs

__all__ = [
    "PREFIX",
    "Asked",
    "Judging",
    "JudgingPage",
    "Outlay",
    "State",
    "begin",
    "cancel",
    "claim",
    "create",
    "end",
    "find",
    "hearing",
    "page",
    "progress",
    "requeue",
    "resume",
    "start",
]

State: TypeAlias = Literal["queued", "running", "done", "incomplete", "failed", "cancelled"]
PREFIX = "j_"
"""How ids of judgings begin."""
RESUMED: tuple[State, ...] = ("incomplete", "failed", "cancelled")

_json = msgspec.json.Encoder(order="deterministic")
_decode_filters = msgspec.json.Decoder(Filters).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for."""

    judge: str
    label: str
    parameters: Mapping[str, Any]
    scale: str
    segments: str
    code_version: str
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class Outlay:
    """What asking took; `cost` in the unit of the model's prices."""

    requests: int = 0
    retries: int = 0
    cached: int = 0
    uncounted: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """A judging as it stands. `key` never leaves the store."""

    key: int
    id: str
    project: str
    asked: Asked
    state: State
    total: int | None
    judged: int
    missing: int
    """Trajectories that could not be judged; the rest of `total` was not asked about yet."""
    outlay: Outlay
    model: str | None
    prompt_version: str | None
    fingerprint: str | None
    error: str | None
    created: str
    started: str | None
    finished: str | None


@dataclass(frozen=True, slots=True)
class JudgingPage:
    """Some judgings, newest first, and where the next page begins; null on the last."""

    judgings: tuple[Judging, ...]
    next: str | None


def create(conn: Connection, project: str, asked: Asked) -> Judging:
    """A queued judging."""
    row = {
        "id": f"{PREFIX}{uuid7()}",
        "project": project_name(project),
        "judge": asked.judge,
        "label": asked.label,
        "parameters": _json.encode(asked.parameters).decode(),
        "filters": _json.encode({k: v for k, v in asdict(asked.filters).items() if v is not None}).decode(),
        "scale": asked.scale,
        "segments": asked.segments,
        "code_version": asked.code_version,
        "state": "queued",
        "judged": 0,
        "missing": 0,
        **asdict(Outlay()),
        "created": now(),
    }
    return _judging(conn.execute(insert(judgings).returning(*judgings.c), row).one())


def claim(conn: Connection) -> Judging | None:
    """The oldest queued judging of any project, now running; null where none waits."""
    oldest = conn.scalar(select(func.min(judgings.c.key)).where(judgings.c.state == "queued"))
    which = judgings.c.key == oldest
    return None if oldest is None else _moved(conn, which, "queued", state="running", started=now(), error=None)


def start(conn: Connection, judging: Judging) -> Judging | None:
    """The queued judging, now running; null where it is not queued any more."""
    return _moved(conn, judgings.c.key == judging.key, "queued", state="running", started=now())


def requeue(conn: Connection) -> int:
    """Queue the judgings again that are said to run; how many. What they had judged stays."""
    found = conn.execute(update(judgings).where(judgings.c.state == "running").values(state="queued"))
    return found.rowcount


def begin(
    conn: Connection, judging: Judging, total: int, fingerprint: str, model: str | None, prompt_version: str | None
) -> Judging | None:
    """Note what a running judging works on and by what; null where it does not run any more."""
    basis = {"fingerprint": fingerprint, "model": model, "prompt_version": prompt_version}
    return _moved(conn, judgings.c.key == judging.key, "running", total=total, **basis)


def progress(conn: Connection, judging: Judging, outlay: Outlay) -> Judging | None:
    """Count what is kept, and add what was spent since; null where it does not run any more: then stop.

    What was spent counts in any state.
    """
    c = judgings.c
    mine = opinions.c.judging == judging.key
    counts = select(func.count(), func.count(opinions.c.missing)).where(mine)
    kept, missing = conn.execute(counts).one()
    spent = {name: c[name] + value for name, value in asdict(outlay).items()}
    values = {"judged": kept - missing, "missing": missing, **spent}
    conn.execute(update(judgings).where(c.key == judging.key).values(**values))
    row = conn.execute(select(judgings).where(c.key == judging.key, c.state == "running")).one_or_none()
    return None if row is None else _judging(row)


def end(conn: Connection, judging: Judging, state: State, error: str | None = None) -> Judging | None:
    """The running judging, now in that state."""
    return _moved(conn, judgings.c.key == judging.key, "running", state=state, error=error, finished=now())


def cancel(conn: Connection, project: str, judging: str) -> Judging:
    """The judging, which does not go on; one that ended stays as it is."""
    found = find(conn, project, judging)
    ended = _moved(conn, judgings.c.key == found.key, "queued", "running", state="cancelled", finished=now())
    return ended or find(conn, project, judging)


def resume(conn: Connection, project: str, judging: str) -> Judging:
    """The judging, queued again for what is not judged yet; InputError where there is nothing of it to resume."""
    found = find(conn, project, judging)
    again = _moved(conn, judgings.c.key == found.key, *RESUMED, state="queued", finished=None, error=None)
    if again is None:
        raise InputError(f"judging {found.id} is {found.state}: {', '.join(RESUMED)} ones can be resumed")
    return again


def find(conn: Connection, project: str, judging: str) -> Judging:
    """The judging of that id."""
    query = select(judgings).where(judgings.c.project == project, judgings.c.id == judging)
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"no judging {judging!r} in project {project!r}")
    return _judging(row)


def page(conn: Connection, project: str, cursor: str | None = None, limit: int = 100) -> JudgingPage:
    """Judgings of a project, newest first; InputError for a cursor that no page gave."""
    query = select(judgings).where(judgings.c.project == project).order_by(judgings.c.key.desc()).limit(limit + 1)
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise InputError(f"no page begins at {cursor[:40]!r}: use the cursor of the last page")
        query = query.where(judgings.c.key < int(cursor))
    rows = conn.execute(query).all()
    more = str(rows[limit - 1].key) if len(rows) > limit else None
    return JudgingPage(tuple(map(_judging, rows[:limit])), more)


def hearing(conn: Connection, judging: Judging, why: str) -> int:
    """Mark the runs that heard a judging as out of date; how many, the first reason stays."""
    query = select(runs.c.key, runs.c.judge).where(runs.c.project == judging.project, runs.c.judge.is_not(None))
    keys = [key for key, judge in conn.execute(query) if judging.id in judge.split("+")]
    fresh = runs.c.stale.is_(None)
    return conn.execute(update(runs).where(among(conn, runs.c.key, keys), fresh).values(stale=why)).rowcount


def _moved(conn: Connection, which: Any, *states: State, **values: Any) -> Judging | None:
    changed = update(judgings).where(which, judgings.c.state.in_(states)).values(values).returning(*judgings.c)
    row = conn.execute(changed).one_or_none()
    return None if row is None else _judging(row)


def _judging(row: Row[*tuple[Any, ...]]) -> Judging:
    asked = Asked(
        judge=row.judge,
        label=row.label,
        parameters=msgspec.json.decode(row.parameters),
        scale=row.scale,
        segments=row.segments,
        code_version=row.code_version,
        filters=_decode_filters(row.filters),
    )
    assert row.state in get_args(State)
    return Judging(
        key=row.key,
        id=row.id,
        project=row.project,
        asked=asked,
        state=row.state,
        total=row.total,
        judged=row.judged,
        missing=row.missing,
        outlay=Outlay(row.requests, row.retries, row.cached, row.uncounted, row.tokens_in, row.tokens_out, row.cost),
        model=row.model,
        prompt_version=row.prompt_version,
        fingerprint=row.fingerprint,
        error=row.error,
        created=row.created,
        started=row.started,
        finished=row.finished,
    )
