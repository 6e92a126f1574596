"""`trajcredit select` and `trajcredit relabel`: rows to the one stream, what is said of them to the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.formats import read
from trajcredit.model import Reward, Span, Tool, Trajectory, encode

TOOLS = [Tool("book", writes=True)]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(root, list(arguments))


def rollout(name: str, outcome: float | None, to: str, **rest: Any) -> Trajectory:
    spans = [
        Span(kind="user", turn=-1, text="Book Rome."),
        Span(kind="tool_call", turn=0, name="book", arguments={"to": to}),
        Span(kind="tool_result", turn=0, name="book", text="ok", result_of=1),
        Span(kind="assistant", turn=1, text="Done."),
    ]
    rewards = [] if outcome is None else [Reward(outcome)]
    return Trajectory(id=name, group="g", spans=spans, rewards=rewards, tools=TOOLS, terminated=True, **rest)


@pytest.fixture
def log(tmp_path: Path) -> str:
    return kept(tmp_path / "log.jsonl", rollout("good", 1.0, "Rome"), rollout("bad", 0.0, "Paris"))


def kept(file: Path, *runs: Trajectory) -> str:
    file.write_bytes(b"".join(encode(run) + b"\n" for run in runs))
    return str(file)


def test_rows_go_to_standard_output_and_what_became_of_the_rest_to_the_other(log: str) -> None:
    result = call("select", log)
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["trajectory_id"] for line in result.stdout.splitlines()] == ["good"]
    assert "read 2 rollouts, 2 with an outcome, of 1 group (0 without a pass, 0 without a fail" in result.stderr
    assert "left out: 1: outcome below the threshold (below)" in result.stderr
    assert "selected 1 rollout\n" in result.stderr


def test_a_file_holds_what_standard_output_would_and_is_read_back_as_chat(log: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    assert call("select", log, "-o", str(out)).stdout == ""
    assert out.read_text() == call("select", log).stdout
    (found,) = list(read([str(out)]))
    assert isinstance(found, Trajectory)
    assert [(span.kind, span.text, span.arguments) for span in found.spans] == [
        ("user", "Book Rome.", None),
        ("tool_call", "", {"to": "Rome"}),
        ("tool_result", "ok", None),
        ("assistant", "Done.", None),
    ]


def test_trajectories_feed_the_next_command(log: str, tmp_path: Path) -> None:
    out = str(tmp_path / "best.jsonl")
    assert call("select", log, "--to", "jsonl", "--best-of", "1", "-o", out).exit_code == 0
    scored = call("score", out, "-a", "rtg")
    assert scored.exit_code == 0, scored.output
    assert {json.loads(line)["trajectory_id"] for line in scored.stdout.splitlines()} == {"good"}


def test_pairs(log: str) -> None:
    (row,) = [json.loads(line) for line in call("select", log, "--to", "pairs").stdout.splitlines()]
    assert (row["chosen_id"], row["rejected_id"], row["chosen_call"]) == ("good", "bad", 1)
    assert row["prompt"] == [{"role": "user", "content": "Book Rome."}]


def test_a_summary_as_json(log: str, tmp_path: Path) -> None:
    summary = json.loads(call("select", log, "--json", "-o", str(tmp_path / "rows.jsonl")).stdout)
    assert (summary["read"], summary["passing"], summary["dropped"]) == (2, 1, {"below": 1})
    result = call("select", log, "--json")
    assert result.exit_code == 2
    assert "name a file for them with -o" in result.stderr


def test_rewards_of_a_file_count(log: str, tmp_path: Path) -> None:
    rewards = tmp_path / "rewards.csv"
    rewards.write_text("trajectory,reward,at\nbad,1,2030-01-01\n")
    result = call("select", log, "--rewards", str(rewards))
    assert [json.loads(line)["trajectory_id"] for line in result.stdout.splitlines()] == ["good", "bad"]


def test_nothing_passes_and_the_best_outcome_is_named(tmp_path: Path) -> None:
    result = call("select", kept(tmp_path / "log.jsonl", rollout("a", 0.8, "Rome")))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "0 pass at 1: the best outcome is 0.8, --pass-at says what passes" in result.stderr


def test_a_rollout_that_cannot_be_taken_is_named_and_the_rest_is_done(tmp_path: Path) -> None:
    log = kept(
        tmp_path / "log.jsonl",
        rollout("odd", 1.0, "Rome", policy_version="latest"),
        rollout("new", 1.0, "Rome", policy_version="8"),
        rollout("old", 1.0, "Rome", policy_version="2"),
        rollout("none", 1.0, "Rome"),
    )
    result = call("select", log, "--max-lag", "3")
    assert result.exit_code == 1
    assert [json.loads(line)["trajectory_id"] for line in result.stdout.splitlines()] == ["new"]
    assert "error: odd: policy version 'latest' is no number" in result.stderr
    assert "lags are counted from version 8" in result.stderr
    assert "left out: 1: the log names no policy version" in result.stderr


def test_failures_beyond_ten_are_counted(tmp_path: Path) -> None:
    runs = [rollout(f"t{i:02}", 1.0, "Rome", policy_version="x") for i in range(12)]
    result = call("select", kept(tmp_path / "log.jsonl", *runs), "--max-lag", "3")
    assert "error: 2 rollouts more, counted below" in result.stderr


@pytest.mark.parametrize("command", ["select", "relabel"])
def test_a_log_is_never_written_over(command: str, log: str) -> None:
    before = Path(log).read_bytes()
    assert call(command, log, "-o", log).exit_code == 2
    assert Path(log).read_bytes() == before


@pytest.mark.parametrize("command", ["select", "relabel"])
def test_nothing_readable_is_bad_usage(command: str, tmp_path: Path) -> None:
    assert call(command, str(tmp_path / "none.jsonl")).exit_code == 2


@pytest.mark.parametrize("command", ["select", "relabel"])
def test_a_bad_line_is_named_and_the_rest_is_done(command: str, log: str) -> None:
    with Path(log).open("a") as file:
        file.write('{"schema":"trajcredit.trajectory/1","id":5,"spans":[]}\n')
    result = call(command, log)
    assert result.exit_code == 1
    assert "log.jsonl: line 3: Expected `str`, got `int`" in result.stderr
    assert len(result.stdout.splitlines()) == 1


def test_relabel_writes_what_was_done_as_what_was_asked(log: str, tmp_path: Path) -> None:
    result = call("relabel", log)
    assert result.exit_code == 0, result.output
    (found,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (found["id"], found["spans"][0]["text"]) == ("bad#hindsight", "Book Paris.")
    assert found["rewards"] == [{"value": 1.0, "source": "judge", "name": "hindsight"}]
    assert "asked 'Rome', did 'Paris'" in result.stderr
    assert "relabelled 1 rollout\n" in result.stderr


def test_relabel_counts_what_it_refuses_by_reason_and_lists_it_as_json(tmp_path: Path) -> None:
    log = kept(tmp_path / "log.jsonl", rollout("bad", 0.0, "Paris"), rollout("none", None, "Rome"))
    assert "refused: 1: no rollout of its group passes: what was asked is unknown" in call("relabel", log).stderr
    summary = json.loads(call("relabel", log, "--json", "-o", str(tmp_path / "new.jsonl")).stdout)
    assert summary["refused"] == {"unscored": 1, "no-passing-sibling": 1}
    assert [(one["trajectory"], one["code"]) for one in summary["refusals"]] == [
        ("bad", "no-passing-sibling"),
        ("none", "unscored"),
    ]
