"""`trajcredit sweep`: the grid, the figures of each line, labels, what is refused and how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.service.demo import bundled
from trajcredit.service.sweeping import settings

FLIGHTS = str(bundled("wrong_flight.jsonl"))


def sweep(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["sweep", FLIGHTS, *arguments])


def lines(*arguments: str) -> dict[str, dict[str, Any]]:
    result = sweep("--json", *arguments)
    assert result.exit_code == 0, result.output
    return {line["setting"]: line for line in json.loads(result.stdout)["lines"]}


def test_every_combination_is_a_setting_the_last_parameter_fastest() -> None:
    wanted = ["gamma=1,lam=0", "gamma=1,lam=0.5", "gamma=0.9,lam=0", "gamma=0.9,lam=0.5"]
    assert [c.label for c in settings(["gae:gamma=1/0.9,lam=0/0.5"])] == [f"gae:{w}" for w in wanted]
    assert [c.label for c in settings(["rtg", "grpo"])] == ["rtg", "grpo"]


def test_the_figures_of_each_line_are_those_of_its_credits() -> None:
    found = lines("-a", "grpo:scale=group/none", "-a", "rtg:gamma=1/0.5", "-a", "dag:off_path=0/1")
    flat, masked, discounted = found["grpo:scale=none"], found["dag:off_path=0"], found["rtg:gamma=0.5"]
    assert (flat["same_sign"], flat["rank_correlation"]) == (1.0, 1.0)
    assert found["dag:off_path=1"]["rank_correlation"] == pytest.approx(1.0)
    rows: dict[str, dict[str, list[float]]] = {}
    scored = CliRunner().invoke(root, ["score", FLIGHTS, "-a", "grpo", "-a", "dag"])
    for row in map(json.loads, scored.stdout.splitlines()):
        if row["advantage"] is not None:
            own = rows.setdefault(row["attributor"], {}).setdefault(row["trajectory_id"], [])
            own.append(row["advantage"])
    assert flat["scored"] == len(rows["grpo"]) == flat["flat"]
    assert masked["flat"] == sum(np.ptp(own) == 0 for own in rows["dag"].values()) < masked["scored"]
    mine, first = (np.concatenate([np.sign(own) for own in rows[name].values()]) for name in ("dag", "grpo"))
    assert masked["same_sign"] == pytest.approx(float(np.mean(mine == first)))
    assert discounted["scored"] == flat["scored"]


def test_labels_tell_which_setting_blames_the_culprit(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in CliRunner().invoke(root, ["score", FLIGHTS, "-a", "dag"]).stdout.splitlines()]
    failed = [row for row in rows if row["outcome"] == 0 and row["advantage"] is not None]
    found = next(row for row in failed if row["name"] == "search_flights")
    label = {"schema": "trajcredit.label/1", "trajectory_id": found["trajectory_id"], "verdict": "culprit"}
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({**label, "span_index": found["span_index"]}) + "\n")
    choices = ["-a", "grpo:scale=group/none", "-a", "dag:off_path=0/1"]
    hits = lines(*choices, "--labels", str(file))
    asked = ["eval", FLIGHTS, "--labels", str(file), "--json", "--draws", "2", "-a", "grpo", "-a", "dag"]
    [table] = json.loads(CliRunner().invoke(root, asked).stdout)["tables"]
    for setting, name in (("grpo:scale=group", "grpo"), ("dag:off_path=0", "dag")):
        assert hits[setting]["hit_at_1"] == pytest.approx(table["figures"][name]["acc@1"]["value"])
    assert hits["grpo:scale=group"]["hit_at_1"] < hits["dag:off_path=0"]["hit_at_1"]
    shown = sweep(*choices, "--labels", str(file))
    assert "hit@1 is of 1 labelled run with a culprit" in shown.stdout
    assert shown.stdout.splitlines()[1].split()[-1] == "hit@1"


def test_the_table_has_a_line_a_setting() -> None:
    result = sweep("-a", "rtg:gamma=1/0.5")
    assert result.exit_code == 0, result.output
    shown = result.stdout.splitlines()
    assert shown[0] == "2 settings, each against the first:"
    assert [line.split()[0] for line in shown[2:]] == ["rtg:gamma=1", "rtg:gamma=0.5"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-a", "broadcast"], "'broadcast' cannot be swept: it is not one of rtg, gae, grpo, rloo, dag"),
        (["-a", "gae:whiten=true/false"], "'gae:whiten=true' cannot be swept"),
        (["-a", "gae:critic=compatible"], "a critic or a judge is asked for"),
        (["-a", "rtg:gamma=1/2"], "gamma"),
        (["-a", "rtg:gamma"], "expected key=value"),
        (["-a", "rtg:gamma=1/1"], "asked for twice"),
        (["-a", "gae:gamma=" + "/".join(["1"] * 70) + ",lam=" + "/".join(["1"] * 70)], "at most 4096 settings"),
        (["-a", "rtg", "--device", "nowhere"], "device 'nowhere'"),
    ],
)
def test_what_cannot_be_swept_is_refused_by_name(arguments: list[str], said: str) -> None:
    result = sweep(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr.replace("\n", " ")
