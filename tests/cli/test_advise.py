"""`trajcredit advise`: the walk as text and JSON, and a command that runs as it stands."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.service.demo import bundled

SCORES = str(bundled("scores_0101.jsonl"))
FLIGHTS = str(bundled("wrong_flight.jsonl"))
ONE = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}


def advise(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["advise", *arguments])


def test_the_walk_as_text() -> None:
    result = advise(FLIGHTS)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:2] == ["1. Is there an outcome? Yes.", "   4 of 4 trajectories have a reward, from human"]
    assert sum(line[0].isdigit() for line in lines if line) == 10
    assert "missing: for doubly_robust: 8 tasks that share tools, with two scored rollouts each (here 1)" in lines
    assert any(line.startswith("recommended to train on: ") for line in lines)


@pytest.mark.parametrize("log", [SCORES, FLIGHTS])
def test_the_commands_run_as_they_stand(log: str, tmp_path: Path) -> None:
    place = tmp_path / "my runs.jsonl"
    shutil.copy(log, place)
    rewards = tmp_path / "rewards.json"
    rewards.write_text(json.dumps({name: i % 2 for i, name in enumerate(_ids(log))}))
    result = advise(str(place), "--rewards", str(rewards), "--reward", "verifier", "--reads", "pay", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["recommended"]
    for one in found["recommended"]:
        program, *arguments = shlex.split(one["command"])
        assert program == "trajcredit"
        assert arguments[1:] == [
            *(str(place), "--reward", "verifier", "--reads", "pay", "--rewards", str(rewards)),
            *("-a", one["attributor"]),
        ]
        scored = CliRunner().invoke(root, arguments)
        assert scored.exit_code == 0, scored.output
        assert any(json.loads(row)["advantage"] for row in scored.stdout.splitlines())


def _ids(log: str) -> list[str]:
    rows = CliRunner().invoke(root, ["score", log, "-a", "rtg"]).stdout.splitlines()
    return list(dict.fromkeys(json.loads(row)["trajectory_id"] for row in rows))


def test_nothing_is_recommended_where_nothing_helps(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({**ONE, "id": f"r{i}", "group": "g", "reward": 1}) + "\n" for i in range(3)))
    result = advise(str(log))
    assert result.exit_code == 0
    assert "recommended: nothing" in result.stdout
    assert "no estimator helps here" in result.stdout
    assert "missing: outcomes that differ within a task" in result.stdout


def test_the_size_of_an_update_counts() -> None:
    told = [json.loads(advise(FLIGHTS, "--update-size", n, "--json").stdout) for n in ("64", "1024")]
    train = [found["recommended"][0] for found in told]
    assert "efficiency at 64 trajectories" in train[0]["measured"]
    assert "efficiency at 1024 trajectories" in train[1]["measured"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param([], "Missing argument 'PATH...'", id="no path"),
        pytest.param(["nowhere.json"], "error: nothing readable in nowhere.json", id="no such file"),
        pytest.param([SCORES, "--update-size", "0"], "0 is not in the range x>=1", id="no update"),
        pytest.param([SCORES, "--reward", "mum"], "no reward source 'mum'", id="no such source"),
    ],
)
def test_bad_usage_ends_with_two(arguments: list[str], complaint: str) -> None:
    result = advise(*arguments)
    assert result.exit_code == 2, result.output
    assert complaint in result.stderr


def test_what_is_to_read_is_no_advice_to_train_on(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Error: no such place"},
        {"role": "assistant", "content": "I could not."},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"messages": messages, "id": "r", "group": "g", "reward": 0}) + "\n")
    lines = advise(str(log)).stdout.splitlines()
    assert "recommended to train on: nothing" in lines
    assert "recommended to read, or to look for a culprit: judge" in lines
    assert f"  trajcredit score {log} -a judge" in lines
