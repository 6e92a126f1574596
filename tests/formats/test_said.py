"""Messages of every framework -> the same pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from tests import laws
from trajcredit.errors import InputError
from trajcredit.formats.contexts import Context, Contexts, news
from trajcredit.formats.said import messages_of


def shown(value: Any, role: str = "user") -> list[tuple[str, ...]]:
    """Kind and text of every piece; of calls tool, id and arguments, of results also their call's id."""
    found: list[tuple[str, ...]] = []
    for piece in (piece for message in messages_of(value, role) for piece in message):
        if piece.arguments is not None:
            found.append((piece.kind, piece.name or "", piece.call_id or "", json.dumps(piece.arguments.value)))
        elif piece.kind == "tool_result":
            found.append((piece.kind, piece.text, piece.call_id or ""))
        else:
            found.append((piece.kind, piece.text))
    return found


OPENAI = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
    ],
}
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains."}]},
    ],
}
GEMINI = {
    "config": {"system_instruction": "Be brief."},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "look", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "c1", "name": "look", "response": "rain"}}]},
        {"role": "model", "parts": [{"text": "It rains."}]},
    ],
}
LANGCHAIN = [
    [
        {"type": "system", "content": "Be brief."},
        {"type": "human", "content": "Weather?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {"a": 1}, "id": "c1"}]},
        {"type": "tool", "content": "rain", "tool_call_id": "c1"},
        {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "It rains."}},
    ]
]
VERCEL = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"a": 1}}],
    },
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": "rain"}]},
    {"role": "assistant", "content": "It rains."},
]
BEDROCK = [
    {"role": "system", "content": [{"text": "Be brief."}]},
    {"role": "user", "content": [{"text": "Weather?"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "rain"}]}}]},
    {"role": "assistant", "content": [{"text": "It rains."}]},
]
PARTS = [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "rain"}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "It rains."}]},
]


@pytest.mark.parametrize("value", [OPENAI, ANTHROPIC, RESPONSES, GEMINI, LANGCHAIN, VERCEL, BEDROCK, PARTS])
@pytest.mark.parametrize("written", [lambda value: value, json.dumps])
def test_one_conversation_in_every_form(value: Any, written: Any) -> None:
    assert shown(written(value)) == [
        ("system", "Be brief."),
        ("user", "Weather?"),
        ("tool_call", "look", "c1", '{"a": 1}'),
        ("tool_result", "rain", "c1"),
        ("assistant", "It rains."),
    ]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("It rains.", id="text"),
        pytest.param({"choices": [{"message": {"role": "assistant", "content": "It rains."}}]}, id="choices"),
        pytest.param({"generations": [[{"text": "It rains."}]]}, id="generations of text"),
        pytest.param({"candidates": [{"content": {"role": "model", "parts": [{"text": "It rains."}]}}]}, id="Gemini"),
        pytest.param(
            {"content": {"role": "model", "parts": [{"text": "It rains."}]}, "finish_reason": "STOP"}, id="ADK"
        ),
        pytest.param(
            {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "It rains."}]}, id="A"
        ),
        pytest.param({"output": "It rains."}, id="a chain's output"),
        pytest.param([{"type": "text", "text": "It rains."}], id="bare blocks"),
    ],
)
def test_answers_in_every_form(value: Any) -> None:
    assert shown(value, "assistant") == [("assistant", "It rains.")]


def test_thoughts_stand_before_what_was_said() -> None:
    parts = [{"type": "text", "content": "Yes."}, {"type": "reasoning", "content": "Is it?"}]
    assert shown([{"role": "assistant", "parts": parts}]) == [("reasoning", "Is it?"), ("assistant", "Yes.")]
    assert shown("<think>Is it?</think>Yes.", "assistant") == [("reasoning", "Is it?"), ("assistant", "Yes.")]
    summary = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Is it?"}]}
    assert shown([summary])[0][0] == "reasoning"


def test_a_role_that_is_the_name_of_a_called_tool_is_a_result() -> None:
    [*_, last] = messages_of([*OPENAI[:3], {"role": "look", "content": "rain"}])
    assert [(piece.kind, piece.name, piece.text) for piece in last] == [("tool_result", "look", "rain")]
    [[odd]] = messages_of([{"role": "critic", "content": "Hm."}])
    assert (odd.kind, odd.odd_role) == ("user", "critic")


def test_an_object_that_is_no_message_is_kept_as_json() -> None:
    assert shown({"question": "Weather?"}) == [("user", '{"question":"Weather?"}')]


@given(value=laws.json_values)
def test_no_value_makes_it_crash(value: Any) -> None:
    try:
        found = messages_of(value)
    except InputError:
        return
    assert all(message for message in found)


# ---------------------------------------------------------------- contexts


def keys(text: str) -> list[tuple[str, ...]]:
    """S: a system prompt, capitals: what the user says, the rest: answers."""
    return [("system" if c == "S" else "user" if c.isupper() else "assistant", c) for c in text]


@pytest.mark.parametrize(
    ("known", "request_", "scope", "how"),
    [
        ("SAb", "SAbC", "here", "extends"),
        ("SAb", "SAb", "here", "extends"),
        ("SAb", "SAbC", "elsewhere", "extends"),
        ("SAb", "SA", "here", "branches"),
        ("SAb", "SA", "elsewhere", None),
        ("SAb", "SAcD", "here", "branches"),
        ("SAb", "SXbD", "here", "rewrites"),
        ("SAb", "bD", "elsewhere", "rewrites"),
        ("SAb", "SXD", "here", None),
    ],
)
def test_what_a_request_goes_on_with(known: str, request_: str, scope: str, how: str | None) -> None:
    contexts = Contexts()
    contexts.add(Context(0, "here", keys(known), answer=1))
    found = contexts.find(keys(request_), scope)
    assert (found.how if found else None) == how


def test_rather_all_of_a_context_than_a_part() -> None:
    contexts = Contexts()
    for owner, known in enumerate(("SAb", "SAbCd", "SAbEf")):
        contexts.add(Context(owner, "here", keys(known), answer=1))
    found = contexts.find(keys("SAbCdG"), "here")
    assert found is not None
    assert (found.context.owner, found.shared) == (1, 5)


@pytest.mark.parametrize(
    ("request_", "new"),
    [("SAbC", "C"), ("SXAbC", "XC"), ("SbAC", "AC"), ("SAAb", "A"), ("XY", "XY"), ("", "")],
)
def test_of_a_rewritten_context_what_is_not_next_is_new(request_: str, new: str) -> None:
    fresh = news(list(keys(request_)), keys("SAb"))
    assert "".join(c for c, is_new in zip(request_, fresh, strict=True) if is_new) == new
