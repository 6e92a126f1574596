"""What scoring needs of many trajectories, read in a few queries: heads, columns, rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec
from sqlalchemy import Connection, select

from trajcredit.arrays import F64
from trajcredit.batching import Columns, columns_with_overrides
from trajcredit.model import Note, Reward
from trajcredit.store import overrides
from trajcredit.store.bulk import among
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.ids import find_all
from trajcredit.store.overrides import ALL, Edits
from trajcredit.store.packed import columns_of_keys, columns_where
from trajcredit.store.parents import Fetch, with_shared_outcomes
from trajcredit.store.rewards import rewards_of_keys, rewards_where, watermark
from trajcredit.store.tables import trajectories

__all__ = ["Loaded", "StoredHead", "load", "with_rewards"]


class StoredHead(msgspec.Struct, frozen=True, gc=False):
    """A `batching.Head`. Its id is the client's, so that rows equal those of the log itself."""

    id: str
    project: str
    dataset: str | None
    task: str | None
    role: str | None
    group: str | None
    trial: str | None
    step: int | None
    policy_version: str | None
    terminated: bool | None
    truncated: bool | None
    bootstrap: float | None
    answer: str | None
    parent: str | None
    """The client's id of the trajectory that started it."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """T trajectories in one order, as `batching.assemble` takes them; `ids` are ours."""

    ids: tuple[str, ...]
    heads: tuple[StoredHead, ...]
    columns: Columns
    rewards: tuple[list[Reward], ...]
    """What each is scored by: its own, and what a sub-agent shares with the one that started it."""
    watermark: int
    """The number of the newest reward of the project that these could include."""
    own: tuple[list[Reward], ...] = ()
    notes: tuple[Note, ...] = ()
    """Who shares whose outcome, and whose edges people edited."""
    forecasts: F64 | None = None
    """What the critic of a run said, f64[3, N] as in `forecasts`; null but where a run that asked one is read again."""
    override_watermark: int = 0
    """The number of the newest override of the project that these could include."""
    overridden: str = ""
    """A hash of the overrides in force; "" where there are none."""


def with_rewards(conn: Connection, project: str, loaded: Loaded, own: Sequence[list[Reward]], fetch: Fetch) -> Loaded:
    """The same trajectories with these rewards of their own; `fetch` gives those of others."""
    ids, parents = [head.id for head in loaded.heads], [head.parent for head in loaded.heads]
    rewards, notes = with_shared_outcomes(conn, project, ids, parents, own, fetch)
    return replace(loaded, rewards=rewards, own=tuple(own), notes=tuple(notes))


def load(conn: Connection, project: str, which: Filters | Sequence[str], edits: Edits = ALL) -> Loaded:
    """The trajectories of a filter, in the order they were stored; or those of some ids, in their order.

    `edits`: the overrides that are in force in their columns.
    """
    t = trajectories.c
    if isinstance(which, Filters):
        matching = conditions(conn, project, which)
        rows = conn.execute(_HEADS.where(matching).order_by(t.key)).all()
        columns = columns_where(conn, matching, [row[2] for row in rows], [row[3] for row in rows])
        rewards = rewards_where(conn, matching)
    else:
        wanted = [one.key for one in find_all(conn, project, which)]
        found = {row[0]: row for row in conn.execute(_HEADS.where(among(conn, t.key, wanted)).order_by(t.key))}
        rows = [found[key] for key in wanted]
        columns = columns_of_keys(conn, wanted)
        rewards = rewards_of_keys(conn, wanted)
    edited = overrides.in_force(conn, project, [(row[0], row[1]) for row in rows], edits)
    ids = tuple(row[1] for row in rows)
    loaded = Loaded(
        ids=ids,
        heads=tuple(StoredHead(*tuple(row)[4:]) for row in rows),
        columns=columns_with_overrides(columns, edited),
        rewards=(),
        watermark=watermark(conn, project),
        override_watermark=overrides.watermark(conn, project),
        overridden=overrides.digest(ids, edited),
    )
    own = [rewards.get(row[0], []) for row in rows]
    complete = with_rewards(conn, project, loaded, own, partial(rewards_of_keys, conn))
    said = (_edited(loaded.heads[t].id, len(edited[t])) for t in edited)
    return replace(complete, notes=(*complete.notes, *said))


def _edited(name: str, count: int) -> Note:
    edges = "1 edge is" if count == 1 else f"{count:,} edges are"
    return Note("override", f"{edges} as people say, not as derived", trajectory=name)


_HEADS = select(
    trajectories.c.key,
    trajectories.c.id,
    trajectories.c.n_spans,
    trajectories.c.n_edges,
    trajectories.c.external_id,
    trajectories.c.project,
    trajectories.c.dataset,
    trajectories.c.task,
    trajectories.c.role,
    trajectories.c.own_group,
    trajectories.c.trial,
    trajectories.c.step,
    trajectories.c.policy_version,
    trajectories.c.terminated,
    trajectories.c.truncated,
    trajectories.c.bootstrap,
    trajectories.c.answer,
    trajectories.c.parent_trajectory,
)
