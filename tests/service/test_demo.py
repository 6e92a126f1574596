"""The demo: its story is made from the numbers, not told beside them."""

from __future__ import annotations

import pytest

from trajcredit.service.demo import bundled, demo


def test_the_demo_tells_of_the_weather_call_that_flat_credit_blames_and_the_graph_clears() -> None:
    told = demo()
    assert told.outcomes == (0, 1, 0, 1)
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
