"""Trajectory -> chat messages: one message a policy invocation, every span in exactly one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.errors import InputError
from trajcredit.model import Span, Tool, Trajectory
from trajcredit.tokens.messages import ChatMessage, Part, arguments_text, chat_messages, chat_tools


def told(text: str, kind: Any = "user", turn: int = -1) -> Span:
    return Span(kind=kind, turn=turn, text=text)


def says(text: str, turn: int = 0, agent: str | None = None) -> Span:
    return Span(kind="assistant", turn=turn, text=text, agent=agent)


def thinks(text: str, turn: int = 0) -> Span:
    return Span(kind="reasoning", turn=turn, text=text)


def calls(name: str | None, arguments: Any = None, turn: int = 0, **rest: Any) -> Span:
    return Span(kind="tool_call", turn=turn, name=name, arguments=arguments, **rest)


def answers(call: int | None, text: str, turn: int = 0, name: str | None = "look") -> Span:
    return Span(kind="tool_result", turn=turn, text=text, result_of=call, name=name)


def messages(*spans: Span) -> list[ChatMessage]:
    return chat_messages(Trajectory(id="t", spans=list(spans)))


def dicts(*spans: Span) -> list[dict[str, Any]]:
    return [message.as_dict() for message in messages(*spans)]


def test_a_turn_is_one_message_with_reasoning_text_and_parallel_calls() -> None:
    got = dicts(
        told("Be kind.", "system"),
        told("Weather in Paris and Rome?"),
        thinks("Two cities."),
        says("I look."),
        calls("look", {"city": "Paris"}, call_id="a"),
        calls("look", {"city": "Rome"}, call_id="b"),
        answers(5, "hot"),
        answers(4, "cold"),
        says("Cold and hot.", 1),
    )
    assert got == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Weather in Paris and Rome?"},
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Two cities.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"city":"Paris"}'}},
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": '{"city":"Rome"}'}},
            ],
        },
        {"role": "tool", "content": "hot", "tool_call_id": "b", "name": "look"},
        {"role": "tool", "content": "cold", "tool_call_id": "a", "name": "look"},
        {"role": "assistant", "content": "Cold and hot."},
    ]


def test_each_message_says_which_span_each_piece_of_it_came_from() -> None:
    got = messages(told("hi"), thinks("hm"), says("one"), says("two"), calls("look", {"a": 1}), answers(4, "x"))
    assert got[0].parts == (Part("content", 0, 0, 2),)
    assert got[1].content == "one\n\ntwo"
    assert got[1].parts == (
        Part("reasoning", 1, 0, 2),
        Part("content", 2, 0, 3),
        Part("content", 3, 5, 8),
        Part("call", 4, 0, 7),
    )
    assert got[2].parts == (Part("content", 5, 0, 1),)
    assert [message.spans for message in got] == [(0,), (1, 2, 3, 4), (5,)]


def test_a_turn_that_only_calls_says_nothing_and_one_that_does_neither_says_the_empty_text() -> None:
    assert messages(calls("look"), answers(0, "x"))[0].content is None
    assert messages(thinks("hm"))[0].content == ""
    assert messages(told(""))[0].content == ""


@pytest.mark.parametrize(
    ("span", "text"),
    [
        pytest.param(calls("f", {"a": 1}, arguments_raw='{ "a": 1 }'), '{ "a": 1 }', id="JSON stays as it was logged"),
        pytest.param(calls("f", {"a": 1}), '{"a":1}', id="an object is written as JSON"),
        pytest.param(calls("f", {"a": 1}, arguments_raw="<a>1</a>"), '{"a":1}', id="what was decoded from XML is JSON"),
        pytest.param(calls("f", {"a": 1}, arguments_raw='"{\\"a\\":1}"'), '{"a":1}', id="JSON in JSON is undone"),
        pytest.param(calls("f", None, arguments_raw="*** Begin Patch"), "*** Begin Patch", id="no JSON stays verbatim"),
        pytest.param(calls("f", None, arguments_raw=" "), "{}", id="blank arguments are none"),
        pytest.param(calls("f"), "{}", id="no arguments are none"),
    ],
)
def test_arguments_are_text(span: Span, text: str) -> None:
    assert arguments_text(span) == text
    message = messages(span)[0]
    assert message.calls[0].arguments == text
    assert message.parts == (Part("call", 0, 0, len(text)),)


def test_a_call_logged_after_a_result_of_its_turn_joins_its_message() -> None:
    got = messages(calls("look", {"a": 1}), answers(0, "x"), calls("look", {"a": 2}), answers(2, "y"))
    assert [message.role for message in got] == ["assistant", "tool", "tool"]
    assert [message.spans for message in got] == [(0, 2), (1,), (3,)]


def test_text_after_a_result_of_its_own_turn_begins_a_new_message() -> None:
    got = messages(calls("search", {"q": "x"}), answers(0, "found"), says("It says found."))
    assert [message.role for message in got] == ["assistant", "tool", "assistant"]


def test_two_turns_without_anything_between_are_two_messages() -> None:
    assert [message.content for message in messages(says("one", 0), says("two", 1))] == ["one", "two"]


def test_agents_that_take_turns_are_named_and_never_share_a_message() -> None:
    got = messages(told("go"), says("plan", 0, "planner"), says("do", 0, "doer"))
    assert [(message.content, message.name) for message in got] == [("go", None), ("plan", "planner"), ("do", "doer")]
    assert [message.name for message in messages(says("one", 0, "solo"), says("two", 1, "solo"))] == [None, None]


def test_what_a_compaction_left_is_a_user_message_and_nothing_before_it_is_lost() -> None:
    got = messages(told("go"), says("one"), told("Summary: one.", "meta", 0), says("two", 1))
    assert [(message.role, message.content) for message in got] == [
        ("user", "go"),
        ("assistant", "one"),
        ("user", "Summary: one."),
        ("assistant", "two"),
    ]


def test_results_come_right_after_their_calls_before_what_was_said_in_between() -> None:
    got = messages(calls("look", {}), told("wait!", turn=0), answers(0, "x"), says("ok", 1))
    assert [message.role for message in got] == ["assistant", "tool", "user", "assistant"]


def test_several_results_of_one_call_are_one_tool_message() -> None:
    got = messages(calls("look", {}), answers(0, "half"), answers(0, "rest"))
    assert got[1].content == "half\n\nrest"
    assert got[1].parts == (Part("content", 1, 0, 4), Part("content", 2, 6, 10))


def test_a_call_that_was_cut_out_of_the_text_is_a_call_like_any_other() -> None:
    raw = "<parameter=command>ls</parameter>"
    got = messages(says("I list."), calls("run", {"command": "ls"}, arguments_raw=raw, inferred=True), answers(1, "a"))
    assert got[0].content == "I list."
    assert [call.arguments for call in got[0].calls] == ['{"command":"ls"}']
    assert got[1].role == "tool"


def test_a_call_that_the_text_still_holds_is_not_said_twice() -> None:
    text = 'I look.\n<call>look {"a": 1}</call> Now.'
    got = messages(says(text), calls("look", {"a": 1}, arguments_raw='{"a": 1}', inferred=True), answers(1, "x"))
    start = text.index("{")
    assert [(message.role, message.content, message.calls) for message in got] == [
        ("assistant", text, ()),
        ("user", "x", ()),
    ]
    assert got[0].parts == (
        Part("content", 0, 0, start),
        Part("content", 1, start, start + 8),
        Part("content", 0, start + 8, len(text)),
    )


def test_two_equal_calls_in_one_text_own_their_own_characters() -> None:
    text = "look {1} look {1}"
    same: dict[str, Any] = {"name": "look", "arguments": None, "arguments_raw": "{1}", "inferred": True}
    got = messages(says(text), calls(**same), calls(**same))
    assert [(part.span, text[part.start : part.end]) for part in got[0].parts] == [
        (0, "look "),
        (1, "{1}"),
        (0, " look "),
        (2, "{1}"),
    ]


def test_a_logged_call_is_a_call_even_where_the_text_speaks_of_it() -> None:
    got = messages(says('I call look with {"a": 1}.'), calls("look", {"a": 1}, arguments_raw='{"a": 1}'))
    assert len(got[0].calls) == 1


def test_ids_are_unique_and_the_logs_own_where_they_can_be() -> None:
    spans = [
        calls("f", call_id="same", turn=0),
        answers(0, "x"),
        calls("f", call_id="same", turn=1),
        answers(2, "y", 1),
        calls("f", turn=2),
        answers(4, "z", 2),
        calls("f", call_id="call_4", turn=3),
    ]
    got = messages(*spans)
    ids = [call.id for message in got for call in message.calls]
    assert ids == ["same", "call_2", "call_4_", "call_4"]
    assert [message.call_id for message in got if message.role == "tool"] == ids[:3]


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        pytest.param([told("hi"), answers(None, "x", -1)], "span 1 is a result that answers no call", id="an orphan"),
        pytest.param(
            [calls("look"), says("on", 1), answers(0, "late", 1)],
            "span 2, a result of the call at span 0, came after the agent went on",
            id="a late result",
        ),
        pytest.param([calls(None)], "span 0 is a call that names no tool", id="a nameless call"),
    ],
)
def test_what_a_chat_has_no_place_for_is_refused_by_span(spans: list[Span], said: str) -> None:
    with pytest.raises(InputError, match=said):
        messages(*spans)


def test_tools_are_declared_as_the_log_declares_them() -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [Tool("look", "Looks.", parameters), Tool("act")]
    assert chat_tools(Trajectory(id="t", tools=tools, spans=[])) == [
        {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": parameters}},
        {"type": "function", "function": {"name": "act"}},
    ]


def test_messages_are_plain_json() -> None:
    got = dicts(told("hi"), thinks("hm"), calls("look", {"a": [1, None]}), answers(2, "x"), says("ok", 1))
    assert json.loads(json.dumps(got)) == got


def test_an_empty_transcript_has_no_messages() -> None:
    assert messages() == []
