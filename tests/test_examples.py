"""The data set of flights that an example writes: what it is, and who is blamed there."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trajcredit as tc

ROOT = Path(__file__).parents[1]
FLIGHTS: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "flight_dataset.py"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tc.Batch:
    log = tmp_path_factory.mktemp("flights") / "flights.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in FLIGHTS["rows"]()), encoding="utf-8")
    reading = tc.read(log)
    assert not reading.errors
    return tc.batch(reading)


def test_it_writes_the_same_bookings_every_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(FLIGHTS["rows"]()) == list(FLIGHTS["rows"]())
    FLIGHTS["main"](tmp_path / "f.jsonl", 8)
    lines = (tmp_path / "f.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(FLIGHTS["rows"](8))
    assert "32 bookings of 8 tasks" in capsys.readouterr().out


def test_there_are_24_tasks_with_bookings_of_both_kinds_and_the_verdict_comes_hours_later(written: tc.Batch) -> None:
    assert (written.n_trajectories, len(written.group_ids), written.reward_source) == (96, 24, "human")
    won = np.bincount(written.group, written.outcome)
    assert ((won >= 1) & (won <= 3)).all()
    assert {row["reward_at"][:13] for row in FLIGHTS["rows"]()} > {"2026-04-14T12"}
    wrong = [FLIGHTS["mistaken"](FLIGHTS["Random"](n), ("DEN", "SJO", "2026-05-03")) for n in range(40)]
    assert {tuple(a == b for a, b in zip(one, ("DEN", "SJO", "2026-05-03"), strict=True)) for one in wrong} == {
        (False, True, True),
        (True, False, True),
    }


@pytest.mark.parametrize("part", [0.0, 0.3], ids=["forecasts", "for reading"])
def test_doubly_robust_blames_the_search_of_every_failed_booking_most(written: tc.Batch, part: float) -> None:
    hits, failed = FLIGHTS["search_blamed"](written, "doubly_robust", w=0.0, part=part)
    assert hits == failed == int((written.outcome == 0).sum())


def test_flat_credit_blames_every_call_alike_there_too(written: tc.Batch) -> None:
    credit = tc.attribute(written, "grpo").credit
    for t in range(written.n_trajectories):
        own = np.arange(*written.span_offsets[t : t + 2])
        assert len(set(credit[own[written.action_mask[own]]].tolist())) == 1
    assert FLIGHTS["search_blamed"](written, "grpo")[0] == 0


def test_dag_clears_every_weather_call_and_nothing_else_but_words(written: tc.Batch) -> None:
    cleared = np.flatnonzero(tc.attribute(written, "dag").credit == 0)
    tools = {written.tool_names[written.tool[i]] for i in cleared if written.tool[i] >= 0}
    assert tools == {"get_weather"}
    weather = written.tool_names.index("get_weather")
    asked = np.flatnonzero((written.tool == weather) & written.action_mask)
    assert set(asked.tolist()) <= set(cleared.tolist())
