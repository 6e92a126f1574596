"""Calls that the model wrote as text, and what answers them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_one, texts

RING = '{"name": "ring", "arguments": {"times": 3}}'


def chat(*said: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)], **more}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param(
            f"Ringing.\n<tool_call>\n{RING}\n</tool_call>", "<tool_response>\nrung\n</tool_response>", id="tags"
        ),
        pytest.param(f"Ringing.\n<tool_call>{RING}", "rung", id="a tag that is not closed"),
        pytest.param('Ringing. <function=ring>{"times": 3}</function>', "OBSERVATION:\nrung", id="function, JSON"),
        pytest.param('Ringing.\nAction: ring\nAction Input: {"times": 3}', "Observation: rung", id="ReAct"),
        pytest.param(f"Ringing.\n```json\n{RING}\n```", "Observation: rung", id="a fence and an observation"),
    ],
)
def test_a_written_call_is_a_call_and_what_answers_it_its_result(text: str, answer: str) -> None:
    got = read_one(chat("Ring 3 times.", text, answer, "Done."))
    assert kinds(got) == ["user", "assistant", "tool_call", "tool_result", "assistant"]
    assert [(c.name, c.arguments, c.inferred) for c in calls(got)] == [("ring", {"times": 3}, True)]
    assert pairs(got) == [("ring", "rung", None)]
    assert texts(got, "assistant") == ["Ringing.", "Done."]
    assert codes(got)[0] == "written-call"


def test_parameters_in_tags_are_texts_by_name() -> None:
    path, new = "<parameter=path>\na.py\n</parameter>", "<parameter=new>\nx = 1\n\ny = 2\n</parameter>"
    text = f"<function=edit>\n{path}\n{new}\n</function>"
    [call] = calls(read_one(chat("go", text, "EXECUTION RESULT of [edit]:\nok")))
    assert call.arguments == {"path": "a.py", "new": "x = 1\n\ny = 2"}
    assert call.arguments_raw is not None
    assert call.arguments_raw.startswith("<parameter=path>")


def test_several_calls_and_answers_pair_in_order_and_words_beside_them_are_the_users() -> None:
    text = f'<tool_call>{RING}</tool_call>\n<tool_call>{{"name": "stop", "arguments": {{}}}}</tool_call>'
    got = read_one(chat("go", text, "<tool_response>1</tool_response><tool_response>2</tool_response>\nHurry!"))
    assert pairs(got) == [("ring", "1", None), ("stop", "2", None)]
    assert texts(got, "user") == ["go", "Hurry!"]


def test_a_call_that_is_broken_is_kept_as_it_stands() -> None:
    [call] = calls(read_one(chat("go", '<tool_call>{"name": "ring", "arguments": {"times"</tool_call>', "x")))
    assert (call.name, call.arguments, call.arguments_raw) == ("ring", None, '{"name": "ring", "arguments": {"times"')


def test_what_the_model_imagines_after_its_call_stays_text() -> None:
    text = "Thought: a\nAction: ring\nAction Input: loud\nObservation: rung\nThought: b"
    got = read_one(chat("go", text, "Observation: broken"))
    assert [c.arguments for c in calls(got)] == [{"input": "loud"}]
    assert texts(got, "assistant") == ["Thought: a", "Observation: rung\nThought: b"]
    assert pairs(got) == [("ring", "broken", None)]


@pytest.mark.parametrize(
    ("row", "n_calls"),
    [
        pytest.param(chat("go", f"```json\n{RING}\n```", "Thanks!"), 0, id="a fence that nobody answers"),
        pytest.param(chat("go", f"```json\n{RING}\n```", "x", tools=[{"name": "ring"}]), 1, id="of a declared tool"),
        pytest.param(chat("go", f"```json\n{RING}\n```", "Observation: x", tools=[{"name": "f"}]), 0, id="of another"),
        pytest.param(chat("go", '```json\n{"name": "Bob", "age": 3}\n```', "Observation: x"), 0, id="no arguments"),
        pytest.param(chat("go", "```py\nx = 1\n```", "Observation: x"), 0, id="code"),
        pytest.param(chat("How is <tool_call> used?", "As a tag."), 0, id="the user's words"),
        pytest.param(chat("go", "Write `Action Input:` after the action."), 0, id="no action before it"),
    ],
)
def test_json_that_is_no_call(row: dict[str, Any], n_calls: int) -> None:
    got = read_one(row)
    assert len(calls(got)) == n_calls
    if not n_calls:
        assert [span.text for span in got.spans] == [message["content"] for message in row["messages"]]
        assert codes(got) == []


def test_text_is_left_alone_where_the_log_has_calls_of_its_own() -> None:
    messages = chat("go", f"<tool_call>{RING}</tool_call>")["messages"]
    messages[1]["tool_calls"] = [{"id": "a", "function": {"name": "ring", "arguments": "{}"}}]
    got = read_one({"messages": messages})
    assert [c.inferred for c in calls(got)] == [False]
    assert texts(got, "assistant") == [f"<tool_call>{RING}</tool_call>"]


@pytest.mark.parametrize(
    "mark", ["<tool_call>", "<function=", "<function=a>", "<parameter=", "Action Input:", "```", "\n```{"]
)
def test_a_text_full_of_marks_takes_no_time_to_speak_of(mark: str) -> None:
    got = read_one(chat("go", mark * 50_000, "<tool_response>" * 50_000))
    assert got.spans
