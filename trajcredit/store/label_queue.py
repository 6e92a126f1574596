"""Which trajectory a person labels next: worked out in SQL from credits that are stored, the same for the same state.

A tenth of the trajectories, told by a hash of id and content, is kept for the random queue: what is labelled there was
not picked by any attributor, so figures on it are honest. Another tenth, independent of the first, is given to a second
person too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Float, Select, Subquery, and_, case, cast, exists, func, or_, select

from trajcredit.errors import InputError
from trajcredit.store.border import clean
from trajcredit.store.filters import PASS
from trajcredit.store.ids import find
from trajcredit.store.labels import QUEUES, Queue, stands
from trajcredit.store.tables import credit_rows, labels, runs, trajectories

__all__ = ["Next", "Result", "following", "is_random", "is_shared"]

Result: TypeAlias = Literal["fail", "pass", "any"]
TENTH = "1999"
"""Of four hexadecimal digits a tenth (6,553 of 65,536) is below."""


@dataclass(frozen=True, slots=True)
class Next:
    """What to look at next, null where nothing is left; and how much is left."""

    trajectory: str | None
    score: float | None
    """What it stands in the queue by; null where no run says anything."""
    runs: int
    """Runs that the score rests on."""
    left: int
    """Trajectories in the queue that was asked for, this one among them."""
    left_random: int
    left_other: int
    """In the random queue, and in each of the two others."""


def is_random() -> ColumnElement[bool]:
    """Of the table of trajectories: whether it is of the tenth that only the random queue offers."""
    return func.substr(trajectories.c.content_sha256, 1, 4) < TENTH


def is_shared() -> ColumnElement[bool]:
    """Whether it is of the tenth that two people label."""
    return func.substr(trajectories.c.content_sha256, 5, 4) < TENTH


def following(
    conn: Connection, project: str, labeller: str, queue: Queue, result: Result = "fail", after: str | None = None
) -> Next:
    """The first of the queue that this person has not labelled, or the first after `after` (an id as in paths).

    `disagree`: the largest chance first that two of the runs that tell its spans apart blame another span most. `high`:
    the largest size of a credit first. `random`: by hash. Of equal ones the hash decides. Runs are finished ones, of
    one label the newest. Null trajectory: nothing is left, or nothing after `after`.
    """
    if queue not in QUEUES:
        raise InputError(f"no queue {queue!r}; known: {', '.join(QUEUES)}")
    wanted = _open_to(project, clean(labeller.strip()), result)
    share = is_random() if queue == "random" else ~is_random()
    ranked = _ranked(project, queue)
    t = trajectories.c
    query = ranked.where(wanted, share)
    if after is not None:
        query = query.where(_behind(conn, project, ranked, after))
    first = conn.execute(query.order_by(_score(ranked).desc(), t.content_sha256, t.key).limit(1)).one_or_none()
    counted = select(func.count(), func.coalesce(func.sum(case((is_random(), 1), else_=0)), 0)).where(wanted)
    total, random = conn.execute(counted).one()
    left = int(random) if queue == "random" else int(total - random)
    return Next(
        trajectory=None if first is None else first.id,
        score=None if first is None or first.score < 0 else first.score,
        runs=0 if first is None else int(first.n),
        left=left,
        left_random=int(random),
        left_other=int(total - random),
    )


def _open_to(project: str, labeller: str, result: Result) -> ColumnElement[bool]:
    """Has actions, ended so, and waits for this person: nobody labelled it, or one other did and it is shared."""
    t, said = trajectories.c, labels.c
    ends = {"fail": [t.outcome < PASS], "pass": [t.outcome >= PASS], "any": []}
    if result not in ends:
        raise InputError(f"no result {result!r}; known: {', '.join(ends)}")
    mine = exists().where(said.trajectory == t.key, said.labeller == labeller, stands())
    people = select(func.count(said.labeller.distinct())).where(said.trajectory == t.key, stands()).scalar_subquery()
    waits = or_(people == 0, and_(is_shared(), people == 1))
    return and_(t.project == project, t.n_actions > 0, *ends[result], ~mine, waits)


def _ranked(project: str, queue: Queue) -> Select[*tuple[Any, ...]]:
    """id, n (runs that count) and score of every trajectory; -1 where no run says anything."""
    t = trajectories.c
    if queue == "random":
        return select(t.id, cast(0, Float).label("n"), cast(-1, Float).label("score"))
    by = _disagreement(project) if queue == "disagree" else _largest(project)
    n, score = func.coalesce(by.c.n, 0).label("n"), func.coalesce(by.c.score, -1.0).label("score")
    return select(t.id, n, score).outerjoin(by, by.c.trajectory == t.key)


def _score(ranked: Select[*tuple[Any, ...]]) -> ColumnElement[Any]:
    return ranked.selected_columns["score"]


def _behind(conn: Connection, project: str, ranked: Select[*tuple[Any, ...]], after: str) -> ColumnElement[bool]:
    """Further back in the queue than that trajectory, wherever it stands itself."""
    t, score = trajectories.c, _score(ranked)
    own = ranked.add_columns(t.content_sha256, t.key).where(t.key == find(conn, project, after).key)
    at = conn.execute(own).one()
    level = or_(t.content_sha256 > at.content_sha256, and_(t.content_sha256 == at.content_sha256, t.key > at.key))
    return or_(score < at.score, and_(score == at.score, level))


def _newest(project: str) -> Select[int]:
    """Finished runs, of one label the newest."""
    return select(func.max(runs.c.key)).where(runs.c.project == project, runs.c.state == "done").group_by(runs.c.label)


def _disagreement(project: str) -> Subquery:
    """1 - sum n_s (n_s - 1) / (n (n - 1)): n_s of n runs blame span s most (Simpson 1949, without replacement).

    A flat run blames nobody in particular and does not count; of equally blamed spans the first stands for the others.
    """
    c = credit_rows.c
    tells = and_(c.low < 0, or_(c.low < c.high, c.n_scored == 1))
    votes = (
        select(c.trajectory, c.low_span, cast(func.count(), Float).label("n"))
        .where(c.run.in_(_newest(project)), tells)
        .group_by(c.trajectory, c.low_span)
        .subquery("votes")
    )
    n, alike = func.sum(votes.c.n), func.sum(votes.c.n * (votes.c.n - 1))
    score = case((n > 1, 1.0 - alike / (n * (n - 1))), else_=-1.0)
    return select(votes.c.trajectory, n.label("n"), score.label("score")).group_by(votes.c.trajectory).subquery("by")


def _largest(project: str) -> Subquery:
    """The largest size of a credit in any of the runs."""
    c = credit_rows.c
    size = case((-c.low > c.high, -c.low), else_=c.high)
    found = select(c.trajectory, cast(func.count(), Float).label("n"), func.max(size).label("score"))
    return found.where(c.run.in_(_newest(project)), c.n_scored > 0).group_by(c.trajectory).subquery("by")
