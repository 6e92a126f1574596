"""Shards of whole groups: nothing is split, nothing twice, and every number is that of all together, to the bit."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engines.some import EVERY, pool, ray, some
from trajcredit import registry
from trajcredit.engines import Engine, engine
from trajcredit.errors import InputError
from trajcredit.exporters import Jsonl
from trajcredit.graph import build_graphs
from trajcredit.service import sharded, sharding, stateless
from trajcredit.service.building import graphs_by
from trajcredit.service.plugins import choose
from trajcredit.service.sharding import Asked

__all__ = ["pool", "ray", "some"]

APART = sorted(
    name
    for name, made in registry.attributors.items().items()
    if made.__module__.startswith("trajcredit.")
    and made().scope == "group"
    and getattr(made(), "default_critic", None) is None
    and not {"values", "info", "bootstrap"} & set(made().needs)
)
"""Ours that score groups apart, and need no column that these logs lack."""


def _run(task: int, trial: int, **more: Any) -> dict[str, Any]:
    """A rollout that looks something up, tries it, and in part fails; the longer the higher its trial."""
    name = f"AB-{task}{trial % 2}47"
    spans: list[dict[str, Any]] = [{"kind": "user", "turn": -1, "text": f"Please book {name} of task {task}."}]
    for n in range(1 + trial % 3):
        failed = (task + trial + n) % 3 == 0
        answer = "Error: no such flight" if failed else f'{{"seat": "{n}{task}-C", "of": "{name}"}}'
        call = {"kind": "tool_call", "turn": n, "name": "book", "arguments": {"id": name}, "tokens": {"n": 7 + n}}
        spans += [call, {"kind": "tool_result", "turn": n, "text": answer, "result_of": len(spans)}]
    said = f"{name} is booked, seat {task}-C."
    spans.append({"kind": "assistant", "turn": 1 + trial % 3, "text": said, "tokens": {"n": 9}})
    row = {"schema": "trajcredit.trajectory/1", "id": f"{task}:{trial}", "group": f"task {task}", "spans": spans}
    return row | {"rewards": [{"value": float((task * 3 + trial) % 4 == 0)}], "answer": f"{task}-C"} | more


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven tasks of one to five trials, spread over three files; one run alone without a reward."""
    folder = tmp_path_factory.mktemp("logs")
    rows = [_run(task, trial) for task in range(7) for trial in range(1 + task % 5)]
    rows.append(_run(8, 0, group=None, rewards=[]))
    for k, name in enumerate(("a.jsonl", "b.jsonl", "c.jsonl")):
        text = "".join(json.dumps(row) + "\n" for row in rows[k::3])
        (folder / name).write_text(text + ("{broken\n" if name == "b.jsonl" else ""))
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for part in sorted(folder.glob("part-*")) for line in part.read_text().splitlines()]


def place(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["attributor"], row["trajectory_id"], row["span_index"]


def plan_of(logs: Path, spans: int, asked: Asked | None = None) -> sharding.Plan:
    found, asked = sharding.logs([str(logs)]), asked or Asked()
    with engine("in-process") as here:
        return sharding.plan(found, asked, sharding.index(here, found, asked), spans)


@pytest.mark.parametrize("some", EVERY, indirect=True)
def test_rows_of_shards_are_those_of_all_together_whatever_the_engine(some: Engine, logs: Path, tmp_path: Path) -> None:
    """Every attributor of ours that scores groups apart, to the bit: JSON writes floats in full."""
    out = tmp_path / "out"
    done = sharded.score_shards(some, [str(logs)], out, APART, "jsonl", Asked(), spans=30)
    reading = stateless.read(str(logs))
    whole = tmp_path / "whole.jsonl"
    stateless.write(stateless.score(stateless.batch(reading), choose(APART)), Jsonl(), whole)
    expected = sorted(map(json.loads, whole.read_text().splitlines()), key=place)
    assert len(APART) > 10
    assert len(done.parts) > 3
    assert sorted(rows_of(out), key=place) == expected
    assert (done.rows, done.trajectories, done.groups) == (len(expected), len(reading), 8)
    assert [str(error) for error in done.errors] == [str(error) for error in reading.errors]
    assert len(done.errors) == 1
    told = json.loads((out / sharded.DONE).read_text())
    assert told["rows"] == sum(part["rows"] for part in told["parts"]) == len(expected)
    assert told["reward_source"] == "verifier"


def test_a_shard_that_lacks_what_an_attributor_needs_has_no_credit_and_says_so(tmp_path: Path) -> None:
    """`clues` looks for the known answer, which one run lacks; where none has it nothing is done."""
    lacking = tmp_path / "lacking.jsonl"
    rows = [_run(0, 0), _run(0, 1), _run(9, 0, answer=None)]
    lacking.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with engine("in-process") as here:
        done = sharded.score_shards(here, [str(lacking)], tmp_path / "out", ["clues"], "jsonl", Asked(), spans=1)
        [part] = [part for part in done.parts if part.refused]
        own = [json.loads(line) for line in (tmp_path / "out" / part.file).read_text().splitlines()]
        assert {row["trajectory_id"] for row in own} == {"9:0"}
        assert {row["credit"] for row in own} == {None}
        [note] = [one for one in done.notes if one.code == "refused"]
        assert note.count == 1
        assert "nothing in a shard could be scored: " in note.message
        nobody = tmp_path / "nobody.jsonl"
        nobody.write_text("".join(json.dumps(_run(task, 0, answer=None)) + "\n" for task in range(3)))
        with pytest.raises(InputError, match="no trajectory has one"):
            sharded.score_shards(here, [str(nobody)], tmp_path / "no", ["clues"], "jsonl", Asked(), spans=1)
    assert not (tmp_path / "no" / sharded.DONE).exists()


def test_engines_write_the_same_bytes(pool: Engine, logs: Path, tmp_path: Path) -> None:
    with engine("in-process") as here:
        for name, some in (("here", here), ("pool", pool)):
            sharded.score_shards(some, [str(logs)], tmp_path / name, ["grpo", "dag"], "parquet", Asked(), spans=20)
    parts = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert parts == sorted(path.name for path in (tmp_path / "pool").iterdir())
    for name in parts:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "pool" / name).read_bytes()


def test_no_group_is_split_and_no_trajectory_in_two_shards(logs: Path) -> None:
    for spans in (1, 10, 40, 10**6):
        found = plan_of(logs, spans)
        groups = [{name.split(":")[0] for name in shard.ids} for shard in found.shards]
        assert sum(len(shard.ids) for shard in found.shards) == found.n_trajectories
        assert sum(map(len, groups)) == len(set().union(*groups)) == 8
        assert sum(shard.n_spans for shard in found.shards) == found.n_spans
    assert len(plan_of(logs, 1).shards) == 8
    assert len(plan_of(logs, 10**6).shards) == 1


def test_a_sub_agent_stays_with_the_trajectory_that_started_it(tmp_path: Path) -> None:
    """It has a task of its own, and no reward: it shares the outcome of its parent."""

    rows = [_run(0, 0, id="p", group="a"), _run(0, 1, id="q", group="a"), _run(1, 0, id="other", group="b")]
    rows.append(_run(2, 0, id="child", group="c", rewards=[], parent={"trajectory": "p", "span": 1}))
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = plan_of(tmp_path / "log.jsonl", 1)
    assert sorted(sorted(shard.ids) for shard in found.shards) == [["child", "p", "q"], ["other"]]
    with engine("in-process") as here:
        sharded.score_shards(here, [str(tmp_path / "log.jsonl")], tmp_path / "out", ["rtg"], "jsonl", Asked(), spans=1)
    assert {row["trajectory_id"]: row["outcome"] for row in rows_of(tmp_path / "out")}["child"] == 1.0


def test_the_reward_that_counts_is_that_of_all(tmp_path: Path) -> None:
    """Of one group people judged every run: among all logs a verifier did, so that is what counts for all."""
    rows = [_run(0, 0), _run(1, 0), _run(1, 1, rewards=[{"value": 1.0, "source": "human"}])]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = plan_of(tmp_path / "log.jsonl", 1)
    assert (found.source, len(found.shards)) == ("verifier", 2)
    named = plan_of(tmp_path / "log.jsonl", 1, Asked(reward="human"))
    assert named.source == "human"
    with pytest.raises(InputError, match="no reward source 'speed'"):
        plan_of(tmp_path / "log.jsonl", 1, Asked(reward="speed"))


def test_what_cannot_be_cut_up_is_refused_by_name(logs: Path, tmp_path: Path) -> None:
    with engine("in-process") as here:

        def score(paths: Sequence[Path], *attributors: str, to: str = "jsonl", asked: Asked | None = None) -> None:
            out = tmp_path / "out"
            sharded.score_shards(here, list(map(str, paths)), out, attributors, to, asked or Asked())

        for spec, why in (
            ("reinforce_pp", "it compares across groups"),
            ("doubly_robust", "it compares across groups"),
            ("gae:critic=compatible", "its critic 'compatible' learns from all"),
        ):
            with pytest.raises(InputError, match=f"cannot be scored in shards: {why}"):
                score([logs], spec)
        with pytest.raises(InputError, match="does not write shards; those that do: jsonl, parquet"):
            score([logs], "grpo", to="verl")
        with pytest.raises(InputError, match="standard input cannot be read in shards"):
            score([Path("-")], "grpo")
        with pytest.raises(InputError, match="cannot group by step: no trajectory has one"):
            score([logs], "grpo", asked=Asked(group_by="step"))
        twin = tmp_path / "twin"
        twin.mkdir()
        for name in ("x.jsonl", "y.jsonl"):
            (twin / name).write_text(json.dumps(_run(0, 0, dataset=name)) + "\n")
        with pytest.raises(InputError, match=r"x\.jsonl and .*y\.jsonl both hold a trajectory '0:0'"):
            score([twin], "grpo")
        assert list((tmp_path / "out").iterdir()) == []
        (tmp_path / "out" / "precious").touch()
        with pytest.raises(InputError, match="holds something already"):
            score([logs], "grpo")


def test_a_log_that_changes_while_it_is_scored_is_told(logs: Path) -> None:
    found = plan_of(logs, 10**6)
    gone = replace(found.shards[0], ids=found.shards[0].ids | {"9:9"})
    with pytest.raises(InputError, match="trajectory '9:9' is not there any more"):
        list(sharding.trajectories_of(gone, Asked()))


def test_a_worker_killed_at_a_shard_leaves_no_row_twice(pool: Engine, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def told(done: int, total: int) -> None:
        if done == 1:  # others are at work
            os.kill(next(iter(pool._pool._processes)), signal.SIGKILL)  # type: ignore[attr-defined]

    done = sharded.score_shards(pool, [str(logs)], out, ["grpo"], "jsonl", Asked(), 10, told)
    rows = rows_of(out)
    assert len(rows) == len({place(row) for row in rows}) == done.rows
    assert not list(out.glob(".*")), "nothing half written is left"


@pytest.mark.parametrize("some", EVERY, indirect=True)
def test_graphs_that_workers_build_are_those_built_here(some: Engine, logs: Path) -> None:
    trajectories = stateless.read(str(logs)).trajectories
    settings = {"book": False}
    for ours, theirs in zip(build_graphs(trajectories, settings), graphs_by(some, trajectories, settings), strict=True):
        assert theirs.trajectory is not None
        assert theirs.trajectory == ours.trajectory
        assert (theirs.details, theirs.write_basis, theirs.notes) == (ours.details, ours.write_basis, ours.notes)
        for name in ("parent_offsets", "parents", "weight", "kind", "rule", "match_offsets", "matches", "is_error"):
            assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype
