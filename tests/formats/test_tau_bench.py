"""tau-bench result files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Reward, Trajectory, encode

TRAJ = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


def row(**fields: Any) -> dict[str, Any]:
    return {"task_id": 0, "reward": 1.0, "info": {}, "traj": TRAJ, "trial": 0, **fields}


def read_all(value: Any, name: str = "runs/airline.json") -> list[Trajectory]:
    found = list(read_bytes(value if isinstance(value, bytes) else json.dumps(value).encode(), name))
    assert not [item for item in found if isinstance(item, ParseError)], found
    return [item for item in found if isinstance(item, Trajectory)]


def test_trials_of_one_task_are_one_group_by_task_and_data_set() -> None:
    found = read_all([row(trial=trial, reward=float(trial)) for trial in range(3)])
    assert [t.id for t in found] == [f"runs/airline.json:0:{trial}" for trial in range(3)]
    assert {(t.dataset, t.task, t.group) for t in found} == {("runs/airline.json", "0", None)}
    assert [t.rewards for t in found] == [[Reward(0.0)], [Reward(1.0)], [Reward(2.0)]]
    assert [t.source and t.source.line for t in found] == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "dataset", "called"),
    [
        pytest.param(row(), "runs", "runs:0:0", id="one object lies in the set of its folder"),
        pytest.param([row()], "runs", "runs:0:0", id="so does a list of one"),
        pytest.param(
            json.dumps(row()).encode() + b"\n" + json.dumps(row(trial=1)).encode(),
            "runs/airline.json",
            "runs/airline.json:0:0",
            id="lines are a set of their own",
        ),
    ],
)
def test_the_shapes_of_a_result_file(data: Any, dataset: str, called: str) -> None:
    first = read_all(data)[0]
    assert (first.dataset, first.id) == (dataset, called)


def test_a_file_in_no_folder_names_its_trajectories() -> None:
    [trajectory] = read_all(row(), "airline.json")
    assert (trajectory.dataset, trajectory.id) == (None, "airline.json:0:0")


@pytest.mark.parametrize(
    ("fields", "rewards", "codes"),
    [
        pytest.param({"reward": None}, [], [], id="no verdict is no reward"),
        pytest.param({"reward": False}, [Reward(0.0)], [], id="false is a verdict"),
        pytest.param({"info": None}, [Reward(1.0)], [], id="no info"),
        pytest.param({"info": {"reward_info": None}}, [Reward(1.0)], [], id="an info without reward_info"),
        pytest.param({"info": "lost"}, [Reward(1.0)], [], id="an info that is text"),
        pytest.param({"info": {"error": None}}, [Reward(1.0)], [], id="a null error is none"),
        pytest.param(
            {"info": {"error": "rate limit", "traceback": "..."}, "traj": [], "reward": 0.0},
            [Reward(0.0)],
            ["no-action", "run-error"],
            id="a run that crashed says so",
        ),
        pytest.param({"info": {"traceback": "Trace"}}, [Reward(1.0)], ["run-error"], id="so does a traceback alone"),
    ],
)
def test_rewards_and_crashes(fields: dict[str, Any], rewards: list[Reward], codes: list[str]) -> None:
    [trajectory] = read_all(row(**fields))
    assert trajectory.rewards == rewards
    assert [note.code for note in trajectory.report] == codes


def test_of_a_long_traceback_the_beginning_is_told() -> None:
    [trajectory] = read_all(row(info={"traceback": " " + "x" * 600}))
    assert trajectory.report[-1].message == f"the harness reports: {'x' * 500}"


def test_the_reference_actions_never_reach_the_trajectory() -> None:
    info = {"task": {"actions": [{"name": "cancel", "kwargs": {"id": "SECRET"}}], "outputs": ["SECRET"]}}
    [trajectory] = read_all(row(info=info | {"reward_info": {"actions": ["SECRET"]}}))
    assert b"SECRET" not in encode(trajectory)
    assert trajectory.answer is None


def test_a_trial_that_is_not_logged_leaves_the_id_shorter() -> None:
    assert [t.id for t in read_all([row(trial=None), row(task_id="t7", trial="b")])] == [
        "runs/airline.json:0",
        "runs/airline.json:t7:b",
    ]


def test_two_runs_with_one_task_and_trial_are_told_apart() -> None:
    found = read_all([row(), row(reward=0.0), row(reward=0.5)])
    assert [t.id for t in found] == [f"runs/airline.json:0:0{end}" for end in ("", "#2", "#3")]
    assert [[note.code for note in t.report] for t in found] == [[], ["duplicate-id"], ["duplicate-id"]]


def test_a_row_with_a_bad_field_is_an_error_in_its_place() -> None:
    found = list(read_bytes(json.dumps([row(), row(trial=1, reward="1"), row(trial=2)]).encode(), "a.json"))
    assert [isinstance(item, ParseError) for item in found] == [False, True, False]
    assert str(found[1]) == "a.json: record 2: Expected `bool | float | null`, got `str` - at `$.reward`"
