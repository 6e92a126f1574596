"""Rewards in a file beside the logs."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trajcredit.cli.root import root
from trajcredit.errors import InputError, ParseError
from trajcredit.model import Note, Origin, Reward, Span, SpawnedBy, Trajectory
from trajcredit.service.side_rewards import SideReward, read_side_rewards, rewarded
from trajcredit.service.stateless import read, with_rewards


def written(folder: Path, text: Any, name: str = "rewards") -> Path:
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def run(name: str, file: str | None = None, **fields: Any) -> Trajectory:
    return Trajectory(id=name, spans=[Span("assistant", 0)], source=Origin("x", file) if file else None, **fields)


def good(found: list[SideReward | ParseError]) -> list[SideReward]:
    """The rewards, where no row was refused."""
    assert not [row for row in found if isinstance(row, ParseError)]
    return [row for row in found if isinstance(row, SideReward)]


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
    found = good(read_side_rewards(written(tmp_path, text)))
    assert [(one.name, one.reward) for one in found] == [("a", Reward(1.0)), ("b", Reward(0.5))]


def test_the_report_of_an_evaluation(tmp_path: Path) -> None:
    report = {"total": 3, "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}
    found = good(read_side_rewards(written(tmp_path, report)))
    assert [(one.name, one.reward.value) for one in found] == [("a", 1.0), ("b", 0.0)]


def test_source_name_and_time_of_a_row(tmp_path: Path) -> None:
    row = {"id": 7, "reward": -1, "source": "human", "name": "liked", "at": "2026-03-01"}
    [one] = good(read_side_rewards(written(tmp_path, row)))
    assert (one.name, one.reward) == ("7", Reward(-1.0, "human", name="liked", at="2026-03-01"))


@pytest.mark.parametrize(
    ("text", "line", "reason", "others"),
    [
        pytest.param(
            '[{"trajectory": "a", "value": 1, "span": 2}, {"trajectory": "b", "value": 1}]',
            1,
            "record 1: `span`: rewards of single spans are not taken",
            1,
            id="of a span",
        ),
        pytest.param({"a": "high", "b": 1}, None, "the reward of 'a' is no finite number", 1, id="no number"),
        pytest.param('{"a": NaN, "b": 1}', None, "the reward of 'a' is no finite number", 1, id="NaN in an object"),
        pytest.param('{"a": 1,\n "b": -Infinity}', None, "the reward of 'b' is no finite", 1, id="infinity in one"),
        pytest.param("id,reward\na,1\nb,nan\nc,1\n", 3, "the reward of 'b' is no finite number", 2, id="NaN in CSV"),
        pytest.param("id,reward\na,1e999\nb,0\n", 2, "the reward of 'a' is no finite number", 1, id="endless"),
        pytest.param(
            '{"id": "a", "reward": NaN}\n{"id": "b", "reward": 1}', 1, "the reward of 'a' is no", 1, id="NaN in a line"
        ),
        pytest.param('{"id": "a", "reward": 1}\n{"id": "b"}\n', 2, "expected one of trajectory_id", 1, id="no reward"),
        pytest.param('{"id": "a", "reward": 1}\n{"id"\n', 2, "not JSON", 1, id="a torn line"),
        pytest.param([5, {"id": "a", "reward": 1}], 1, "record 1: expected an object, not int", 1, id="no object"),
        pytest.param([{"id": ["a"], "reward": 1}], 1, "record 1: expected text as", 0, id="a name that is none"),
        pytest.param(
            [{"id": "a", "reward": 1, "source": "mum"}], 1, "record 1: no reward source 'mum'", 0, id="no such source"
        ),
        pytest.param([{"id": "a", "reward": 1, "at": 5}], 1, "record 1: `name` and `at` must be text", 0, id="no time"),
        pytest.param('{"id": "a", "reward": 1, "at": "noon"}', 1, "`at`: a reward is of 'noon'", 0, id="noon"),
        pytest.param({"resolved_ids": ["a"], "unresolved_ids": 3}, None, "", 1, id="a verdict that is no list"),
    ],
)
def test_a_bad_row_is_named_and_the_others_count(
    tmp_path: Path, text: Any, line: int | None, reason: str, others: int
) -> None:
    found = read_side_rewards(written(tmp_path, text))
    errors = [row for row in found if isinstance(row, ParseError)]
    assert [(row.line, row.reason[: len(reason)], row.file) for row in errors] == [
        (line, reason, str(tmp_path / "rewards"))
    ] * bool(reason)
    assert len(found) - len(errors) == others


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        pytest.param("who,what\na,1\n", 1, "neither JSON nor CSV", id="other columns"),
        pytest.param("", 1, "neither JSON nor CSV", id="nothing"),
        pytest.param('{\n "a": 1,\n "b": \n}', 4, "not JSON: Expecting value", id="a torn object over several lines"),
    ],
)
def test_a_file_of_no_rows_is_refused_with_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(ParseError) as refused:
        read_side_rewards(written(tmp_path, text))
    assert refused.value.line == line
    assert refused.value.reason.startswith(reason)


def test_the_rewards_before_a_cut_count(tmp_path: Path) -> None:
    rows = "".join(f'{{"id": "r{n}", "reward": {n}, "name": "{os.urandom(200).hex()}"}}\n' for n in range(20))
    (tmp_path / "rewards.gz").write_bytes(gzip.compress(rows.encode())[:-1000])
    found = read_side_rewards(tmp_path / "rewards.gz")
    read_ones = [row.name for row in found if isinstance(row, SideReward)]
    assert read_ones == [f"r{n}" for n in range(len(read_ones))]
    assert len(read_ones) > 5
    assert [str(row).rpartition("rewards.gz:")[2][:30] for row in found if isinstance(row, ParseError)] == [
        f"{len(read_ones) + 1}: not JSON: Unterminated str"[:30],
        " the compressed file is damaged or"[:30],
    ]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "rewards").write_bytes(b"id,reward\n\xff,1\n")
    with pytest.raises(ParseError, match="not UTF-8 at byte 10"):
        read_side_rewards(tmp_path / "rewards")


def given(folder: Path, rewards: Any, *runs: Trajectory) -> tuple[dict[str, list[Reward]], list[Note]]:
    trajectories, notes, errors = rewarded(runs, read_side_rewards(written(folder, rewards)), "rewards")
    assert not errors
    return {t.id: t.rewards for t in trajectories}, notes


@pytest.mark.parametrize("name", ["a", "runs/x.traj.json.gz", "x.traj.json.gz", "x.traj.json", "x.traj", "x"])
def test_a_name_is_an_id_or_a_file_with_or_without_folder_and_endings(tmp_path: Path, name: str) -> None:
    agent = run("a/helper", "runs/x.traj.json.gz", parent=SpawnedBy("a"))
    rewards, notes = given(tmp_path, {name: 1}, run("a", "runs/x.traj.json.gz"), agent, run("b", "runs/y.traj"))
    assert rewards == {"a": [Reward(1.0)], "a/helper": [], "b": []}
    assert notes == []


def test_a_name_of_nobody_is_said_and_one_of_several_is_an_error(tmp_path: Path) -> None:
    runs = [run("a", "x.jsonl"), run("b", "x.jsonl"), run("c")]
    rows = [{"id": "x", "reward": 1}, {"id": "nobody", "reward": 0}, {"id": "c", "reward": 1}]
    trajectories, notes, errors = rewarded(runs, read_side_rewards(written(tmp_path, rows)), "rewards")
    assert {t.id: t.rewards for t in trajectories} == {"a": [], "b": [], "c": [Reward(1.0)]}
    assert [note.message for note in notes] == ["rewards:2 names 'nobody': no trajectory or file has it"]
    assert [str(error) for error in errors] == ["rewards:1: 'x': 2 trajectories are in that file: 'a', 'b'; give an id"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs, two of one name, read as `logs` from the folder above."""
    for name in ("logs/a.json", "logs/deep/a.json", "logs/b.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(
            json.dumps([{"role": "user", "content": name}, {"role": "assistant", "content": "Yes."}])
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param("logs/a.json", "logs/a.json", id="from here"),
        pytest.param("./logs/a.json", "logs/a.json", id="with a dot"),
        pytest.param("logs/../logs//deep/../a.json", "logs/a.json", id="with detours"),
        pytest.param("{here}/logs/a.json", "logs/a.json", id="absolute"),
        pytest.param("{here}/logs/deep/../a", "logs/a.json", id="absolute, without its ending"),
        pytest.param("deep/a.json", "deep/a.json", id="a part at the end"),
        pytest.param("deep/a", "deep/a.json", id="a part at the end, without its ending"),
        pytest.param("../{name}/logs/a.json", "logs/a.json", id="from above"),
        pytest.param("b.json", "b.json", id="a name that no other has"),
        pytest.param("b", "b.json", id="without its ending"),
        pytest.param("/elsewhere/logs/b.json", None, id="absolute, and another file"),
        pytest.param("other/b.json", None, id="another folder"),
        pytest.param("ogs/a.json", None, id="half of a folder's name"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_path_means_a_file_however_it_is_typed(folder: Path, typed: str, meant: str | None) -> None:
    typed = typed.format(here=folder, name=folder.name)
    rewards = written(folder, {typed: 1, "deep/a.json": 0} if meant != "deep/a.json" else {typed: 1}, "r.json")
    reading, notes = with_rewards(read("logs"), rewards, ["logs"])
    assert {t.id for t in reading if t.rewards and t.rewards[0].value == 1} == ({meant} if meant else set())
    assert [note.code for note in notes] == ([] if meant else ["unmatched-reward"])
    assert not reading.errors


def test_a_path_is_followed_from_the_folder_of_the_rewards_too(folder: Path) -> None:
    rewards = written(folder / "logs" / "deep", {"../a.json": 1}, "r.jsonl")
    reading, _ = with_rewards(read("logs/a.json"), rewards, ["logs/a.json"])
    assert [t.rewards for t in reading] == [[Reward(1.0)]]


@pytest.mark.parametrize("typed", ["a.json", "a"])
def test_a_name_that_fits_several_files_is_an_error_that_names_them(folder: Path, typed: str) -> None:
    done = CliRunner().invoke(
        root, ["score", "logs", "--rewards", str(written(folder, {typed: 1, "b": 0}, "r.json")), "-a", "rtg"]
    )
    assert done.exit_code == 1
    assert f"error: {folder}/r.json: '{typed}': 2 files end in that: 'logs/a.json', 'deep/a.json'; give an id" in (
        done.stderr
    )
    outcomes = {row["trajectory_id"]: row["outcome"] for row in map(json.loads, done.stdout.splitlines())}
    assert outcomes == {"logs/a.json": None, "deep/a.json": None, "b.json": 0.0}


def test_a_bad_row_does_not_stop_the_run(folder: Path) -> None:
    rewards = written(folder, "file,reward\nb.json,nan\nlogs/a.json,1\n", "r.csv")
    done = CliRunner().invoke(root, ["score", "logs", "--rewards", str(rewards), "-a", "rtg"])
    assert done.exit_code == 1
    assert f"error: {rewards}:2: the reward of 'b.json' is no finite number" in done.stderr
    outcomes = {row["trajectory_id"]: row["outcome"] for row in map(json.loads, done.stdout.splitlines())}
    assert outcomes == {"logs/a.json": 1.0, "deep/a.json": None, "b.json": None}


def test_a_file_that_fits_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of its 1 names is one trajectory or file that was read, e.g. 'a'"):
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
