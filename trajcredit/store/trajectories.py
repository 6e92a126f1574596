"""Trajectories: added whole or not at all, and removed with all that hangs on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from itertools import chain, repeat
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Table, func, select
from sqlalchemy import delete as delete_from
from uuid_utils import uuid7

from trajcredit.model import Reward
from trajcredit.store import carrying, logs, rewards, runs, tables
from trajcredit.store.border import now, project_name
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.ids import find
from trajcredit.store.joining import Across, mark_joined
from trajcredit.store.keeping import ROW, Kept
from trajcredit.store.logs import RawLog
from trajcredit.store.rewards import Given

__all__ = ["Added", "Status", "add", "add_log", "delete"]

Status: TypeAlias = Literal["created", "duplicate", "conflict", "replaced", "rejected"]

_HEAD = ("key", "id", "external_id", "content_sha256", "created", *ROW)
_SPAN = ("trajectory", "span", "kind", "turn", "tool", "is_action", "is_write", "is_error", "size")
_EDGE = ("trajectory", "child", "parent", "kind", "weight", "rule")
_table = tables.trajectories


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one item; `id` is that of what is stored under its name now, null where nothing is."""

    status: Status
    external_id: str
    id: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    id: str
    content_sha256: str
    dataset: str | None
    key: int | None = None
    """Null while it is not in the database yet."""


def add(conn: Connection, project: str, items: Sequence[Kept], replace: bool = False) -> list[Added]:
    """Store what is new; one answer an item, in order.

    The same id with the same content is a duplicate, in whatever data set it comes; with other content it is a conflict
    or, where `replace` says so, takes the place of the old one (as does the same in another data set): that is removed
    whole but for rewards that came after it, which stay, and labels where every span is the same; the runs that scored
    it are stale.
    """
    stored = _stored(conn, project_name(project), items)
    answers: list[Added] = []
    new: list[tuple[str, Kept]] = []
    gone: list[tuple[int, Kept]] = []
    for item in items:
        old = stored.get(item.external_id)
        answer = _answer(item, old, replace)
        if answer.status in ("created", "replaced"):
            answer = Added(answer.status, item.external_id, str(uuid7()))
            gone += [(old.key, item)] if old is not None and old.key is not None else []
            stored[item.external_id] = _Stored(answer.id or "", item.content_sha256, item.dataset)
            new.append((answer.id or "", item))
        answers.append(answer)
    keys = [key for key, _ in gone]
    verdicts, labels = _late_rewards(conn, keys), carrying.lift(conn, gone)
    read_from = _remove(conn, project, keys, "a trajectory was replaced") if gone else []
    if new:
        _insert(conn, project, new)
    if verdicts:
        rewards.append(conn, project, [Given(f"ext:{name}", reward) for name, reward in verdicts])
    carrying.put_down(conn, project, labels)
    logs.forget_unused(conn, project, read_from)
    return [_with_loss(answer, labels.dropped.get(answer.external_id, 0)) for answer in answers]


def add_log(
    conn: Connection, project: str, log: RawLog, items: Sequence[Kept], replace: bool, across: Across
) -> list[Added]:
    """`add` what was read from a log, and keep its bytes if any of it is new; runs it makes out of date are stale."""
    logs.keep_raw(conn, project, log)
    added = add(conn, project, items, replace)
    logs.forget_unused(conn, project, [log.sha256])
    new = [one.id for one in added if one.status in ("created", "replaced") and one.id is not None]
    mark_joined(conn, project, new, across)
    return added


def delete(conn: Connection, project: str, ref: str) -> None:
    """Remove a trajectory with its rows, credits and rewards, and its raw log where no other was read from it."""
    read_from = _remove(conn, project, [find(conn, project, ref).key], "a trajectory was deleted")
    logs.forget_unused(conn, project, read_from)


def _with_loss(answer: Added, dropped: int) -> Added:
    """The answer, with what replacing cost."""
    if answer.status != "replaced" or not dropped:
        return answer
    lost = (
        "a label of the one before was dropped" if dropped == 1 else f"{dropped} labels of the one before were dropped"
    )
    return changed(answer, reason=f"{lost}: its spans differ")


def _answer(item: Kept, old: _Stored | None, replace: bool) -> Added:
    name = item.external_id
    if item.problem is not None:
        return Added("rejected", name, None if old is None else old.id, item.problem)
    if old is None:
        return Added("created", name, None)
    if old.content_sha256 == item.content_sha256 and not (replace and old.dataset != item.dataset):
        return Added("duplicate", name, old.id)
    if replace and old.key is not None:
        return Added("replaced", name, None)
    why = "another trajectory has this id" if old.key is not None else "this upload has another trajectory of this id"
    return Added("conflict", name, old.id, f"{why}, and its content differs")


def _stored(conn: Connection, project: str, items: Sequence[Kept]) -> dict[str, _Stored]:
    """What is stored under the names of the items."""
    t = _table.c
    named = among(conn, t.external_id, [item.external_id for item in items])
    query = select(t.external_id, t.id, t.content_sha256, t.dataset, t.key).where(t.project == project, named)
    return {name: _Stored(*row) for name, *row in conn.execute(query)}


def _late_rewards(conn: Connection, keys: Sequence[int]) -> list[tuple[str, Reward]]:
    """The rewards that came after some trajectories, each with the name of its trajectory: no log has them."""
    r, t = tables.rewards.c, _table.c
    query = (
        select(t.external_id, r.value, r.source, r.span, r.name, r.at)
        .join(_table, t.key == r.trajectory)
        .where(among(conn, t.key, keys), r.received != t.created)
        .order_by(r.id)
    )
    return [(name, Reward(*reward)) for name, *reward in conn.execute(query)] if keys else []


def _insert(conn: Connection, project: str, new: Sequence[tuple[str, Kept]]) -> None:
    """Add every row of new trajectories. Keys follow each other: nobody else writes until this transaction ends."""
    first = 1 + (conn.scalar(select(func.max(_table.c.key))) or 0)
    at = now()
    keyed = [(first + n, *one) for n, one in enumerate(new)]
    heads = [(key, own, item.external_id, item.content_sha256, at, *item.row) for key, own, item in keyed]
    insert_many(conn, _table, _HEAD, heads)
    insert_many(conn, tables.documents, ("trajectory", "line"), [(key, item.line) for key, _, item in keyed])
    blocks = [(key, item.tools, item.columns, item.evidence) for key, _, item in keyed]
    insert_many(conn, tables.packed, ("trajectory", "tools", "columns", "evidence"), blocks)
    insert_many(conn, tables.spans, _SPAN, _rows((key, item.spans) for key, _, item in keyed))
    insert_many(conn, tables.edges, _EDGE, _rows((key, item.edges) for key, _, item in keyed))
    use = [(project, tool, key, calls, errors) for key, _, item in keyed for tool, calls, errors in item.tool_use]
    insert_many(conn, tables.tool_use, ("project", "tool", "trajectory", "calls", "errors"), use)
    rewards.insert(conn, project, [(key, reward) for key, _, item in keyed for reward in item.rewards], at)


def _rows(pieces: Iterator[tuple[int, tuple[Sequence[Any], ...]]]) -> list[tuple[Any, ...]]:
    """Columns of many trajectories -> rows, each with the key of its own."""
    return list(chain.from_iterable(zip(repeat(key), *columns, strict=False) for key, columns in pieces))


def _remove(conn: Connection, project: str, keys: Sequence[int], why: str) -> list[str]:
    """Delete trajectories and everything that refers to them; the logs they were read from."""
    runs.mark_stale(conn, keys, why)
    raw = select(_table.c.raw_sha256).where(among(conn, _table.c.key, keys), _table.c.raw_sha256.is_not(None))
    read_from = list(conn.scalars(raw.distinct()))
    use, of_spans = tables.tool_use.c, tables.spans.c
    called = select(of_spans.tool).where(among(conn, of_spans.trajectory, keys))
    theirs = (use.project == project, use.tool.in_(called), among(conn, use.trajectory, keys))  # by its primary key
    conn.execute(delete_from(tables.tool_use).where(*theirs))
    children: tuple[Table, ...] = (
        tables.credit_rows,
        tables.labels,
        tables.rewards,
        tables.edges,
        tables.spans,
        tables.packed,
        tables.documents,
    )
    for table in children:
        conn.execute(delete_from(table).where(among(conn, table.c.trajectory, keys)))
    conn.execute(delete_from(_table).where(among(conn, _table.c.key, keys)))
    return read_from
