"""Opinions of judgings, one compressed row of JSON a trajectory; and answers of models that were paid for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from trajcredit.store.border import clean, now
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.engine import Store
from trajcredit.store.filters import conditions
from trajcredit.store.ids import find
from trajcredit.store.judgings import Judging
from trajcredit.store.logs import compress, decompress
from trajcredit.store.tables import judge_cache, judgings, opinions, trajectories

__all__ = ["Kept", "StoredAnswers", "lines", "of_trajectory", "rows_of", "save", "todo"]

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """One opinion as it is to be kept."""

    trajectory: int
    missing: str | None
    line: bytes
    """Its row, JSON."""


class StoredAnswers:
    """`judges.Answers` in the database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: str) -> bytes | None:
        """The answer, if there is one."""
        with self._store.read() as conn:
            found: bytes | None = conn.scalar(select(judge_cache.c.answer).where(judge_cache.c.key == key))
        return found

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; it is committed when this returns. A newer one takes the place of one that did not fit."""
        with self._store.write() as conn:
            conn.execute(delete(judge_cache).where(judge_cache.c.key == key))
            conn.execute(judge_cache.insert().values(key=key, answer=answer, created=now()))


def todo(conn: Connection, judging: Judging) -> tuple[int, list[tuple[int, str]]]:
    """How many trajectories a judging is about, and key and id of those that are not judged, in the order stored."""
    t = trajectories.c
    rows = conn.execute(
        select(t.key, t.id).where(conditions(conn, judging.project, judging.asked.filters)).order_by(t.key)
    ).all()
    query = select(opinions.c.trajectory).where(opinions.c.judging == judging.key, opinions.c.missing.is_(None))
    judged = set(conn.scalars(query))
    return len(rows), [(row[0], row[1]) for row in rows if row[0] not in judged]


def save(conn: Connection, judging: Judging, kept: Sequence[Kept]) -> None:
    """Keep opinions, in the place of what was said of the same trajectories before; of one that is gone, none."""
    t = trajectories.c
    there = set(conn.scalars(select(t.key).where(among(conn, t.key, [one.trajectory for one in kept]))))
    some = [one for one in kept if one.trajectory in there]
    if not some:
        return
    mine = opinions.c.judging == judging.key
    conn.execute(delete(opinions).where(mine, among(conn, opinions.c.trajectory, [one.trajectory for one in some])))
    lines = compress([one.line for one in some])
    rows = [
        (judging.key, one.trajectory, None if one.missing is None else clean(one.missing), line)
        for one, line in zip(some, lines, strict=True)
    ]
    insert_many(conn, opinions, ("judging", "trajectory", "missing", "line"), rows)


def rows_of(conn: Connection, judging: Judging, ids: Sequence[str]) -> dict[str, bytes]:
    """Our id -> row of JSON, of those of the trajectories that a judging has an opinion of."""
    found: dict[str, bytes] = {}
    for first in range(0, len(ids), CHUNK):
        some = among(conn, trajectories.c.id, ids[first : first + CHUNK])
        query = _ROWS.where(opinions.c.judging == judging.key, some)
        found |= {row[0]: decompress(row[1]) for row in conn.execute(query)}
    return found


def lines(conn: Connection, judging: Judging) -> Iterator[bytes]:
    """Every row of a judging, JSON without line feeds, in the order the trajectories were stored."""
    query = _ROWS.where(opinions.c.judging == judging.key).order_by(trajectories.c.key)
    return (decompress(row[1]) for row in conn.execute(query))


def of_trajectory(conn: Connection, project: str, ref: str) -> list[tuple[str, str, bytes]]:
    """Id of the judging, its label and its row of JSON, for each that spoke of a trajectory, newest first."""
    key = find(conn, project, ref).key
    query = (
        select(judgings.c.id, judgings.c.label, opinions.c.line)
        .join(judgings, judgings.c.key == opinions.c.judging)
        .where(opinions.c.trajectory == key)
        .order_by(judgings.c.key.desc())
    )
    return [(row[0], row[1], decompress(row[2])) for row in conn.execute(query)]


_ROWS = select(trajectories.c.id, opinions.c.line).join(opinions, opinions.c.trajectory == trajectories.c.key)
