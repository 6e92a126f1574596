"""`trajcredit trust`: as text, Markdown and JSON; files of opinions, labels, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root


def trust(*arguments: str | Path) -> Result:
    return CliRunner().invoke(root, ["trust", *map(str, arguments)])


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve tasks of one run each; every second one failed, and there a call failed too."""
    place = tmp_path_factory.mktemp("logs") / "runs.jsonl"
    place.write_text("".join(json.dumps(_run(k)) + "\n" for k in range(12)))
    return place


def _run(k: int) -> dict[str, object]:
    failed = k % 2 == 0
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"cabin": "upper"}'}}
    messages = [
        {"role": "user", "content": "Which seat is free?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Error: no such cabin" if failed else "12A is free"},
        {"role": "assistant", "content": "I could not find any." if failed else "12A is free."},
    ]
    return {"trajectory_id": f"r{k}", "group_id": f"g{k}", "reward": 1.0 - failed, "messages": messages}


def _opinions(place: Path, score: float) -> Path:
    """What a judge of another program says of the call of each run: 0.3 off where it failed."""
    rows = [
        {"trajectory_id": f"r{k}", "message_index": 1, "tool_call_id": "c", "score": score * (1 - 2 * (k % 2 == 0))}
        for k in range(12)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def test_the_report_as_text(logs: Path) -> None:
    result = trust(logs)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("judge rules: 12 runs with a score and an outcome in 12 groups, 6 passed")
    assert not [line for line in lines if line.startswith("WARNING")]
    assert lines[1] == (
        "so its scores tell more of outcomes than the base rate, as they are and calibrated (judge:calibrate=true)"
    )
    [auc] = [line for line in lines if line.startswith("  AUC")]
    assert "1.000 [1.000, 1.000]" in auc
    assert "not told: asked again: the judge was asked once: it takes two repeats" in lines


def test_files_of_opinions_are_held_against_each_other(logs: Path, tmp_path: Path) -> None:
    one, two = _opinions(tmp_path / "one.jsonl", 0.3), _opinions(tmp_path / "two.jsonl", 0.5)
    result = trust(logs, "--judge", one, "--judge", "rules", "--repeat", two, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    said = found["reliability"]
    assert (found["asked"], said["scale"], said["raw"]) == (2, "credit", None)
    assert [agreed["name"] for agreed in said["agreement"]] == ["rules"]
    assert said["consistency"]["same_class"]["value"] == 1.0
    assert said["consistency"]["spread"]["value"] == pytest.approx(0.2 / 2**0.5)


def test_labels_and_markdown(logs: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    rows = [
        {
            "schema": "trajcredit.label/1",
            "trajectory_id": f"r{k}",
            "message_index": 1,
            "tool_call_id": "c",
            "verdict": "innocent" if k % 2 else "culprit",
        }
        for k in range(12)
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = trust(logs, "--labels", labels, "--to", "md")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# How far the judge rules can be trusted\n")
    assert "## Does it blame what people blame?" in result.stdout
    assert "| kappa | 1.000 \\[1.000, 1.000\\] |" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--judge", "oracle"], "oracle"),
        (["--judge", "rules", "--judge", "rules"], "given twice"),
        (["--judge", "nowhere.jsonl"], "no such file"),
        (["--repeat", "nowhere.jsonl"], "no such file"),
        (["--repeat", "rules"], "given twice"),
        (["--pass-at", "nan"], "is not a finite number"),
        (["--pass-at", "inf"], "is not a finite number"),
    ],
)
def test_what_is_no_judge_is_refused_by_name(logs: Path, arguments: list[str], said: str) -> None:
    result = trust(logs, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
