"""Rewards in a file beside the logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trajcredit.cli.root import root
from trajcredit.errors import InputError, ParseError
from trajcredit.model import Note, Origin, Reward, Span, SpawnedBy, Trajectory
from trajcredit.service.side_rewards import read_side_rewards, rewarded


def written(folder: Path, text: Any, name: str = "rewards") -> Path:
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def run(name: str, file: str | None = None, **fields: Any) -> Trajectory:
    return Trajectory(id=name, spans=[Span("assistant", 0)], source=Origin("x", file) if file else None, **fields)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param({"a": 1, "b": 0.5, "c": None}, id="an object; null is none"),
        pytest.param([{"trajectory_id": "a", "reward": True}, {"file": "b", "value": 0.5}], id="a list"),
        pytest.param('{"id": "a", "score": 1}\n\n{"trajectory": "b", "reward": 0.5}\n', id="lines"),
        pytest.param("trajectory_id,reward\na,1\nb,0.5\nc,\n", id="CSV; an empty cell is none"),
        pytest.param("\ufefffile, score\na, PASS\nb, 0.5\n", id="CSV as a spreadsheet writes it"),
    ],
)
def test_the_forms_of_a_file(tmp_path: Path, text: Any) -> None:
    found = read_side_rewards(written(tmp_path, text))
    assert [(one.name, one.reward) for one in found] == [("a", Reward(1.0)), ("b", Reward(0.5))]


def test_the_report_of_an_evaluation(tmp_path: Path) -> None:
    report = {"total": 3, "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}
    found = read_side_rewards(written(tmp_path, report))
    assert [(one.name, one.reward.value) for one in found] == [("a", 1.0), ("b", 0.0)]


def test_source_name_and_time_of_a_row(tmp_path: Path) -> None:
    row = {"id": 7, "reward": -1, "source": "human", "name": "liked", "at": "2026-03-01"}
    [one] = read_side_rewards(written(tmp_path, row))
    assert (one.name, one.reward) == ("7", Reward(-1.0, "human", name="liked", at="2026-03-01"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        pytest.param({"a": "high"}, None, "the reward of 'a' is no finite number", id="no number"),
        pytest.param("id,reward\na,1\nb,nan\n", 3, "the reward of 'b' is no finite number", id="not a number"),
        pytest.param("id,reward\na,1e999\n", 2, "the reward of 'a' is no finite number", id="endless"),
        pytest.param('{"id": "a", "reward": 1}\n{"id": "b"}\n', 2, "expected one of trajectory_id", id="no reward"),
        pytest.param('{"id": "a", "reward": 1}\n{"id"\n', 2, "not JSON", id="a torn line"),
        pytest.param([5], 1, "expected an object, not int", id="no object"),
        pytest.param([{"id": "a", "reward": 1, "source": "mum"}], 1, "no reward source 'mum'", id="no such source"),
        pytest.param([{"id": "a", "reward": 1, "at": 5}], 1, "`name` and `at` must be text", id="a time that is none"),
        pytest.param("who,what\na,1\n", 1, "neither JSON nor CSV", id="other columns"),
        pytest.param("", 1, "neither JSON nor CSV", id="nothing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: Any, line: int | None, reason: str) -> None:
    with pytest.raises(ParseError) as refused:
        read_side_rewards(written(tmp_path, text))
    assert refused.value.line == line
    assert refused.value.reason.startswith(reason)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "rewards").write_bytes(b"id,reward\n\xff,1\n")
    with pytest.raises(ParseError, match="not UTF-8 at byte 10"):
        read_side_rewards(tmp_path / "rewards")


def given(folder: Path, rewards: Any, *runs: Trajectory) -> tuple[dict[str, list[Reward]], list[Note]]:
    trajectories, notes = rewarded(runs, read_side_rewards(written(folder, rewards)), "rewards")
    return {t.id: t.rewards for t in trajectories}, notes


@pytest.mark.parametrize("name", ["a", "runs/x.traj.json.gz", "x.traj.json.gz", "x.traj.json", "x.traj", "x"])
def test_a_name_is_an_id_or_a_file_with_or_without_folder_and_endings(tmp_path: Path, name: str) -> None:
    agent = run("a/helper", "runs/x.traj.json.gz", parent=SpawnedBy("a"))
    rewards, notes = given(tmp_path, {name: 1}, run("a", "runs/x.traj.json.gz"), agent, run("b", "runs/y.traj"))
    assert rewards == {"a": [Reward(1.0)], "a/helper": [], "b": []}
    assert notes == []


def test_a_name_of_nobody_or_of_several_is_said(tmp_path: Path) -> None:
    rewards, notes = given(tmp_path, {"x": 1, "nobody": 0, "c": 1}, run("a", "x.jsonl"), run("b", "x.jsonl"), run("c"))
    assert rewards == {"a": [], "b": [], "c": [Reward(1.0)]}
    assert [note.message for note in notes] == [
        "rewards names 'x': 2 trajectories are in a file of that name",
        "rewards names 'nobody': no trajectory or file has it",
    ]


def test_a_file_that_fits_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of its 1 names is a trajectory or a file that was read, e.g. 'a'"):
        given(tmp_path, {"nobody": 1}, run("a"))


def test_a_reward_of_the_file_counts_instead_of_the_logs_own(tmp_path: Path) -> None:
    own = [Reward(0.0, at="2026-03-02"), Reward(0.5, "human", at="2026-03-09")]
    rewards, _ = given(tmp_path, {"a": 1}, run("a", rewards=own))
    assert rewards["a"] == [*own, Reward(1.0, at="2026-03-02")]


def test_a_reward_that_contradicts_an_earlier_one_is_told(tmp_path: Path) -> None:
    rows = [{"id": "a", "reward": 0}, {"id": "a", "reward": 0}, {"id": "a", "reward": 1, "source": "human"}]
    assert not given(tmp_path, rows, run("a"))[1]
    rewards, notes = given(tmp_path, [*rows, {"id": "a", "reward": 1}], run("a"))
    assert rewards["a"][-1] == Reward(1.0)
    assert [(note.code, note.message.partition(" ")[2]) for note in notes] == [
        ("contradictory-reward", "gives 'a' 1 after 0: the later one counts")
    ]


def test_score_takes_the_file(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    rows = "\n".join(json.dumps({"id": name, "group": "g", "messages": chat}) for name in ("a", "b"))
    log, rewards = written(tmp_path, rows, "log.jsonl"), written(tmp_path, {"a": 1, "b": 0, "c": 0}, "rewards.json")
    done = CliRunner().invoke(root, ["score", str(log), "--rewards", str(rewards), "-a", "grpo"])
    assert done.exit_code == 0, done.output
    credit = [json.loads(line)["credit"] for line in done.stdout.splitlines()]
    assert credit == [None, 0.5, None, -0.5]
    assert "names 'c': no trajectory or file has it (unmatched-reward)" in done.stderr


def test_the_file_of_rewards_is_never_written_over(tmp_path: Path) -> None:
    rewards = written(tmp_path, {"a": 1}, "rewards.jsonl")
    log = written(tmp_path, '{"id": "a", "messages": []}', "log.jsonl")
    done = CliRunner().invoke(root, ["score", str(log), "--rewards", str(rewards), "-o", str(rewards)])
    assert done.exit_code == 2
    assert json.loads(rewards.read_text()) == {"a": 1}
