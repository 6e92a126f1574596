"""Databases of every released version, for the tests of later migrations.

    python -m tests.store.fixture        writes data/VERSION.sql and data/VERSION.jsonl of the present version

The SQL is what `sqlite3 .dump` says of a small store; the JSON lines are the trajectories in it. They are written once
a version and never again: what an old version wrote cannot be made by a newer one.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import tempfile
from pathlib import Path

from msgspec.structs import replace

from tests.build import run
from tests.store.scored import forecast, scored
from tests.store.shelf import PROJECT, put
from tests.store.test_rewards import give
from trajcredit.formats import read_bytes
from trajcredit.model import Note, Reward, SpawnedBy, Tool, Trajectory, encode
from trajcredit.service.demo import bundled
from trajcredit.store import Store, labels, open_store, overrides
from trajcredit.store.migrate import folder, versions
from trajcredit.store.overrides import Change

__all__ = ["DATA", "trajectories"]

DATA = Path(__file__).parent / "data"


def trajectories() -> list[Trajectory]:
    """A real story, and one trajectory with many fields in use."""
    story = bundled("wrong_flight.jsonl").read_bytes()
    read = [item for item in read_bytes(story, "wrong_flight.jsonl") if isinstance(item, Trajectory)]
    odd = replace(
        run("sucraucrra", 0.25, name="odd é \U0001f600", group=None, edges=[(1, 9)], truncated=True, bootstrap=-0.0),
        dataset="d",
        task="t",
        role="critic",
        step=3,
        policy_version="v1",
        model="gpt-5-mini",
        answer="42",
        parent=SpawnedBy("boss", 2),
        tools=[Tool("look", "looks", {"type": "object"}, writes=True)],
        report=[Note("guess", "half of it", span=1)],
    )
    return [*(replace(item, project=PROJECT) for item in read[:3]), odd]


def said(store: Store) -> None:
    """A label, and an edge that was removed and came back, of the story."""
    there = Change(parent=2, child=4, action="add", reason="it read the list", person="ann")
    withdrawn = dataclasses.replace(there, action="withdraw", reason="it did not")
    with store.write() as conn:
        labels.append(
            conn, PROJECT, [labels.Given(trajectory="ext:flight-1", span=2, verdict="culprit", labeller="ann")]
        )
        overrides.append(conn, PROJECT, "ext:flight-2", [there])
        overrides.append(conn, PROJECT, "ext:flight-2", [withdrawn])


def main() -> None:
    """Write the two files."""
    name = versions(folder())[-1]
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "store.db"
        with open_store(str(file)) as store:
            put(store, *trajectories(), raw=b"the raw log\n")
            scored(store)
            forecast(store)
            give(store, ("ext:odd é \U0001f600", Reward(1.0, "human", name="late", at="2026-01-01T00:00:00Z")))
            said(store)
        dump = "\n".join(sqlite3.connect(file).iterdump())
    (DATA / f"{name}.sql").write_text(dump + "\n", encoding="utf-8")
    (DATA / f"{name}.jsonl").write_bytes(b"".join(encode(item) + b"\n" for item in trajectories()))


if __name__ == "__main__":
    main()
