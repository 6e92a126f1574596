"""Labels: what people say of spans. Appended, never changed; of one person's on one span the newest counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, exists, func, or_, select

from trajcredit.errors import InputError
from trajcredit.model import EPOCH, MICROSECOND, instant
from trajcredit.store.border import clean, now
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.ids import Known, find, known
from trajcredit.store.tables import labels, spans, trajectories

__all__ = [
    "QUEUES",
    "VERDICTS",
    "Given",
    "Label",
    "LabelPage",
    "Queue",
    "Taken",
    "Verdict",
    "append",
    "counts",
    "each",
    "is_labelled",
    "labelled_by",
    "of_trajectory",
    "page",
    "stands",
]

Verdict: TypeAlias = Literal["culprit", "contributed", "innocent", "unsure"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Queue: TypeAlias = Literal["disagree", "high", "random"]
QUEUES: tuple[Queue, ...] = get_args(Queue)

LONGEST_NAME = 100
LONGEST_NOTE = 10_000
LAST_YEAR = 8999
"""There is a microsecond after every time."""
CHUNK = 5000
"""Labels read at a time where those of a whole project are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A label as it comes. `trajectory`: our id, or `ext:` and the client's."""

    trajectory: str
    span: int
    verdict: Verdict | None
    """Null: the one before is withdrawn."""
    labeller: str
    note: str | None = None
    blind: bool = False
    """Whether it was given before any credit of the trajectory was seen."""
    seconds: float | None = None
    queue: Queue | None = None
    """Where the trajectory was offered; null where the person went there."""
    at: str | None = None
    """ISO 8601; null: now."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label that counts: no newer one of the same person on the same span, and not withdrawn."""

    trajectory: str
    """Ours."""
    external_id: str
    span: int
    verdict: Verdict
    labeller: str
    note: str | None
    blind: bool
    seconds: float | None
    queue: Queue | None
    at: str


@dataclass(frozen=True, slots=True)
class LabelPage:
    """Some labels, newest first, and where the next page begins; null on the last."""

    labels: tuple[Label, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one label; `duplicate`: it is there already."""

    status: Literal["created", "duplicate", "rejected"]
    reason: str | None = None


_Said: TypeAlias = tuple[str | None, str | None, bool, str]
"""Verdict, note, blind, at."""
_Place: TypeAlias = tuple[int, int, str]
"""Key of the trajectory, span, labeller."""


def append(conn: Connection, project: str, given: Sequence[Given]) -> list[Taken]:
    """Add labels, one answer each, in order. One without a time is newer than all before it."""
    found = known(conn, project, list({one.trajectory for one in given}))
    keys = sorted({one.key for one in found.values()})
    actions, said = _actions(conn, keys), _said(conn, keys)
    arrival = now()
    answers: list[Taken] = []
    rows: list[tuple[Any, ...]] = []
    for one in given:
        trajectory = found.get(one.trajectory)
        problem = _wrong(one, trajectory, actions)
        if trajectory is None or problem is not None:
            answers.append(Taken("rejected", problem))
            continue
        labeller, note = clean(one.labeller.strip()), clean(one.note.strip()) if one.note else None
        before = said.setdefault((trajectory.key, one.span, labeller), [])
        at = None if one.at is None else _written(instant(one.at))
        if _says_nothing_new(one, note or None, at, before):
            answers.append(Taken("duplicate"))
            continue
        dated = at or _after(arrival, before)
        before.append((one.verdict, note or None, one.blind, dated))
        before.sort(key=lambda row: row[3])
        where = (project, trajectory.key, one.span)
        seconds = None if one.seconds is None else float(one.seconds)
        rows.append((*where, one.verdict, labeller, note or None, one.blind, seconds, one.queue, dated))
        answers.append(Taken("created"))
    insert_many(conn, labels, _ROW, rows)
    return answers


def of_trajectory(conn: Connection, project: str, ref: str) -> list[Label]:
    """The labels of one trajectory that count, by span, then by name."""
    key = find(conn, project, ref).key
    query = _LABELS.where(labels.c.trajectory == key, stands()).order_by(labels.c.span, labels.c.labeller)
    return [_label(row) for row in conn.execute(query)]


def page(conn: Connection, project: str, cursor: str | None = None, limit: int = 100) -> LabelPage:
    """The labels of a project that count, those that came last first."""
    query = _LABELS.where(labels.c.project == project, stands()).order_by(labels.c.id.desc()).limit(limit + 1)
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise InputError(f"no page begins at {cursor[:40]!r}: use the cursor of the last page")
        query = query.where(labels.c.id < int(cursor))
    rows = conn.execute(query).all()
    end = str(rows[limit - 1].number) if len(rows) > limit else None
    return LabelPage(tuple(map(_label, rows[:limit])), end)


def each(conn: Connection, project: str) -> Iterator[Label]:
    """The labels of a project that count, in the order they came."""
    last, size = 0, CHUNK
    while size == CHUNK:
        query = _LABELS.where(labels.c.project == project, labels.c.id > last, stands())
        rows = conn.execute(query.order_by(labels.c.id).limit(CHUNK)).all()
        size = len(rows)
        last = rows[-1].number if rows else last
        yield from map(_label, rows)


def counts(conn: Connection, ids: Sequence[str]) -> dict[str, int]:
    """How many labels each of the trajectories (our ids) has that count; none, no entry."""
    query = (
        select(trajectories.c.id, func.count())
        .join(labels, labels.c.trajectory == trajectories.c.key)
        .where(among(conn, trajectories.c.id, ids), stands())
        .group_by(trajectories.c.id)
        .order_by(trajectories.c.id)
    )
    return {row[0]: row[1] for row in conn.execute(query)}


def labelled_by(conn: Connection, project: str, labeller: str) -> int:
    """How many trajectories of a project have a label of that person."""
    of = labels.c
    query = select(func.count(of.trajectory.distinct())).where(of.project == project, of.labeller == clean(labeller))
    return conn.scalar(query.where(stands())) or 0


def is_labelled() -> ColumnElement[bool]:
    """Of the table of trajectories: whether any label of it counts."""
    return exists().where(labels.c.trajectory == trajectories.c.key, stands())


def stands() -> ColumnElement[bool]:
    """Of the table of labels: whether it counts, which a withdrawn or an older one does not."""
    own, newer = labels.c, labels.alias("newer_label").c
    later = or_(newer.at > own.at, and_(newer.at == own.at, newer.id > own.id))
    same = (newer.trajectory == own.trajectory, newer.span == own.span, newer.labeller == own.labeller)
    return and_(own.verdict.is_not(None), ~exists().where(*same, later))


def _actions(conn: Connection, keys: Sequence[int]) -> dict[int, set[int]]:
    """The action spans of each trajectory."""
    s = spans.c
    query = select(s.trajectory, s.span).where(among(conn, s.trajectory, keys), s.is_action == 1)
    found: dict[int, set[int]] = {}
    for key, span in conn.execute(query.order_by(s.trajectory, s.span)):
        found.setdefault(key, set()).add(span)
    return found


def _said(conn: Connection, keys: Sequence[int]) -> dict[_Place, list[_Said]]:
    """Every label there is, oldest first."""
    c = labels.c
    query = select(c.trajectory, c.span, c.labeller, c.verdict, c.note, c.blind, c.at)
    found: dict[_Place, list[_Said]] = {}
    rows = conn.execute(query.where(among(conn, c.trajectory, keys)).order_by(c.at, c.id))
    for key, span, labeller, verdict, note, blind, at in rows:
        found.setdefault((key, span, labeller), []).append((verdict, note, bool(blind), at))
    return found


def _wrong(given: Given, trajectory: Known | None, actions: dict[int, set[int]]) -> str | None:
    if trajectory is None:
        return f"no trajectory {given.trajectory!r}"
    if not 0 <= given.span < trajectory.n_spans:
        return f"it names span {given.span}; the trajectory has {trajectory.n_spans}"
    if given.span not in actions.get(trajectory.key, ()):
        return f"span {given.span} is an observation: only what the policy wrote is labelled"
    if given.verdict is not None and given.verdict not in VERDICTS:
        return f"no verdict {given.verdict!r}; known: {', '.join(VERDICTS)}"
    if given.queue is not None and given.queue not in QUEUES:
        return f"no queue {given.queue!r}; known: {', '.join(QUEUES)}"
    return _odd(given)


def _odd(given: Given) -> str | None:
    """What is wrong with a label that names a span."""
    if not given.labeller.strip() or len(given.labeller) > LONGEST_NAME or "\0" in given.labeller:
        return f"`labeller` is {given.labeller[:40]!r}: expected a name of 1 to {LONGEST_NAME} characters, without NUL"
    if given.note is not None and len(given.note) > LONGEST_NOTE:
        return f"`note` has {len(given.note):,} characters; at most {LONGEST_NOTE:,}"
    if given.seconds is not None and not (isfinite(given.seconds) and given.seconds >= 0):
        return f"`seconds` is {given.seconds}: expected a finite number, not below 0"
    if given.at is not None and not _is_time(given.at):
        return (
            f"`at` is {given.at[:40]!r}: expected a time of 1970 to {LAST_YEAR}, as ISO 8601, e.g. 2026-04-14T18:40:12Z"
        )
    return None


def _is_time(at: str) -> bool:
    try:
        return 0 <= instant(at) < instant(f"{LAST_YEAR + 1}-01-01")
    except InputError:
        return False


def _says_nothing_new(given: Given, note: str | None, at: str | None, before: Sequence[_Said]) -> bool:
    """Whether it is there already: sent again after a lost answer, or imported twice."""
    said = (given.verdict, note, given.blind)
    if at is not None:
        return (*said, at) in before
    if not before:
        return given.verdict is None
    return before[-1][:3] == said


def _after(arrival: str, before: Sequence[_Said]) -> str:
    """The time of arrival, or a later one where a label before is of the future."""
    newest = instant(before[-1][3]) if before else instant(None)
    return arrival if newest < instant(arrival) else _written(newest + 1)


def _written(at: int) -> str:
    """Microseconds since 1970 as `border.now` writes times, which compare as text."""
    return (EPOCH + at * MICROSECOND).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _label(row: Row[*tuple[Any, ...]]) -> Label:
    fields = {name: getattr(row, name) for name in Label.__dataclass_fields__}
    return Label(**{**fields, "blind": bool(row.blind)})


_ROW = ("project", "trajectory", "span", "verdict", "labeller", "note", "blind", "seconds", "queue", "at")
_LABELS: Select[*tuple[Any, ...]] = select(
    labels.c.id.label("number"),
    trajectories.c.id.label("trajectory"),
    trajectories.c.external_id,
    *(labels.c[name] for name in ("span", "verdict", "labeller", "note", "blind", "seconds", "queue", "at")),
).join(trajectories, trajectories.c.key == labels.c.trajectory)
