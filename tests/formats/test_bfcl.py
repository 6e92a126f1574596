"""Results and scores of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.model import Reward, Trajectory


def row(result: Any, **more: Any) -> dict[str, Any]:
    return {"id": "simple_0", "result": result, "latency": 0.5, **more}


@pytest.mark.parametrize(
    ("result", "wanted", "inferred"),
    [
        pytest.param([{"f": '{"n": 1}'}], [("f", {"n": 1})], False, id="calls"),
        pytest.param({"f": '{"n": 1}'}, [("f", {"n": 1})], False, id="one call"),
        pytest.param("[f(n=1), a.g('x', k=[1])]", [("f", {"n": 1}), ("a.g", {"0": "x", "k": [1]})], True, id="Python"),
        pytest.param("f(n=unknown)", [("f", None)], True, id="no literal"),
        pytest.param("I cannot (sorry)", [], False, id="text"),
        pytest.param("(" * 5000 + ")", [], False, id="brackets"),
        pytest.param("1()", [], False, id="a call of nothing"),
    ],
)
def test_the_result_of_one_turn(result: Any, wanted: list[Any], inferred: bool) -> None:
    got = read_one(row(result))
    assert [(c.name, c.arguments) for c in calls(got)] == wanted
    assert all(c.inferred == inferred for c in calls(got))
    assert (texts(got, "assistant") == []) == bool(calls(got))


def test_turns_of_steps_without_a_log_of_what_was_said() -> None:
    got = read_one(
        row(
            [[[{"f": "{}"}], "Done."], [[{"g": "{}"}]]],
            input_token_count=[[3, 4], [5]],
            output_token_count=[[1, 1], [1]],
        )
    )
    assert [(span.kind, span.name, span.turn) for span in got.spans] == [
        ("tool_call", "f", 0),
        ("assistant", None, 1),
        ("tool_call", "g", 2),
    ]
    assert got.spans[0].usage == {"input_tokens": 12, "output_tokens": 3}
    assert (got.task, got.group) == ("simple_0", "simple_0")


def test_the_log_of_what_was_said_has_questions_and_results() -> None:
    handled = {"role": "handler_log", "content": "ok", "model_response_decoded": ["f(n=1)"]}
    log = [
        [{"role": "state_info", "class_name": "Bell", "content": {}}],
        {
            "begin_of_turn_query": [{"role": "user", "content": "go"}],
            "step_0": [{"role": "assistant", "content": "I shall ring it"}, handled, {"role": "tool", "content": "1"}],
            "step_1": [{"role": "assistant", "content": [{"g": "{}"}]}, handled, {"role": "tool", "content": "2"}],
            "step_2": [{"role": "assistant", "content": "Done."}],
        },
    ]
    got = read_one(row([], inference_log=log))
    assert kinds(got) == [
        "meta",
        "user",
        "assistant",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    assert pairs(got) == [("f", "1", None), ("g", "2", None)]
    assert [c.inferred for c in calls(got)] == [True, False]
    assert "written-call" in codes(got)


def test_a_score_file_lists_failures() -> None:
    totals = {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    failed = {"id": "simple_1", "valid": False, "model_result_raw": "f(n=1)", "error": ["wrong value"]}
    got = read_one(totals, failed)
    assert got.rewards == [Reward(0.0)]
    assert [c.name for c in calls(got)] == ["f"]
    assert "run-error" in codes(got)


def test_a_broken_line_costs_no_other() -> None:
    found = read_lines(row("x"), {**row("x"), "id": []}, row([{"f": "{}"}], id="simple_2"))
    assert refusals(found) == [(2, "line 2: Expected `int | str | null`, got `array` - at `$.id`")]
    assert sum(isinstance(item, Trajectory) for item in found) == 2
