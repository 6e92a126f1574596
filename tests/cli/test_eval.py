"""`trajcredit eval`: tables and JSON, what is named on standard error, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.service.demo import bundled

SCORES = str(bundled("scores_0101.jsonl"))
FLIGHTS = str(bundled("wrong_flight.jsonl"))
FLIGHT = "flight-1"


def evaluate(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["eval", *arguments])


def written(folder: Path, *rows: Any) -> str:
    path = folder / "labels.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def about(span: int, verdict: str, **more: Any) -> dict[str, Any]:
    return {"schema": "trajcredit.label/1", "trajectory_id": FLIGHT, "span_index": span, "verdict": verdict, **more}


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    """The rows of the failed flight."""
    result = CliRunner().invoke(root, ["score", FLIGHTS, "-a", "grpo"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    failed = next(row["trajectory_id"] for row in rows if row["outcome"] == 0)
    assert failed == FLIGHT
    return [row for row in rows if row["trajectory_id"] == FLIGHT]


@pytest.fixture
def labels(tmp_path: Path, shown: list[dict[str, Any]]) -> str:
    """The search call is the culprit, the look at the weather innocent."""
    named = {row["name"]: row["span_index"] for row in shown if row["kind"] == "tool_call"}
    return written(
        tmp_path, about(named["search_flights"], "culprit"), about(named["get_weather"], "innocent", labeller="ann")
    )


def test_flat_credit_is_chance_and_the_graph_clears_the_innocent(labels: str) -> None:
    result = evaluate(FLIGHTS, "--labels", labels, "--draws", "50")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "known culprits: 1 run of 1 group, 95 % intervals by groups"
    assert lines[1].split() == ["acc@1", "acc@3", "tol3", "mrr", "pair", "spare"]
    assert [line.split()[0] for line in lines[2:5]] == ["grpo", "dag", "n"]
    assert "minus grpo, paired:" in lines
    [against] = [line for line in lines[lines.index("minus grpo, paired:") :] if line.startswith("  dag")]
    assert against.split("]")[4].endswith("+0.500"), "pair rises from a half to one"


def test_what_cannot_be_measured_is_null_and_no_column(tmp_path: Path, labels: str) -> None:
    innocent = written(tmp_path, Path(labels).read_text().splitlines()[1])
    found = json.loads(evaluate(FLIGHTS, "--labels", innocent, "-a", "grpo", "--draws", "5", "--json").stdout)
    assert found["tables"][0]["figures"]["grpo"]["acc@1"] == {"value": None, "low": None, "high": None, "n": 0}
    shown = evaluate(FLIGHTS, "--labels", innocent, "-a", "grpo", "--draws", "5").stdout
    assert shown.splitlines()[1].split() == ["spare"]


def test_json_has_every_figure_and_is_the_same_again(labels: str) -> None:
    result = evaluate(FLIGHTS, "--labels", labels, "-a", "grpo", "-a", "dag", "--draws", "50", "--seed", "3", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["reference"], found["draws"], found["seed"]) == ("grpo", 50, 3)
    [table] = found["tables"]
    assert table["figures"]["dag"]["pair"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    assert table["differences"]["dag"]["pair"]["value"] == 0.5
    again = evaluate(FLIGHTS, "--labels", labels, "-a", "grpo", "-a", "dag", "--draws", "50", "--seed", "3", "--json")
    assert again.stdout == result.stdout


def test_true_advantages_are_a_table_of_their_own(tmp_path: Path) -> None:
    scored = CliRunner().invoke(root, ["score", SCORES]).stdout.splitlines()
    names = list(dict.fromkeys(json.loads(line)["trajectory_id"] for line in scored))
    rows = [
        {"schema": "trajcredit.label/1", "trajectory_id": name, "span_index": 1, "value": value}
        for name, value in zip(names, (-0.5, 0.5), strict=False)
    ]
    result = evaluate(SCORES, "--labels", written(tmp_path, *rows), "-a", "grpo", "--draws", "5")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "true advantages: 2 actions of 1 group, 95 % intervals by groups"
    assert lines[1].split() == ["pearson", "spearman", "sign", "nmse", "blame@1", "praise@1"]
    assert lines[2].split()[:2] == ["grpo", "1.000"]
    assert "paired" not in result.stdout


def test_an_attributor_that_fails_is_named_and_the_rest_is_graded(labels: str) -> None:
    result = evaluate(FLIGHTS, "--labels", labels, "-a", "grpo", "-a", "gae", "--draws", "5")
    assert result.exit_code == 1
    assert "error: gae: gae needs a critic's values" in result.stderr
    assert "  grpo" in result.stdout


def test_bad_rows_are_named_and_the_rest_is_used(tmp_path: Path, labels: str) -> None:
    path = written(tmp_path, Path(labels).read_text().strip(), "{broken")
    result = evaluate(FLIGHTS, "--labels", path, "--draws", "5")
    assert result.exit_code == 1
    assert f"error: {path}:3: not JSON" in result.stderr
    assert result.stdout


def test_labels_about_nothing_are_counted_and_named(tmp_path: Path, labels: str) -> None:
    nobody = [{**about(0, "culprit"), "trajectory_id": f"nobody-{i}"} for i in range(12)]
    path = written(tmp_path, Path(labels).read_text().strip(), *nobody)
    result = evaluate(FLIGHTS, "--labels", path, "--draws", "5")
    assert result.exit_code == 0
    assert f"warning: a label grades nothing: {path}:3: 'nobody-0': no such trajectory was read" in result.stderr
    assert "warning: 2 labels more grade nothing" in result.stderr


def test_rewards_of_a_file_count(tmp_path: Path, labels: str) -> None:
    rewards = tmp_path / "rewards.json"
    rewards.write_text(json.dumps({FLIGHT: 1}))
    told = evaluate(FLIGHTS, "--labels", labels, "--rewards", str(rewards), "-a", "grpo", "--json", "--draws", "5")
    plain = evaluate(FLIGHTS, "--labels", labels, "-a", "grpo", "-a", "rtg", "--json", "--draws", "5")
    assert told.exit_code == plain.exit_code == 0
    assert json.loads(told.stdout)["tables"] != json.loads(plain.stdout)["tables"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param([FLIGHTS], "Missing option '--labels'", id="no labels"),
        pytest.param([FLIGHTS, "--labels", "nowhere.jsonl"], "error: nowhere.jsonl: cannot be read", id="no such file"),
        pytest.param([FLIGHTS, "--labels", FLIGHTS], "no label in it", id="a file of no labels"),
        pytest.param(["nowhere.json", "--labels", "LABELS"], "nothing readable in nowhere.json", id="no logs"),
        pytest.param([FLIGHTS, "--labels", "LABELS", "-a", "gpro"], "no attributor named 'gpro'", id="no attributor"),
        pytest.param([SCORES, "--labels", "LABELS"], "none of its labels grades anything that was read", id="others"),
        pytest.param(
            [FLIGHTS, "--labels", "LABELS", "-a", "gae"], "no attributor could score these runs", id="none can"
        ),
    ],
)
def test_bad_usage_ends_with_two(labels: str, arguments: list[str], complaint: str) -> None:
    result = evaluate(*(labels if argument == "LABELS" else argument for argument in arguments))
    assert result.exit_code == 2, result.output
    assert complaint in result.stderr
    assert result.stdout == ""
