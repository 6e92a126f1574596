"""What commands tell of guesses, and of settings that have no effect: on standard error, the rows stay rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.service.demo import bundled
from trajcredit.service.tools import unknown_tools

FLIGHTS = str(bundled("wrong_flight.jsonl"))
BROKEN = '{"to": "PA'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the database and what is written go."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJCREDIT_DB", raising=False)


def good(*arguments: str) -> Result:
    result = CliRunner().invoke(root, arguments)
    assert result.exit_code == 0, result.output
    return result


def guessed(name: str) -> dict[str, Any]:
    """A row whose reader has to guess: a result of no call, and a call whose arguments are cut off."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": BROKEN}}
    return {
        "id": name,
        "reward": 1.0,
        "messages": [
            {"role": "user", "content": "Which flight?"},
            {"role": "tool", "tool_call_id": "gone", "content": "42"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "FL-2210"},
            {"role": "assistant", "content": "FL-2210"},
        ],
    }


# ---------------------------------------------------------------- what was guessed


def test_guesses_are_shown_with_the_trajectory_and_summed_up_by_ingest_and_score() -> None:
    log = "log.jsonl"
    Path(log).write_text("".join(json.dumps(guessed(name)) + "\n" for name in ("a", "b")))
    orphan, broken = "no call in the log belongs to this result", "arguments"
    shown = good("show", log, "--trajectory", "a").stdout
    assert f"\n  report: {orphan} [orphan-result] (span 1)\n" in shown
    assert any(line.startswith("  report: ") and broken in line for line in shown.splitlines())
    for command in (["score", log], ["ingest", log]):
        told = good(*command).stderr.splitlines()
        stage = "read" if command[0] == "score" else "ingest"
        assert f"note: {stage}: 2 spans: {orphan} (orphan-result), e.g. a span 1" in told
        assert any(line.startswith(f"note: {stage}: 2 spans: ") and broken in line for line in told)
    assert f"  report: {orphan} [orphan-result] (span 1)" in good("show", "a").stdout.splitlines()


# ---------------------------------------------------------------- tools of settings


def warnings(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


@pytest.mark.parametrize("command", ["score", "graph", "blame"])
def test_a_tool_of_a_flag_that_no_log_has_is_told_with_the_nearest(command: str) -> None:
    told = warnings(good(command, FLIGHTS, "--writes", "pai", "--reads", "search_flight", "--writes", "pay"))
    assert len(told) == 2
    assert told[0].startswith(
        "warning: no tool 'pai' in the logs read, so what settings say of it has no effect; nearest"
    )
    assert told[0].split("nearest: ")[1].startswith("'pay', ")
    assert told[1].split("nearest: ")[1].startswith("'search_flights', ")
    assert warnings(good(command, FLIGHTS, "--writes", "pay")) == []


def test_so_is_one_of_the_settings_of_the_project() -> None:
    shutil.copy(FLIGHTS, "runs.jsonl")
    Path("trajcredit.toml").write_text('[tools]\nwrites = ["hold_seat"]\nreads = ["pay"]\n')
    [told] = warnings(good("score", "runs.jsonl"))
    assert told.startswith("warning: no tool 'hold_seat' in the logs read")
    assert good("score", "runs.jsonl").stdout == good("score", "runs.jsonl", "--writes", "hold_seats").stdout


def test_ingest_holds_them_against_all_that_the_project_has() -> None:
    good("ingest", FLIGHTS)
    declared = {"id": "d", "messages": [{"role": "assistant", "content": "x"}]}
    tool = {"type": "function", "function": {"name": "declared_only", "parameters": {}}}
    Path("more.jsonl").write_text(json.dumps({**declared, "tools": [tool]}) + "\n")
    names = ("pay", "declared_only", "declared_onli")
    [told] = warnings(good("ingest", "more.jsonl", *(part for name in names for part in ("--writes", name))))
    assert told.startswith("warning: no tool 'declared_onli' in project default, so what settings say")
    assert told.split("nearest: ")[1].startswith("'declared_only', ")


def test_the_nearest_are_those_written_most_alike() -> None:
    there = ["book_seat", "Hold_Seat", "cancel", "hold_seats", "pay"]
    [said] = unknown_tools(["hold_seat", "pay"], there, "the logs read")
    assert said.endswith("nearest: 'Hold_Seat', 'hold_seats', 'book_seat'")
    assert list(unknown_tools(["x"], [], "the logs read")) == [
        "no tool 'x' in the logs read, so what settings say of it has no effect; they have no tools"
    ]
