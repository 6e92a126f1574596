"""What lists and pages say beside a trajectory: how much its reader noted, its format, kinds of spans, its rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select, tuple_

from trajcredit.model import Origin
from trajcredit.store.bulk import among
from trajcredit.store.ids import find, find_all
from trajcredit.store.tables import rewards, spans, trajectories

__all__ = ["GivenReward", "Remark", "kinds_at", "remarks", "rewards_given"]

_notes = msgspec.json.Decoder(list[msgspec.Raw])
_origin = msgspec.json.Decoder(Origin)


@dataclass(frozen=True, slots=True)
class Remark:
    """How many notes the reader left, and which format it read; "" where nobody said."""

    n_notes: int
    format: str


@dataclass(frozen=True, slots=True)
class GivenReward:
    """A reward, and when it came in."""

    value: float
    source: str
    span: int | None
    name: str | None
    at: str | None
    received: str


def remarks(conn: Connection, ids: Sequence[str]) -> dict[str, Remark]:
    """By our id."""
    t = trajectories.c
    query = select(t.id, t.report, t.source).where(among(conn, t.id, ids)).order_by(t.key)
    return {
        name: Remark(len(_notes.decode(report)), "" if source is None else _origin.decode(source).format)
        for name, report, source in conn.execute(query)
    }


def kinds_at(conn: Connection, project: str, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The kind of each span: (our id of its trajectory, its index) -> kind."""
    wanted = sorted(set(places))
    if not wanted:
        return {}
    ids = sorted({name for name, _ in wanted})
    key_of = {name: one.key for name, one in zip(ids, find_all(conn, project, ids), strict=True)}
    s = spans.c
    query = select(s.trajectory, s.span, s.kind).where(
        tuple_(s.trajectory, s.span).in_([(key_of[name], span) for name, span in wanted])
    )
    found = {(key, span): kind for key, span, kind in conn.execute(query)}
    return {(name, span): found[key_of[name], span] for name, span in wanted}


def rewards_given(conn: Connection, project: str, ref: str) -> list[GivenReward]:
    """The rewards of a trajectory, in the order they came."""
    r = rewards.c
    query = (
        select(r.value, r.source, r.span, r.name, r.at, r.received)
        .where(r.trajectory == find(conn, project, ref).key)
        .order_by(r.id)
    )
    return [GivenReward(*row) for row in conn.execute(query)]
