"""Ingesting with workers: the same answers in the same order, and the same rows, as without."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.engines.worlds import Posted
from tests.service.uploads import PROJECT, log, rollout
from trajcredit.cli.root import root
from trajcredit.engines import Engine, engine
from trajcredit.service import ingesting, ingesting_ahead
from trajcredit.service.ingesting import Item
from trajcredit.store import Store, open_store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of every kind: many rows, packed, the same bytes twice, cut off, broken, none, an id in two files."""
    place = tmp_path_factory.mktemp("logs")
    for n in range(4):
        rows = [rollout(f"run-{n}-{k}", float(k % 2), task=f"t{n}") for k in range(3)]
        (place / f"{n}.jsonl").write_bytes(log(*rows).data)
    (place / "again.jsonl").write_bytes((place / "2.jsonl").read_bytes())
    (place / "b.jsonl.gz").write_bytes(gzip.compress(log(rollout("packed")).data))
    (place / "cut.jsonl.gz").write_bytes(gzip.compress(os.urandom(9) + log(rollout("cut")).data)[:-12])
    (place / "half.jsonl").write_bytes(log(rollout("half"), "{broken", rollout("whole")).data)
    (place / "notes.txt").write_text("remember the milk\n")
    (place / "same-id.jsonl").write_bytes(log(rollout("run-1-1", text="other")).data)
    (place / "unnamed.jsonl").write_text(json.dumps({"messages": rollout("x")["messages"]}) + "\n")
    return place


def told(items: Iterator[Item]) -> list[tuple[object, ...]]:
    """All of each answer but the id that the database gave."""
    return [(i.status, i.external_id, i.reason, i.file, i.line, i.report) for i in items]


def both(store: Store, other: Path, paths: list[str], by: Engine) -> list[tuple[object, ...]]:
    """What is said with workers, having seen that it is the same without, in a database of its own."""
    with open_store(f"sqlite:///{other}") as alone:
        here = told(ingesting.ingest_paths(alone, PROJECT, paths))
    there = told(ingesting_ahead.ingest_paths(by, store, PROJECT, paths))
    assert there == here
    return there


def test_answers_are_the_same_in_the_same_order(store: Store, folder: Path, tmp_path: Path) -> None:
    paths = [str(folder), str(folder / "missing.jsonl")]
    first = both(store, tmp_path / "alone.db", paths, Posted())
    assert {one[0] for one in first} == {"created", "skipped", "rejected", "conflict"}
    again = both(store, tmp_path / "alone.db", paths, Posted())
    assert "created" not in {one[0] for one in again}


def test_bytes_known_under_another_name_keep_it(store: Store, folder: Path, tmp_path: Path) -> None:
    unnamed = folder / "unnamed.jsonl"
    both(store, tmp_path / "alone.db", [str(unnamed)], Posted())
    (tmp_path / "moved.jsonl").write_bytes(unnamed.read_bytes())
    assert [one[0] for one in both(store, tmp_path / "alone.db", [str(tmp_path / "moved.jsonl")], Posted())] == [
        "duplicate"
    ]


def test_a_pool_of_processes_reads_for_it(folder: Path, tmp_path: Path) -> None:
    with engine("pool", 2) as pool, open_store(f"sqlite:///{tmp_path / 'pool.db'}") as store:
        assert len(both(store, tmp_path / "alone.db", [str(folder)], pool)) > 15


def test_the_command_takes_workers(folder: Path, tmp_path: Path) -> None:
    said = []
    for workers in ("1", "2"):
        db = str(tmp_path / f"{workers}.db")
        done = CliRunner().invoke(root, ["ingest", str(folder), "--db", db, "--workers", workers])
        assert done.exit_code == 1, done.output
        said.append((done.stdout + done.stderr).replace(db, "DB"))
    assert said[0] == said[1]
    assert CliRunner().invoke(root, ["ingest", str(folder), "--workers", "0"]).exit_code == 2
