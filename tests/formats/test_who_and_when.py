"""Group chats with labels of failure, and without."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import codes, kinds, read_lines, read_one, refusals
from trajcredit.model import Reward, Trajectory

HISTORY = [
    {"name": "Planner", "role": "assistant", "content": "Plan."},
    {"name": "Coder", "role": "user", "content": "print(4)"},
    {"name": "Computer_terminal", "role": "user", "content": "4"},
    {"name": "Planner", "role": "assistant", "content": "4"},
]


def chat(**more: Any) -> dict[str, Any]:
    labels = {"mistake_agent": "Coder", "mistake_step": "1", "mistake_reason": "It guessed.", "is_correct": False}
    return {"history": HISTORY, "question_ID": "q", "ground_truth": "5", **labels, **more}


def test_every_agent_acts_whatever_its_role_and_the_terminal_only_answers() -> None:
    got = read_one(chat())
    assert [(span.kind, span.agent, span.turn, span.message_index) for span in got.spans] == [
        ("assistant", "Planner", 0, 0),
        ("assistant", "Coder", 1, 1),
        ("tool_result", "Computer_terminal", 1, 2),
        ("assistant", "Planner", 2, 3),
    ]
    assert (got.task, got.answer, got.rewards) == ("q", "5", [Reward(0.0)])


def test_the_label_is_a_note_on_its_message_and_no_reward() -> None:
    got = read_one(chat())
    assert [(note.code, note.span, note.message) for note in got.report][:1] == [
        ("failure-label", 1, "Coder made the decisive mistake at message 1: It guessed.")
    ]
    assert [reward.span for reward in got.rewards] == [None]


def test_a_label_that_names_another_agent_than_speaks_is_kept_and_said() -> None:
    assert codes(read_one(chat(mistake_agent="Planner")))[0] == "label-mismatch"


@pytest.mark.parametrize("step", ["4", "-1", "one", "9" * 30])
def test_a_label_that_points_nowhere_is_refused(step: str) -> None:
    found = read_lines(chat(mistake_step=step), chat())
    assert refusals(found) == [(1, f"line 1: mistake_step {step!r} is no position from 0 to 3")]
    assert isinstance(found[1], Trajectory)


def test_roles_with_brackets_are_one_agent_and_the_human_is_the_user() -> None:
    history = [
        {"role": "human", "content": "go"},
        {"role": "Orchestrator (thought)", "content": "a"},
        {"role": "Orchestrator (-> Surfer)", "content": "b"},
        {"role": "Surfer", "content": "c"},
    ]
    got = read_one(
        chat(history=history, mistake_agent="Orchestrator", mistake_step=2, is_correct=None, is_corrected=True)
    )
    assert [(span.kind, span.agent) for span in got.spans] == [
        ("user", None),
        ("assistant", "Orchestrator"),
        ("assistant", "Orchestrator"),
        ("assistant", "Surfer"),
    ]
    assert (codes(got), got.rewards) == (["failure-label"], [Reward(1.0)])


def test_prompts_of_the_agents_stand_before_the_chat() -> None:
    got = read_one(chat(system_prompt={"Planner": "You plan.", "Coder": ""}))
    assert [(span.kind, span.agent, span.message_index) for span in got.spans][:2] == [
        ("system", "Planner", None),
        ("assistant", "Planner", 0),
    ]


def test_a_bare_list_is_one_chat_and_a_broken_message_costs_no_other() -> None:
    first = {"role": "human", "content": "go"}
    found = read_lines(first, b'{"role": "Sur', {"role": "Surfer", "content": "x"})
    assert refusals(found)[0][0] == 2
    assert isinstance(found[-1], Trajectory)
    assert [(span.kind, span.message_index) for span in found[-1].spans] == [("user", 0), ("assistant", 2)]
    assert codes(found[-1]) == ["lost-message"]


def test_a_group_may_use_no_tools_and_then_it_is_none() -> None:
    tool = {"role": "tool", "content": "4", "tool_call_id": "a"}
    got = read_one(
        {
            "messages": [
                {"role": "user", "name": "a", "content": "x"},
                {"role": "assistant", "name": "b", "content": "y"},
                tool,
            ]
        }
    )
    assert got.source is not None
    assert got.source.format == "openai_chat"
    assert kinds(got) == ["user", "assistant", "tool_result"]
