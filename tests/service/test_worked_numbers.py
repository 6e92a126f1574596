"""The worked numbers of the field's questions, on the bundled logs, through the public API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trajcredit as tc
from trajcredit.service.demo import bundled


def scored(log: str, attributor: str, **parameters: Any) -> dict[str, list[tuple[str, float, float]]]:
    """Trajectory -> (tool or kind, credit, advantage) of its actions, in order."""
    reading = tc.read(bundled(log))
    assert not reading.errors
    batch = tc.batch(reading)
    found = tc.attribute(batch, attributor, **parameters)
    rows: dict[str, list[tuple[str, float, float]]] = {}
    for i in np.flatnonzero(batch.action_mask):
        t = batch.trajectory_of(int(i))
        span = reading[t].spans[i - batch.span_offsets[t]]
        row = (span.name or span.kind, float(found.credit[i]), float(found.advantage[i]))
        rows.setdefault(batch.trajectory_ids[t], []).append(row)
    return rows


def test_reward_to_go_of_the_right_maths_answer_is_one_at_every_step_the_useless_fourth_included() -> None:
    steps = scored("maths_answer.jsonl", "rtg", gamma=1.0)["maths-right"]
    assert [credit for _, credit, _ in steps] == [1, 1, 1, 1, 1]


def test_reward_to_go_of_the_wrong_maths_answer_is_zero_at_every_step() -> None:
    steps = scored("maths_answer.jsonl", "rtg", gamma=1.0)["maths-wrong"]
    assert [credit for _, credit, _ in steps] == [0, 0, 0, 0, 0]


def test_gae_with_lambda_one_and_no_values_is_reward_to_go() -> None:
    steps = scored("maths_answer.jsonl", "gae", gamma=1.0, lam=1.0, values="zero")["maths-right"]
    assert [credit for _, credit, _ in steps] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("attributor", "credit", "advantage"),
    [
        pytest.param("grpo", [-0.5, 0.5, -0.5, 0.5], [-0.866, 0.866, -0.866, 0.866], id="grpo centres on the mean"),
        pytest.param("rloo", [-2 / 3, 2 / 3, -2 / 3, 2 / 3], [-2 / 3, 2 / 3, -2 / 3, 2 / 3], id="rloo leaves one out"),
        pytest.param("broadcast", [0, 1, 0, 1], [0, 1, 0, 1], id="broadcast is the outcome"),
    ],
)
def test_the_group_with_scores_0101(attributor: str, credit: list[float], advantage: list[float]) -> None:
    rows = [row for rows in scored("scores_0101.jsonl", attributor).values() for row in rows]
    assert [row[1] for row in rows] == pytest.approx(credit, abs=1e-12)
    assert [row[2] for row in rows] == pytest.approx(advantage, abs=1e-4)


def test_flat_credit_blames_every_call_of_the_wrong_flight_the_weather_too() -> None:
    rows = scored("wrong_flight.jsonl", "grpo")
    assert [credit for _, credit, _ in rows["flight-1"]] == [-0.5] * 5
    assert [credit for _, credit, _ in rows["flight-4"]] == [0.5] * 5


@pytest.mark.parametrize(
    ("trajectory", "credit"), [pytest.param("flight-1", -0.5, id="blame"), pytest.param("flight-4", 0.5, id="praise")]
)
def test_dag_gives_the_weather_call_exactly_zero_and_the_others_the_credit_of_the_group(
    trajectory: str, credit: float
) -> None:
    rows = scored("wrong_flight.jsonl", "dag")[trajectory]
    assert [(name, given) for name, given, _ in rows] == [
        ("search_flights", credit),
        ("get_weather", 0.0),
        ("select_itinerary", credit),
        ("pay", credit),
        ("assistant", credit),
    ]
    assert rows[1][2] == 0.0


@pytest.mark.parametrize("trajectory", ["flight-1", "flight-3"])
def test_shapley_puts_the_largest_blame_on_the_search_call(trajectory: str) -> None:
    rows = scored("wrong_flight.jsonl", "shapley")[trajectory]
    ranked = sorted((credit, name) for name, credit, _ in rows)
    assert ranked[0][1] == "search_flights"
    assert ranked[0][0] < ranked[1][0]


def test_options_credit_the_way_to_the_hold_and_clear_the_weather_call() -> None:
    rows = {name: credit for name, credit, _ in scored("wrong_flight.jsonl", "options")["flight-1"]}
    assert rows["get_weather"] == rows["pay"] == 0
    assert rows["search_flights"] + rows["select_itinerary"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize("attributor", ["doubly_robust", "mixture"])
def test_of_one_group_nothing_can_be_learnt_so_credit_is_flat_and_that_is_said(attributor: str) -> None:
    batch = tc.batch(tc.read(bundled("wrong_flight.jsonl")))
    found, flat = tc.attribute(batch, attributor), tc.attribute(batch, "rloo")
    np.testing.assert_array_equal(found.credit, flat.credit)
    [note] = [note for note in found.notes if note.code == "critic-too-small"]
    assert "fewer than 8 groups" in note.message
    assert "their forecast is 0" in note.message


def test_dag_finds_nothing_to_clear_where_every_call_was_used() -> None:
    rows = scored("wrong_flight.jsonl", "dag")
    assert [credit for _, credit, _ in rows["flight-3"]] == [-0.5] * 4


def test_the_tools_that_hold_and_pay_change_state_and_the_others_do_not() -> None:
    batch = tc.batch(tc.read(bundled("wrong_flight.jsonl")))
    tools = {batch.tool_names[batch.tool[i]] for i in np.flatnonzero(batch.is_write)}
    assert tools == {"select_itinerary", "pay"}


def test_the_useless_fourth_step_of_the_maths_answer_is_on_no_path() -> None:
    steps = scored("maths_answer.jsonl", "dag")["maths-right"]
    assert steps[3][1] == 0
