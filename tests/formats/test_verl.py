"""Rollout dumps of verl."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.model import Reward, Trajectory

OUTPUT = '<tool_call>{"name":"add","arguments":{"a":2}}</tool_call>user\n<tool_response>4</tool_response>assistant\n4'


def row(output: str = OUTPUT, score: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {
        "input": "system\nBe short.\nuser\nAdd.\nassistant\n",
        "output": output,
        "gts": "4",
        "score": score,
        "step": 12,
        **more,
    }


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(OUTPUT, id="words behind tags"),
        pytest.param(OUTPUT.replace("user\n", "\nuser\n").replace("assistant\n", "\nassistant\n"), id="words on lines"),
        pytest.param(
            OUTPUT.replace("user\n", "<|im_end|>\n<|im_start|>user\n").replace(
                "assistant\n", "<|im_end|>\n<|im_start|>assistant\n"
            ),
            id="the marks themselves",
        ),
    ],
)
def test_turns_and_calls_are_found_in_the_text(output: str) -> None:
    got = read_one(row(output))
    assert kinds(got) == ["system", "user", "tool_call", "tool_result", "assistant"]
    assert [(c.name, c.arguments, c.inferred) for c in calls(got)] == [("add", {"a": 2}, True)]
    assert pairs(got) == [("add", "4", None)]
    assert texts(got, "assistant") == ["4"]
    assert codes(got)[0] == "split-text"


def test_rows_with_one_input_are_a_task_at_a_step() -> None:
    found = [
        t
        for t in read_lines(row(score=1), row("<think>no</think>5", 0.0), row(input="user\nSub.\nassistant\n"))
        if isinstance(t, Trajectory)
    ]
    assert found[0].task == found[1].task != found[2].task
    assert [t.rewards for t in found] == [[Reward(1.0)], [Reward(0.0)], [Reward(1.0)]]
    assert {(t.step, t.answer) for t in found} == {(12, "4")}
    assert kinds(found[1]) == ["system", "user", "reasoning", "assistant"]


def test_a_word_inside_a_line_is_no_border() -> None:
    assert texts(read_one(row("The user\nsaid so")), "assistant") == ["The user\nsaid so"]


def test_a_broken_line_costs_no_other() -> None:
    found = read_lines(row(), {**row(), "input": 5}, row())
    assert refusals(found) == [(2, "line 2: Expected `str`, got `int` - at `$.input`")]
    assert len(found) == 3
