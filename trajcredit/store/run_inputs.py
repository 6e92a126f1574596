"""What a run saw: its trajectories with the rewards there were up to its watermark, and the credit it gave them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection, func, select

from trajcredit.arrays import F64
from trajcredit.model import Reward
from trajcredit.store.batches import Loaded, load, with_rewards
from trajcredit.store.bulk import among
from trajcredit.store.forecasts import said_to
from trajcredit.store.ids import find_all
from trajcredit.store.overrides import Edits
from trajcredit.store.runs import Run, fresh
from trajcredit.store.tables import credit_rows, rewards, runs, trajectories

__all__ = ["Member", "Numbers", "credits_among", "edits_seen", "is_whole", "members", "newest_forecasts", "seen"]


@dataclass(frozen=True, slots=True)
class Member:
    """A trajectory that a run scored. `id` is ours."""

    id: str
    group_name: str
    """As the run grouped it."""
    n_spans: int


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Credit and advantage of one trajectory: f64, one number a span, NaN where nothing was scored."""

    credit: F64
    advantage: F64


def members(conn: Connection, run: Run, group_name: str | None = None) -> list[Member]:
    """The trajectories a run scored and that are still there, of one group or all, in the order they were stored."""
    c, t = credit_rows.c, trajectories.c
    query = (
        select(t.id, c.group_name, t.n_spans)
        .join(trajectories, t.key == c.trajectory)
        .join(runs, runs.c.key == c.run)
        .where(runs.c.id == run.id)
        .order_by(t.key)
    )
    if group_name is not None:
        query = query.where(c.group_name == group_name)
    return [Member(*row) for row in conn.execute(query)]


def is_whole(conn: Connection, run: Run) -> bool:
    """Whether everything a finished run read is still there."""
    if run.stale is None:
        return True
    query = select(func.count()).join(runs, runs.c.key == credit_rows.c.run).where(runs.c.id == run.id)
    return (conn.scalar(query.select_from(credit_rows)) or 0) == run.total


def edits_seen(run: Run) -> Edits:
    """The overrides that were in force when a run read its inputs."""
    return Edits(run.override_watermark or 0)


def seen(conn: Connection, run: Run, ids: Sequence[str], edits: Edits | None = None) -> Loaded:
    """What scoring needs of these trajectories as it was when the run read its inputs, rewards as it asked for.

    `edits`: other overrides of edges than those the run saw. Of a run that asked a critic they are among those it
    scored: what the critic said of each is kept with its credit.
    """
    loaded = load(conn, run.project, ids, edits_seen(run) if edits is None else edits)
    loaded = replace(loaded, forecasts=said_to(conn, run, ids))
    keys = [one.key for one in find_all(conn, run.project, ids)]
    given = _rewards(conn, keys, run)
    own = [given.get(key, []) for key in keys]
    found = with_rewards(conn, run.project, loaded, own, lambda others: _rewards(conn, others, run))
    name = run.asked.reward_name
    if name is None:
        return found
    # not before: who shares what is settled by all there is
    return replace(found, rewards=_named(found.rewards, name), own=_named(found.own, name))


def newest_forecasts(conn: Connection, project: str, ids: Sequence[str], fits: Callable[[Run], bool]) -> F64 | None:
    """What a critic said to the newest run that fits, is not stale and scored exactly these trajectories (our ids).

    f64[3, N] as in `forecasts`; null where there is no such run.
    """
    for run in filter(fits, reversed(fresh(conn, project))):
        if [member.id for member in members(conn, run)] == list(ids):
            return said_to(conn, run, ids)
    return None


def credits_among(conn: Connection, run: Run, ids: Sequence[str]) -> dict[str, Numbers]:
    """What a run says of those of the trajectories that it scored, by our id."""
    c, t = credit_rows.c, trajectories.c
    query = (
        select(t.id, c.credit, c.advantage)
        .join(trajectories, t.key == c.trajectory)
        .join(runs, runs.c.key == c.run)
        .where(runs.c.id == run.id, among(conn, t.id, ids))
        .order_by(t.key)
    )
    return {row.id: Numbers(_array(row.credit), _array(row.advantage)) for row in conn.execute(query)}


def _rewards(conn: Connection, keys: Sequence[int], run: Run) -> dict[int, list[Reward]]:
    r = rewards.c
    query = (
        select(r.trajectory, r.value, r.source, r.span, r.name, r.at)
        .where(among(conn, r.trajectory, keys), r.id <= func.coalesce(run.watermark, 0))
        .order_by(r.trajectory, r.id)
    )
    found: dict[int, list[Reward]] = {}
    for key, *reward in conn.execute(query):
        found.setdefault(key, []).append(Reward(*reward))
    return found


def _named(given: Sequence[Sequence[Reward]], name: str) -> tuple[list[Reward], ...]:
    """Only the rewards of that name."""
    return tuple([reward for reward in some if reward.name == name] for some in given)


def _array(blob: bytes) -> F64:
    return np.frombuffer(blob, dtype="<f8").astype(np.float64)
