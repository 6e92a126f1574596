"""One stored trajectory, looked at: its transcript, and who in it is blamed when its whole project is scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from trajcredit import critics
from trajcredit.batching import Batch, assemble
from trajcredit.errors import InputError, NotFoundError
from trajcredit.exporters import Credit
from trajcredit.graph import SpanGraph
from trajcredit.model import REWARD_SOURCES, Trajectory
from trajcredit.service.asking import critic_of
from trajcredit.service.attributing import Filled, scored
from trajcredit.service.blame import Blame, blame
from trajcredit.service.hearing import Hearing
from trajcredit.service.plugins import Choice
from trajcredit.service.running import Wanted
from trajcredit.store import Store, batches, documents, ids, run_inputs
from trajcredit.store.filters import Filters
from trajcredit.store.forecasts import with_forecasts

__all__ = ["Blamed", "blamed", "id_of", "transcript"]


@dataclass(frozen=True, slots=True)
class Blamed:
    """Who is blamed, and the credit it was read from."""

    blame: Blame
    credit: Credit


def id_of(store: Store, project: str, name: str) -> str:
    """Our id of the trajectory that people call so: by that id, `ext:` and the client's, or the client's alone."""
    with store.read() as conn:
        found = ids.meant(conn, project, [name]).get(name)
    if found is None:
        raise NotFoundError(f"no trajectory {name!r} in project {project!r} of {store.name}")
    if isinstance(found, InputError):
        raise found
    return found.id


def transcript(store: Store, project: str, trajectory: str) -> Trajectory:
    """The trajectory as it was read, with the reader's report, and with the rewards that came later."""
    with store.read() as conn:
        found = documents.document(conn, project, trajectory)
        return replace(found, rewards=list(batches.load(conn, project, [trajectory]).own[0]))


def blamed(
    store: Store,
    project: str,
    trajectory: str,
    choice: Choice,
    count: int,
    reward: str | None = None,
    group_by: str | None = None,
) -> Blamed:
    """The most blamed and most praised spans of one trajectory, every trajectory of the project being scored.

    What a critic says of them is what the newest run that asked it has kept: InputError where no run of the project as
    it is now has.
    """
    with store.read() as conn:
        loaded = batches.load(conn, project, Filters())
        reads = getattr(choice.attributor, "reads_texts", False)
        graphs = tuple(documents.graphs(conn, project, loaded.ids)) if reads else None
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, reward, group_by)
    batch = dataclasses.replace(batch, graphs=graphs)
    critic = _needed(batch, choice)
    filled: Filled = {}
    if critic is not None:
        wanted = Wanted(reward, group_by)
        filled[critic] = _kept(store, project, choice, critic, batch, loaded.ids, wanted)
    heard = Hearing(store, project, loaded.ids)
    credit = scored(batch, choice.label, choice.attributor, choice.critic, filled, choice.judge, heard)

    def graph_of(t: int) -> SpanGraph:
        with store.read() as conn:
            return documents.graph(conn, project, loaded.ids[t])

    name = loaded.heads[loaded.ids.index(trajectory)].id
    return Blamed(blame(credit, choice.attributor, count, name, graph_of), credit)


def _needed(batch: Batch, choice: Choice) -> str | None:
    """The critic that is named, or that the attributor cannot do without."""
    columns = [getattr(batch, name) for name in choice.attributor.needs if name in critics.COLUMNS]
    logged = all(np.isfinite(column[batch.action_mask]).any() for column in columns)
    return choice.critic if logged else critic_of(choice.attributor, choice.critic)


def _kept(
    store: Store, project: str, choice: Choice, critic: str, batch: Batch, ids: Sequence[str], wanted: Wanted
) -> Batch:
    """The batch with what the critic said of exactly these trajectories (our ids), rewards and groups."""
    name = None if wanted.reward in REWARD_SOURCES else wanted.reward
    read = (critic, batch.reward_source, name, wanted.group_by)
    with store.read() as conn:
        found = run_inputs.newest_forecasts(
            conn,
            project,
            ids,
            lambda run: (run.critic, run.reward_used, run.asked.reward_name, run.asked.group_by) == read,
        )
    if found is None:
        spec = choice.label if choice.critic is None else f"{choice.label}:critic={critic}"
        raise InputError(
            f"no run holds what the critic {critic!r} says of project {project!r} as it is now: make one first, with "
            f"the same reward and groups: `trajcredit run {spec}`"
        )
    return with_forecasts(batch, found)
