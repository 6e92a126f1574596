"""The demo: its story is made from the numbers, not told beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from trajcredit.cli.root import root
from trajcredit.service import demo as service
from trajcredit.service.demo import LOG, Attempt, bundled, demo

SJC = Attempt("SJC", "San Jose, California", 0.0, "human", timedelta(hours=9, minutes=28, seconds=7))


def test_the_demo_tells_of_the_weather_call_that_flat_credit_blames_and_the_graph_clears() -> None:
    told = demo()
    assert (told.name, told.failed) == ("flight-1", SJC)
    assert [(a.code, a.city, a.verdict, a.source) for a in told.attempts] == 2 * [
        ("SJC", "San Jose, California", 0, "human"),
        ("SJO", "San José, Costa Rica", 1, "human"),
    ]
    assert {row.span.name: (row.grpo, row.dag) for row in told.rows} == {
        "search_flights": (-0.5, -0.5),
        "get_weather": (-0.5, 0.0),
        "select_itinerary": (-0.5, -0.5),
        "pay": (-0.5, -0.5),
        None: (-0.5, -0.5),
    }
    assert [credit.attributor for credit in told.scored] == ["grpo", "dag"]


def test_the_values_that_the_demo_names_lead_from_the_answer_to_the_search() -> None:
    reasons = {(step.child, step.parent): step.why for step in demo().steps}
    assert "KX7R2P" in reasons[10, 9]
    assert "HLD-90B17" in reasons[8, 7]
    assert "ITN-48213" in reasons[6, 3]
    assert not any(parent in (4, 5) for _, parent in reasons)


@pytest.mark.parametrize("name", ["wrong_flight.jsonl", "maths_answer.jsonl", "scores_0101.jsonl"])
def test_the_logs_are_in_the_package(name: str) -> None:
    assert bundled(name).is_file()


def test_every_fact_of_the_story_is_read_from_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another log tells another story: no sentence is left that the first one made true."""
    rows = [json.loads(row) for row in bundled(LOG).read_text(encoding="utf-8").splitlines()]
    late = [{**row, "reward": 1 - row["reward"], "reward_at": "2026-04-17T09:00:00Z"} for row in rows[:3]]
    text = "".join(json.dumps(row) + "\n" for row in late)
    for old, new in (("SJC", "XXQ"), ("San Jose, California", "Nowhere"), ("get_weather", "get_pollen")):
        text = text.replace(old, new)
    log = tmp_path / "other.jsonl"
    log.write_text(text.replace("human", "reward_model"))
    monkeypatch.setattr(service, "bundled", lambda name: log)
    told = CliRunner().invoke(root, ["demo", "--no-serve", "-o", str(tmp_path / "rows.jsonl")]).stdout
    assert "flights to XXQ (Nowhere) and paid for one.\n72 hours later a reward_model gave it 1." in told
    assert "Of its 3 attempts 2 searched for XXQ (Nowhere), 1 for SJO (San José, Costa Rica)." in told
    assert "Rewards of the 3 rollouts: 1 0 1; mean 0.666667." in told
    assert "all 5 actions get +0.33, get_pollen among them." in told
    assert "the other 4 get +0.33." in told
    assert "all 3 rollouts" in told
    assert not [fact for fact in ("SJC", "California", "human", "weather", "-0.50", "four") if fact in told]


def test_numbers_that_differ_are_told_as_a_range() -> None:
    from trajcredit.cli.demo import _story

    told = demo()
    rows = [replace(row, dag=row.dag * (1 + row.span_index / 10)) for row in told.rows]
    assert "the other 4 get -1.00 to -0.60." in list(_story(replace(told, rows=tuple(rows))))[-1]
