"""One stored trajectory, looked at: its transcript, and who in it is blamed when its whole project is scored."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from trajcredit.batching import assemble
from trajcredit.errors import NotFoundError
from trajcredit.exporters import Credit
from trajcredit.graph import SpanGraph
from trajcredit.model import Trajectory
from trajcredit.service.attributing import scored
from trajcredit.service.blame import Blame, blame
from trajcredit.service.plugins import Choice
from trajcredit.store import Store, batches, documents, ids
from trajcredit.store.filters import Filters

__all__ = ["Blamed", "blamed", "id_of", "transcript"]


@dataclass(frozen=True, slots=True)
class Blamed:
    """Who is blamed, and the credit it was read from."""

    blame: Blame
    credit: Credit


def id_of(store: Store, project: str, name: str) -> str:
    """Our id of the trajectory that people call so: by that id, `ext:` and the client's, or the client's alone."""
    with store.read() as conn:
        found = ids.known(conn, project, [name, ids.EXTERNAL + name])
    if not found:
        raise NotFoundError(f"no trajectory {name!r} in project {project!r} of {store.name}")
    return (found.get(name) or found[ids.EXTERNAL + name]).id


def transcript(store: Store, project: str, trajectory: str) -> Trajectory:
    """The trajectory as it was read, with the reader's report, and with the rewards that came later."""
    with store.read() as conn:
        found = documents.document(conn, project, trajectory)
        return replace(found, rewards=list(batches.load(conn, project, [trajectory]).rewards[0]))


def blamed(
    store: Store,
    project: str,
    trajectory: str,
    choice: Choice,
    count: int,
    reward: str | None = None,
    group_by: str | None = None,
) -> Blamed:
    """The most blamed and most praised spans of one trajectory, every trajectory of the project being scored."""
    with store.read() as conn:
        loaded = batches.load(conn, project, Filters())
    credit = scored(
        assemble(loaded.heads, loaded.columns, loaded.rewards, reward, group_by), choice.label, choice.attributor
    )

    def graph_of(t: int) -> SpanGraph:
        with store.read() as conn:
            return documents.graph(conn, project, loaded.ids[t])

    name = loaded.heads[loaded.ids.index(trajectory)].id
    return Blamed(blame(credit, choice.attributor, count, name, graph_of), credit)
