"""TRL data sets and logs of completions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.model import Reward, Trajectory

ASK = [{"role": "user", "content": "go"}]
DONE = [{"role": "assistant", "content": "Done."}]


def test_prompt_and_completion_are_one_conversation_whose_null_arguments_are_absent() -> None:
    call = {
        "role": "assistant",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"n": 1, "m": None}}}],
    }
    got = read_one(
        {
            "prompt": ASK,
            "completion": [call, {"role": "tool", "name": "f", "content": "1"}, *DONE],
            "tools": '[{"name": "f"}]',
        }
    )
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert [c.arguments for c in calls(got)] == [{"n": 1}]
    assert pairs(got) == [("f", "1", None)]
    assert [span.message_index for span in got.spans] == [0, 1, 2, 3]


def test_plain_text_will_do() -> None:
    got = read_one({"prompt": "go", "completion": "Done."})
    assert [(span.kind, span.text) for span in got.spans] == [("user", "go"), ("assistant", "Done.")]


@pytest.mark.parametrize(
    ("more", "rewards"),
    [
        pytest.param({}, [], id="a preference is an order, no reward"),
        pytest.param(
            {"score_chosen": 8.5, "score_rejected": 3}, [Reward(8.5, "judge"), Reward(3.0, "judge")], id="scores"
        ),
    ],
)
def test_chosen_and_rejected_are_a_group_of_two(more: dict[str, Any], rewards: list[Reward]) -> None:
    found = [
        t
        for t in read_lines(
            {"prompt": ASK, "chosen": DONE, "rejected": [{"role": "assistant", "content": "No."}], **more}
        )
        if isinstance(t, Trajectory)
    ]
    assert [reward for t in found for reward in t.rewards] == rewards
    assert [(note.code, note.message) for t in found for note in t.report] == [
        ("preference", "preferred to 'a.jsonl:rejected': an order, no reward"),
        ("preference", "'a.jsonl:chosen' is preferred to it: an order, no reward"),
    ]
    assert len({t.group for t in found}) == 1
    assert [texts(t, "assistant") for t in found] == [["Done."], ["No."]]


def test_a_reward_function_may_be_called_reward() -> None:
    got = read_one({"step": 3, "prompt": "go", "completion": "Done.", "reward": 0.5, "advantage": -1.0})
    assert (got.step, got.rewards) == (3, [Reward(0.5)])
    assert got.source is not None
    assert got.source.format == "trl"


def test_chosen_may_hold_the_prompt() -> None:
    found = [t for t in read_lines({"chosen": ASK + DONE, "rejected": ASK + DONE}) if isinstance(t, Trajectory)]
    assert [kinds(t) for t in found] == [["user", "assistant"]] * 2


def test_labels_of_steps_are_rewards_of_the_steps() -> None:
    got = read_one({"prompt": "4 + 5 * 2?", "completions": ["a", "b", "c"], "labels": [True, None, False]})
    assert [(span.kind, span.turn) for span in got.spans] == [
        ("user", -1),
        ("assistant", 0),
        ("assistant", 0),
        ("assistant", 0),
    ]
    assert got.rewards == [Reward(1.0, "human", 1), Reward(0.0, "human", 3)]


def test_a_log_of_completions_has_its_reward_functions_as_columns() -> None:
    rows = [
        {"step": 10, "prompt": "go", "completion": text, "exact": n, "format": 0.5, "advantage": 0.0}
        for n, text in enumerate("ab")
    ]
    found = [t for t in read_lines(*rows, {**rows[0], "step": 11, "format": None}) if isinstance(t, Trajectory)]
    assert [t.rewards for t in found] == [
        [Reward(0.5, name="exact+format")],
        [Reward(1.5, name="exact+format")],
        [Reward(0.0, name="exact")],
    ]
    assert [codes(t) for t in found] == [["summed-rewards"], ["summed-rewards"], []]
    assert found[0].group == found[1].group != found[2].group
    assert [t.step for t in found] == [10, 10, 11]


def test_a_verdict_on_a_completion() -> None:
    assert read_one({"prompt": "go", "completion": "x", "label": False}).rewards == [Reward(0.0, "human")]


def test_rows_that_break_the_form_are_named_and_cost_no_other() -> None:
    good = {"prompt": "go", "completion": "x"}
    found = read_lines(
        good,
        {"prompt": "go"},
        {"prompt": "a", "completions": ["x"], "labels": []},
        {"prompt": 5, "completion": "x"},
        good,
    )
    assert refusals(found) == [
        (2, "line 2: neither `completion`, nor `chosen` and `rejected`, nor `completions` and `labels`"),
        (3, "line 3: labels holds 0 verdicts for 1 completions"),
        (4, "line 4: Expected `str | array | null`, got `int` - at `$.prompt`"),
    ]
    assert sum(isinstance(item, Trajectory) for item in found) == 2
