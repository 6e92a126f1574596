"""ToolBench answer files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import calls, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.formats import read_bytes
from trajcredit.model import Reward, Trajectory


def act(tool: str, given: str, observation: Any = None, code: int | None = None, *children: Any) -> dict[str, Any]:
    entry = {"node_type": "Action Input", "description": given, "observation": observation, "observation_code": code}
    return {"node_type": "Action", "description": tool, "children": [{**entry, "children": list(children)}]}


def file(*branches: Any, win: Any = True, final: str = "{}", **more: Any) -> dict[str, Any]:
    messages = [
        [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]
    ]
    answer = {"query": "q", "final_answer": final, "train_messages": messages, "function": [{"name": "f"}], **more}
    return {
        "win": win,
        "tree": {"tree": {"node_type": "Action Input", "description": "", "children": list(branches)}},
        "answer_generation": answer,
    }


END = act("Finish", "{}", "done", 3)


def test_an_action_its_input_and_what_was_observed_are_call_and_result() -> None:
    got = read_one(
        file({"node_type": "Thought", "description": "Hm.", "children": [act("f", '{"n": 1}', "1", 0, END)]})
    )
    assert kinds(got) == ["system", "user", "assistant", "tool_call", "tool_result", "tool_call", "tool_result"]
    assert [(span.turn, span.message_index) for span in got.spans] == [
        (-1, 0),
        (-1, 1),
        (0, 2),
        (0, 2),
        (0, 3),
        (1, 4),
        (1, 5),
    ]
    assert pairs(got) == [("f", "1", False), ("Finish", "done", False)]
    assert got.rewards == [Reward(1.0)]


@pytest.mark.parametrize(
    ("code", "failed"), [(0, False), (1, True), (2, True), (3, False), (4, None), (5, True), (11, True), (None, None)]
)
def test_the_code_of_an_observation_says_whether_it_failed(code: int | None, failed: bool | None) -> None:
    assert pairs(read_one(file(act("f", "{}", "x", code, END))))[0] == ("f", "x", failed)


def test_every_path_is_an_attempt_of_one_group_and_the_one_that_answered_is_rewarded() -> None:
    shared = act("f", "{}", "1", 0, act("Finish", '{"a": 1}', "given up", 4), act("Finish", '{"a": 2}', "done", 3))
    found = [
        t
        for t in read_bytes(json.dumps(file(shared, final='{"a": 2}')).encode(), "a.json")
        if isinstance(t, Trajectory)
    ]
    assert [t.rewards for t in found] == [[Reward(0.0)], [Reward(1.0)]]
    assert {t.group for t in found} == {"a.json"}
    assert [t.id for t in found] == ["a.json:path-1", "a.json:path-2"]
    assert [calls(t)[0].name for t in found] == ["f", "f"]


def test_a_task_that_was_not_won_has_no_reward_to_give_and_no_verdict_is_none() -> None:
    assert read_one(file(END, win=False)).rewards == [Reward(0.0)]
    assert read_one(file(END, win=None)).rewards == []


def test_without_a_tree_the_messages_are_read() -> None:
    got = read_one(file())
    assert (kinds(got), texts(got, "assistant")) == (["system", "user", "assistant"], ["x"])


def test_a_file_with_nothing_in_it_and_one_that_is_broken_are_named() -> None:
    empty: dict[str, Any] = {"tree": {}, "answer_generation": {}}
    found = read_lines(empty, {"tree": 5, "answer_generation": {}}, file(END))
    assert [line for line, _ in refusals(found)] == [1, 2]
    assert "nothing was attempted" in refusals(found)[0][1]
    assert isinstance(found[2], Trajectory)


def test_a_tree_that_would_fill_the_memory_is_refused() -> None:
    wide = act("f", "{}", "x", 0, *[END] * 30_000)
    inner = wide
    for _ in range(20):
        inner = act("f", "{}", "x", 0, inner)
    [(_, reason)] = refusals(read_lines(file(inner)))
    assert "paths, each with up to" in reason
