"""Runs by engines: the same rows from both databases, no worker that knows the database, a killed worker made good."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import pytest
from click.testing import CliRunner

from tests.engines.worlds import Posted
from tests.service.uploads import PROJECT, rollout, send
from trajcredit.cli.root import root
from trajcredit.engines import Engine, engine
from trajcredit.engines.base import Name
from trajcredit.engines.scoring import Work
from trajcredit.service import plugins
from trajcredit.service.asking import of_spec
from trajcredit.service.exporting import export
from trajcredit.service.runner import see_through
from trajcredit.service.running import RunView, Wanted, ask_for
from trajcredit.store import Store
from trajcredit.store.sole import sole_runner

Item = TypeVar("Item")
Result = TypeVar("Result")


def uneven(store: Store) -> None:
    """Three groups of two, three and four, dealt out in turns."""
    for n in range(4):
        for group, size in (("a", 2), ("b", 3), ("c", 4)):
            if n < size:
                send(store, rollout(f"{group}{n}", float(n % 2), task=f"t-{group}", group=group))


def run(store: Store, spec: str, by: Engine | None = None) -> tuple[RunView, bytes]:
    asked = ask_for(store, PROJECT, of_spec(spec), Wanted())
    done = see_through(store, PROJECT, asked.id, lambda done, total: None, by)
    out = io.BytesIO()
    if done.state == "done":
        export(store, PROJECT, asked.id, plugins.exporter_of("jsonl"), out)
    return done, out.getvalue().replace(asked.id.encode(), b"RUN")


class Asking(Posted):
    """Looks at what is sent out: it must be nothing but columns."""

    name: ClassVar[Name] = "pool"

    def __init__(self) -> None:
        self.sent = 0

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Only work, never a store or where it is."""
        for item in items:
            assert isinstance(item, Work)
            self.sent += 1
            yield from super().map(do, [item])


@pytest.mark.parametrize("spec", ["grpo", "dag", "reinforce_pp"])
def test_a_run_by_an_engine_keeps_the_same_rows(store: Store, spec: str) -> None:
    uneven(store)
    by = Asking()
    here, there = run(store, spec), run(store, spec, by)
    assert here[0].state == there[0].state == "done"
    assert here[1] == there[1]
    assert here[1]
    whole = [note for note in there[0].notes if note.code == "scored-whole"]
    assert (by.sent == 0) == bool(whole) == (spec == "reinforce_pp")


@dataclass
class Killed:
    """A pool of which a worker is killed, once, before it has scored its first shard."""

    within: Engine
    mark: Path
    name: ClassVar[Name] = "pool"
    workers: int = 2

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Each item goes by way of `_killed_once`."""
        return self.within.map(_killed_once, ((do, item, str(self.mark)) for item in items))


def _killed_once(task: tuple[Callable[[Item], Result], Item, str]) -> Result:
    do, item, mark = task
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return do(item)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_killed_worker_leaves_no_row_twice_and_none_out(store: Store, tmp_path: Path) -> None:
    uneven(store)
    mark = tmp_path / "killed"
    with engine("pool", 2) as pool:
        done, rows = run(store, "dag", Killed(pool, mark))
    assert mark.exists()
    assert done.state == "done"
    assert rows == run(store, "dag")[1]


def test_the_command_takes_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJCREDIT_DB", raising=False)
    log = str(plugins.__file__ and Path(plugins.__file__).parents[1] / "data" / "scores_0101.jsonl")
    assert CliRunner().invoke(root, ["ingest", log]).exit_code == 0
    done = CliRunner().invoke(root, ["run", "reinforce_pp", "--engine", "pool", "--workers", "2"])
    assert done.exit_code == 0, done.output
    assert "not on pool: its statistics run across groups" in done.stderr
    assert CliRunner().invoke(root, ["run", "grpo", "--workers", "2"]).exit_code == 2


def test_a_run_that_another_process_works_on_is_said_to_be_away(store: Store) -> None:
    uneven(store)
    asked = ask_for(store, PROJECT, of_spec("grpo"), Wanted())
    held = sole_runner(store)
    told: list[str] = []
    assert held.__enter__()

    def away() -> None:
        told.append("away")
        held.__exit__(None, None, None)

    assert see_through(store, PROJECT, asked.id, lambda done, total: None, None, away).state == "done"
    assert told == ["away"]
