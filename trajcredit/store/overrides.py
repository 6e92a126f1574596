"""What people say of edges: appended, never changed; of one pair of spans the newest word counts.

    add       an edge of kind `override` stands, whatever was derived
    remove    the derived edge is not used
    withdraw  back to what was derived

Stored graphs are never rewritten: whoever reads one says which overrides are to be in force (`Edits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, func, insert, select

from trajcredit.errors import InputError
from trajcredit.graph.overrides import Override, check_ends
from trajcredit.store.border import clean, now
from trajcredit.store.bulk import among
from trajcredit.store.ids import Known, find
from trajcredit.store.overridden import newest_of_pairs
from trajcredit.store.runs import mark_stale
from trajcredit.store.tables import edges, overrides

__all__ = [
    "ALL",
    "Action",
    "Change",
    "Edits",
    "Said",
    "append",
    "digest",
    "history",
    "in_force",
    "newest",
    "watermark",
]

Action: TypeAlias = Literal["add", "remove", "withdraw"]
Pair: TypeAlias = tuple[int, int]
"""Parent and child."""

FEW = 500
"""Trajectories up to which their overrides are asked for by key; beyond, all of the project are read: they are few."""
LENGTH = 12


@dataclass(frozen=True, slots=True)
class Change:
    """What a person says of the edge of one pair of spans, and why."""

    parent: int
    child: int
    action: Action
    reason: str
    person: str


@dataclass(frozen=True, slots=True)
class Said:
    """A change that is stored. `number` only grows."""

    number: int
    change: Change
    at: str


@dataclass(frozen=True, slots=True)
class Edits:
    """Which overrides are in force: those up to a number (null: all there are), then what is only proposed."""

    upto: int | None = None
    proposed: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    """By our id of the trajectory."""


ALL = Edits()


def append(conn: Connection, project: str, ref: str, changes: Sequence[Change]) -> list[Said]:
    """Add changes of one trajectory, in order; the runs that scored it are stale from then on. What was added.

    What the newest word of a pair says already, by the same person for the same reason, is not said again: an answer
    may have been lost. InputError, and nothing is added, where a change cannot be.
    """
    one = find(conn, project, ref)
    cleaned = [_cleaned(change) for change in changes]
    said = newest(conn, project, one.id)
    new: list[Change] = []
    for change in cleaned:
        if _same(said.get((change.parent, change.child)), change):
            continue
        _check(conn, one, said, change)
        said[change.parent, change.child] = change
        new.append(change)
    at = now()
    rows = [_row(project, one.key, change, at) for change in new]
    added = [conn.execute(insert(overrides).returning(*overrides.c), row).one() for row in rows]
    if new:
        mark_stale(conn, [one.key], _edited(one, new))
    return [_said(row) for row in added]


def history(conn: Connection, project: str, ref: str) -> list[Said]:
    """Everything that was ever said of the edges of a trajectory, oldest first."""
    query = select(overrides).where(overrides.c.trajectory == find(conn, project, ref).key).order_by(overrides.c.id)
    return [_said(row) for row in conn.execute(query)]


def newest(conn: Connection, project: str, ref: str) -> dict[Pair, Change]:
    """The newest word of every pair of a trajectory that one was said of."""
    return {(one.change.parent, one.change.child): one.change for one in history(conn, project, ref)}


def in_force(
    conn: Connection, project: str, own: Sequence[tuple[int, str]], edits: Edits = ALL
) -> dict[int, list[Override]]:
    """The overrides of trajectories (key and our id each) by their place in that order; none, no entry.

    InputError where what is proposed cannot be.
    """
    o = overrides.c
    some = among(conn, o.trajectory, [key for key, _ in own]) if len(own) <= FEW else o.project == project
    said: dict[int, dict[Pair, Change]] = {}
    for row in conn.execute(newest_of_pairs(some, edits.upto)):
        said.setdefault(row.trajectory, {})[row.parent, row.child] = _change(row)
    found: dict[int, list[Override]] = {}
    for t, (key, name) in enumerate(own):
        theirs = said.get(key, {})
        if name in edits.proposed:
            theirs = _proposed(conn, find(conn, project, name), theirs, edits.proposed[name])
        standing = [_override(change) for change in theirs.values() if change.action != "withdraw"]
        if standing:
            found[t] = sorted(standing, key=lambda one: (one.child, one.parent))
    return found


def watermark(conn: Connection, project: str) -> int:
    """The number of the project's newest override, 0 where there is none: later ones have greater numbers."""
    found: int | None = conn.scalar(select(func.max(overrides.c.id)).where(overrides.c.project == project))
    return found or 0


def digest(ids: Sequence[str], found: Mapping[int, Sequence[Override]]) -> str:
    """A hash of which edges of which trajectories (our ids) are overridden, and how; "" where none is."""
    if not found:
        return ""
    facts = [(ids[t], [(one.parent, one.child, one.weight) for one in found[t]]) for t in sorted(found)]
    return sha256(msgspec.json.encode(facts)).hexdigest()[:LENGTH]


def _proposed(
    conn: Connection, one: Known, said: Mapping[Pair, Change], changes: Iterable[Change]
) -> dict[Pair, Change]:
    after = dict(said)
    for change in map(_cleaned, changes):
        if not _same(after.get((change.parent, change.child)), change):
            _check(conn, one, after, change)
        after[change.parent, change.child] = change
    return after


def _check(conn: Connection, one: Known, said: Mapping[Pair, Change], change: Change) -> None:
    """InputError where a change says nothing, names no pair, or undoes what is not there."""
    check_ends(change.parent, change.child, one.n_spans)
    name = f"s{change.parent} -> s{change.child}"
    if not change.reason.strip():
        raise InputError(f"reason: say why the edge {name} is to be edited")
    if not change.person.strip():
        raise InputError("person: say who edits the edge")
    known = said.get((change.parent, change.child))
    stands = known is not None and known.action != "withdraw"
    if change.action == "withdraw" and not stands:
        raise InputError(f"no override of {name} is in force: there is nothing to withdraw")
    if change.action == "remove" and not _is_derived(conn, one.key, change):
        instead = "; the one that a person added is withdrawn instead" if stands else ""
        raise InputError(f"no edge {name} was derived or logged: there is nothing to remove{instead}")


def _is_derived(conn: Connection, key: int, change: Change) -> bool:
    e = edges.c
    there = (e.trajectory == key, e.child == change.child, e.parent == change.parent)
    return conn.scalar(select(func.count()).where(*there)) == 1


def _same(known: Change | None, change: Change) -> bool:
    """Whether the newest word is this one; withdrawing twice is a mistake and no repetition of a lost answer."""
    return known == change and change.action != "withdraw"


def _override(change: Change) -> Override:
    weight = 1.0 if change.action == "add" else 0.0
    return Override(change.parent, change.child, weight, f"{change.reason} ({change.person})")


def _edited(one: Known, changes: Sequence[Change]) -> str:
    """What makes a run stale: which edge was edited, and how."""
    done = {"add": "added", "remove": "removed", "withdraw": "put back as derived"}
    first, rest = changes[0], len(changes) - 1
    more = f", and {rest} more" if rest else ""
    return f"the edge s{first.parent} -> s{first.child} of {one.external_id} was {done[first.action]}{more}"


def _cleaned(change: Change) -> Change:
    return Change(change.parent, change.child, change.action, clean(change.reason), clean(change.person))


def _row(project: str, key: int, change: Change, at: str) -> dict[str, Any]:
    return {
        "project": project,
        "trajectory": key,
        "parent": change.parent,
        "child": change.child,
        "action": change.action,
        "reason": change.reason,
        "person": change.person,
        "at": at,
    }


def _said(row: Row[*tuple[Any, ...]]) -> Said:
    return Said(row.id, _change(row), row.at)


def _change(row: Row[*tuple[Any, ...]]) -> Change:
    return Change(row.parent, row.child, row.action, row.reason, row.person)
