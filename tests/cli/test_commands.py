"""The other commands: graph, blame, show, formats, attributors, demo."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli import graph
from trajcredit.cli.blame import finding_lines
from trajcredit.cli.root import COMMANDS, root
from trajcredit.model import SCHEMA, decode
from trajcredit.service.blame import Finding, Reason
from trajcredit.service.demo import bundled
from trajcredit.service.drawing import DRAWINGS

FLIGHTS = str(bundled("wrong_flight.jsonl"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root, arguments)


def test_the_overview_names_every_command() -> None:
    shown = run("--help").output
    assert all(f"\n  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_the_name_it_is_listed_under(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: root {name} ")


def test_an_unknown_command_is_bad_usage() -> None:
    result = run("scroe")
    assert result.exit_code == 2
    assert "No such command 'scroe'" in result.stderr


def test_graph_writes_the_edges_of_one_trajectory() -> None:
    rows = [json.loads(line) for line in run("graph", FLIGHTS, "--trajectory", "flight-1").stdout.splitlines()]
    assert {row["trajectory_id"] for row in rows} == {"flight-1"}
    [edge] = [row for row in rows if row["child"]["span_index"] == 6 and row["kind"] == "value"]
    assert edge["parent"]["span_index"] == 3
    assert edge["evidence"]["matches"][0]["child"]["text"] == "ITN-48213"


@pytest.mark.parametrize("to", DRAWINGS)
def test_graph_writes_every_kind_of_file(tmp_path: Path, to: str) -> None:
    out = tmp_path / "graph"
    arguments = ("graph", FLIGHTS, "--trajectory", "flight-1", "--to", to)
    assert run(*arguments, "-o", str(out)).exit_code == 0
    assert out.read_bytes() == run(*arguments).stdout_bytes


def test_the_drawings_offered_are_those_the_service_knows() -> None:
    assert graph.DRAWINGS == DRAWINGS


@pytest.mark.parametrize("command", ["graph", "blame", "show"])
def test_a_trajectory_that_is_not_there_is_named(command: str) -> None:
    result = run(command, FLIGHTS, "--trajectory", "flight-9")
    assert result.exit_code == 2
    assert "no trajectory 'flight-9' among the 4 read, e.g. flight-1" in result.stderr


def test_blame_shows_both_sides_with_the_terms_and_the_values() -> None:
    shown = run("blame", FLIGHTS, "-a", "dag", "-n", "1").stdout
    assert shown.startswith("dag: of 18 scored actions 8 have an advantage below zero, 8 above, 2 exactly zero\n")
    assert "most blamed:\n  -0.8660  flight-1 span 2 tool_call search_flights\n" in shown
    assert "credit -0.5000 = +0.0000 (1 hop from the sink s10: outcome) -0.5000" in shown
    assert "feeds span 6 tool_call select_itinerary: uses 'ITN-48213', shown here (weight " in shown
    assert "most praised:\n  +0.8660  flight-2 span 2 tool_call search_flights\n" in shown


def test_blame_says_so_where_nobody_is_blamed() -> None:
    shown = run("blame", FLIGHTS, "--trajectory", "flight-2").stdout
    assert "of 4 scored actions 0 have an advantage below zero, 4 above" in shown
    assert "most blamed: none" in shown


def test_blame_as_json_holds_terms_that_add_up() -> None:
    found = json.loads(run("blame", FLIGHTS, "-a", "grpo", "--json").stdout)
    assert (found["attributor"], found["parameters"]["flavour"]) == ("grpo", "verl")
    for finding in (*found["blamed"], *found["praised"]):
        assert sum(reason["value"] for reason in finding["reasons"]) == pytest.approx(finding["credit"], abs=1e-6)


def test_blame_sums_up_what_it_does_not_show(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "content": "step"} for _ in range(8)]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"id": "long", "messages": messages, "rewards": [-1] * 8}))
    shown = run("blame", str(log), "-a", "rtg", "-n", "1").stdout
    assert "credit -8.0000 = -1.0000 (" in shown
    assert "-3.0000 from 3 smaller terms" in shown


def test_equal_terms_are_counted_apart() -> None:
    reasons = tuple(Reason("step", -1.0, ()) for _ in range(8))
    found = Finding("t", "g", 0, 0, "assistant", None, "", -8.0, -8.0, -8.0, reasons, (), ())
    assert " ".join(["-1.0000 (step)"] * 5) + " -3.0000 from 3 smaller terms" in "\n".join(finding_lines(found))


def test_show_prints_every_span_and_where_it_was_read() -> None:
    shown = run("show", FLIGHTS, "--trajectory", "flight-1").stdout
    assert shown.startswith("trajectory flight-1: 11 spans, 5 turns\n")
    assert "group denver-sanjose" in shown
    assert "read as openai_chat from " in shown
    assert "reward 0.0 from human at 2026-04-14T18:40:12Z" in shown
    assert "[6] turn 2 tool_call select_itinerary call_" in shown
    assert '\n    {"itinerary_id": "ITN-48213"}\n' in shown
    assert "trajectory flight-2" not in shown


def test_show_tells_what_the_reader_had_to_guess(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"id": "odd", "messages": [{"role": "tool", "tool_call_id": "gone", "content": "42"}]}))
    shown = run("show", str(log)).stdout
    assert "\n  report: no call in the log belongs to this result [orphan-result] (span 0)\n" in shown
    assert "\n  no reward\n" in shown


def test_show_says_once_what_was_guessed_of_several_spans(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    calls = [{"function": {"name": "look", "arguments": "{}"}}] * 12
    results = [{"role": "tool", "content": "4"}] * 12
    log.write_text(json.dumps({"messages": [{"role": "assistant", "tool_calls": calls}, *results]}))
    shown = run("show", str(log)).stdout
    said = "the result has no call id: it is taken for that of look by its place [paired-by-position]"
    spans = "12, 13, 14, 15, 16, 17, 18, 19, 20, 21 ..."
    assert f"\n  report: {said} (12 spans: {spans})\n" in shown


def test_show_names_the_model_the_reward_and_the_call_that_started_it(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    span = {"kind": "assistant", "turn": 0, "text": "Done."}
    given = [{"value": 0.25, "source": "judge", "name": "toxicity"}]
    row = {"schema": SCHEMA, "id": "sub", "model": "m-1", "parent": {"trajectory": "main", "span": 3}, "spans": [span]}
    log.write_text(json.dumps({**row, "rewards": given}))
    shown = run("show", str(log)).stdout
    assert "\n  project default, model m-1, started by span 3 of main\n" in shown
    assert "\n  reward 0.25 from judge (toxicity)\n" in shown


def test_show_as_json_is_the_canonical_form_and_comes_back_equal(tmp_path: Path) -> None:
    lines = run("show", FLIGHTS, "--json").stdout
    assert [decode(line).id for line in lines.splitlines()] == ["flight-1", "flight-2", "flight-3", "flight-4"]
    again = tmp_path / "canonical.jsonl"
    again.write_text(lines)
    assert run("show", str(again), "--json").stdout == lines


def test_formats_and_attributors_are_listed_for_people_and_programs() -> None:
    assert "tau_bench" in run("formats").stdout
    assert {"openai_chat", "tau_bench"} <= {row["name"] for row in json.loads(run("formats", "--json").stdout)}
    assert "gamma=1.0  (float)" in run("attributors").stdout
    listed = {row["name"]: row for row in json.loads(run("attributors", "--json").stdout)}
    assert listed["gae"]["needs"] == ["values"]
    assert {"name", "type", "default", "sentence"} == set(listed["dag"]["parameters"][0])


def test_demo_tells_the_story_and_writes_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--no-serve")
    assert result.exit_code == 0, result.output
    assert "[4] get_weather" in result.stdout
    assert "its credit is exactly 0" in result.stdout
    rows = [json.loads(line) for line in Path("trajcredit-demo.jsonl").read_text().splitlines()]
    weather = [row for row in rows if row["name"] == "get_weather" and row["is_action"]]
    assert {(row["trajectory_id"], row["attributor"], row["credit"]) for row in weather} == {
        ("flight-1", "grpo", -0.5),
        ("flight-4", "grpo", 0.5),
        ("flight-1", "dag", 0.0),
        ("flight-4", "dag", 0.0),
    }


def test_demo_does_not_write_over_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    shutil.copy(FLIGHTS, log)
    monkeypatch.setattr("trajcredit.service.demo.bundled", lambda name: log)
    (tmp_path / "link.jsonl").symlink_to(log)
    result = run("demo", "--no-serve", "-o", str(tmp_path / "link.jsonl"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"it is {log}, one of the logs to read" in result.stderr
    assert log.read_bytes() == Path(FLIGHTS).read_bytes()


def test_demo_writes_where_it_is_told(tmp_path: Path) -> None:
    out = tmp_path / "demo.parquet"
    assert run("demo", "--no-serve", "-o", str(out)).exit_code == 0
    assert out.stat().st_size > 0
    assert run("demo", "--no-serve", "-o", "demo.csv").exit_code == 2
