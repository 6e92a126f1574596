"""Runs: one attributor with its parameters over a set of trajectories, all that is needed to repeat it, and its state.

    queued -> running -> done | failed | cancelled      queued -> failed | cancelled

A run is stale once a reward came later to a trajectory it scored, an edge of one was edited (`overrides`), such a
trajectory was replaced or deleted, or another one joined its group (`joining`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, Select, exists, func, insert, select, update
from uuid_utils import uuid7

from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import REWARD_SOURCES, Note
from trajcredit.store.border import now, project_name, word
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters
from trajcredit.store.tables import credit_rows, overrides, rewards, runs

__all__ = [
    "Asked",
    "Run",
    "RunPage",
    "State",
    "cancel",
    "claim",
    "create",
    "critic_asked",
    "fail",
    "find",
    "finish",
    "fresh",
    "judge_heard",
    "mark",
    "mark_stale",
    "page",
    "progress",
    "read_inputs",
    "start",
]

State: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]

_json = msgspec.json.Encoder(order="deterministic")
_decode_notes = msgspec.json.Decoder(tuple[Note, ...]).decode
_decode_filters = msgspec.json.Decoder(Filters).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for: with the same trajectories and rewards it gives the same bits."""

    attributor: str
    label: str
    """The name that rows carry: the attributor's, with its parameters where that is not enough."""
    parameters: Mapping[str, Any]
    code_version: str
    edge_version: str
    reward: str | None = None
    """The source to read (of `model.REWARD_SOURCES`), else the name of the rewards to read; null: the first source."""
    group_by: str | None = None
    filters: Filters = field(default_factory=Filters)
    seed: int | None = None

    @property
    def reward_name(self) -> str | None:
        """Of the only rewards to read; null where a source was asked for, or nothing."""
        return None if self.reward in REWARD_SOURCES else self.reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it stands."""

    id: str
    project: str
    asked: Asked
    reward_used: str | None
    """The source that was read."""
    watermark: int | None
    """The number of the newest reward it could see; null until it has read its inputs."""
    state: State
    done: int
    """Trajectories scored, of `total`."""
    total: int | None
    error: str | None
    notes: tuple[Note, ...]
    stale: str | None
    """Why its numbers are out of date; null while they are not."""
    created: str
    started: str | None
    finished: str | None
    critic: str | None = None
    """Whose forecasts it read; null where it asked no critic, or has not asked one yet."""
    critic_fingerprint: str | None = None
    """Of all that the forecasts follow from."""
    override_watermark: int | None = None
    """The number of the newest override of edges it could see; null until it has read its inputs."""
    judge: str | None = None
    """Whom it hears: a judge by name, the id of a judging, or several joined by +; null until it has, or of none."""
    judge_fingerprint: str | None = None
    """Of all that the judge said."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, newest first, and where the next page begins; null on the last."""

    runs: tuple[Run, ...]
    next: str | None


def create(conn: Connection, project: str, asked: Asked) -> Run:
    """A queued run."""
    row = {
        "id": str(uuid7()),
        "project": project_name(project),
        "attributor": asked.attributor,
        "label": asked.label,
        "parameters": _json.encode(asked.parameters).decode(),
        "code_version": asked.code_version,
        "edge_version": asked.edge_version,
        "reward_asked": asked.reward,
        "group_by": asked.group_by,
        "filters": _json.encode({k: v for k, v in asdict(asked.filters).items() if v is not None}).decode(),
        "seed": None if asked.seed is None else word(asked.seed, "seed"),
        "state": "queued",
        "done": 0,
        "notes": "[]",
        "created": now(),
    }
    return _run(conn.execute(insert(runs).returning(*runs.c), row).one())


def claim(conn: Connection) -> Run | None:
    """The oldest queued run of any project, now running; null where none waits."""
    oldest = conn.scalar(select(func.min(runs.c.key)).where(runs.c.state == "queued"))
    return None if oldest is None else _moved(conn, runs.c.key == oldest, "queued", state="running", started=now())


def start(conn: Connection, run: str) -> Run | None:
    """The queued run, now running; null where it is not queued any more."""
    return _moved(conn, runs.c.id == run, "queued", state="running", started=now())


def read_inputs(
    conn: Connection,
    run: str,
    total: int,
    watermark: int,
    reward_used: str | None,
    override_watermark: int = 0,
    edge_version: str | None = None,
) -> Run | None:
    """Note what a running run works on; null where it does not run any more. `edge_version`: where not as asked."""
    seen = {"watermark": watermark, "reward_used": reward_used, "override_watermark": override_watermark}
    of_edges = {} if edge_version is None else {"edge_version": edge_version}
    return _moved(conn, runs.c.id == run, "running", total=total, **seen, **of_edges)


def critic_asked(conn: Connection, run: str, critic: str, fingerprint: str) -> Run | None:
    """Note whose forecasts a running run reads; null where it does not run any more."""
    return _moved(conn, runs.c.id == run, "running", critic=critic, critic_fingerprint=fingerprint)


def judge_heard(conn: Connection, run: str, judge: str, fingerprint: str) -> Run | None:
    """Note whose opinions a running run reads; null where it does not run any more."""
    return _moved(conn, runs.c.id == run, "running", judge=judge, judge_fingerprint=fingerprint)


def progress(conn: Connection, run: str, done: int) -> Run | None:
    """Note how many trajectories are scored; null where the run does not run any more: then stop."""
    return _moved(conn, runs.c.id == run, "running", done=done)


def finish(conn: Connection, run: str, notes: Sequence[Note] = ()) -> Run | None:
    """The running run, now done; stale at once where a reward came, or an edge was edited, while it ran."""
    reward_seen, override_seen = (func.coalesce(c, 0) for c in (runs.c.watermark, runs.c.override_watermark))
    of_run = credit_rows.c.run == runs.c.key
    late = exists().where(of_run, rewards.c.trajectory == credit_rows.c.trajectory, rewards.c.id > reward_seen)
    edited = exists().where(of_run, overrides.c.trajectory == credit_rows.c.trajectory, overrides.c.id > override_seen)
    for changed, why in ((late, "a reward came later"), (edited, "an edge was edited while it was at work")):
        conn.execute(update(runs).where(runs.c.id == run, runs.c.stale.is_(None), changed).values(stale=why))
    return _moved(conn, runs.c.id == run, "running", state="done", finished=now(), notes=_json.encode(notes).decode())


def fail(conn: Connection, run: str, error: str) -> Run | None:
    """The queued or running run, now failed."""
    return _moved(conn, runs.c.id == run, "queued", "running", state="failed", finished=now(), error=error)


def cancel(conn: Connection, project: str, run: str) -> Run:
    """The run, which does not go on; one that ended stays as it is."""
    found = find(conn, project, run)
    end = _moved(conn, runs.c.id == found.id, "queued", "running", state="cancelled", finished=now())
    return end or find(conn, project, run)


def find(conn: Connection, project: str, run: str) -> Run:
    """The run of that id, or the newest finished one of the attributor or label of that name."""
    row = conn.execute(select(runs).where(runs.c.project == project, runs.c.id == run)).one_or_none()
    if row is None:
        named = (runs.c.attributor == run) | (runs.c.label == run)
        done = select(runs).where(runs.c.project == project, runs.c.state == "done", named)
        row = conn.execute(done.order_by(runs.c.key.desc()).limit(1)).one_or_none()
    if row is None:
        raise NotFoundError(f"no run {run!r} in project {project!r}, and no finished one of an attributor of that name")
    return _run(row)


def page(conn: Connection, project: str, cursor: str | None = None, limit: int = 100) -> RunPage:
    """Runs of a project, newest first."""
    query = select(runs).where(runs.c.project == project).order_by(runs.c.key.desc()).limit(limit + 1)
    if cursor is not None:
        query = query.where(runs.c.key < _before(cursor))
    rows = conn.execute(query).all()
    more = len(rows) > limit
    return RunPage(tuple(map(_run, rows[:limit])), str(rows[limit - 1].key) if more else None)


def fresh(conn: Connection, project: str) -> list[Run]:
    """The finished runs of a project that are not stale, oldest first."""
    c = runs.c
    query = select(runs).where(c.project == project, c.state == "done", c.stale.is_(None)).order_by(c.key)
    return [_run(row) for row in conn.execute(query)]


def mark(conn: Connection, ids: Sequence[str], why: str, only: Select[int] | None = None) -> None:
    """The runs of these ids are out of date, or those of them whose key is among `only`; the first reason stays."""
    marked = update(runs).where(among(conn, runs.c.id, ids), runs.c.stale.is_(None)).values(stale=why)
    conn.execute(marked if only is None else marked.where(runs.c.key.in_(only)))


def mark_stale(conn: Connection, keys: Sequence[int], why: str) -> None:
    """Runs that scored any of these trajectories are out of date; the first reason stays."""
    if keys:
        scored = select(credit_rows.c.run).where(among(conn, credit_rows.c.trajectory, keys))
        conn.execute(update(runs).where(runs.c.stale.is_(None), runs.c.key.in_(scored)).values(stale=why))


def _before(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InputError(f"no page begins at {cursor[:40]!r}: use the cursor of the last page")
    return int(cursor)


def _moved(conn: Connection, which: Any, *states: State, **values: Any) -> Run | None:
    changed = update(runs).where(which, runs.c.state.in_(states)).values(values).returning(*runs.c)
    row = conn.execute(changed).one_or_none()
    return None if row is None else _run(row)


def _run(row: Row[*tuple[Any, ...]]) -> Run:
    asked = Asked(
        attributor=row.attributor,
        label=row.label,
        parameters=msgspec.json.decode(row.parameters),
        code_version=row.code_version,
        edge_version=row.edge_version,
        reward=row.reward_asked,
        group_by=row.group_by,
        filters=_decode_filters(row.filters),
        seed=row.seed,
    )
    return Run(
        id=row.id,
        project=row.project,
        asked=asked,
        reward_used=row.reward_used,
        watermark=row.watermark,
        state=row.state,
        done=row.done,
        total=row.total,
        error=row.error,
        notes=_decode_notes(row.notes),
        stale=row.stale,
        created=row.created,
        started=row.started,
        finished=row.finished,
        critic=row.critic,
        critic_fingerprint=row.critic_fingerprint,
        override_watermark=row.override_watermark,
        judge=row.judge,
        judge_fingerprint=row.judge_fingerprint,
    )
