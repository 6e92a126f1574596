"""Chats that look like OpenAI's and are none: read as what they are, refused by name where they are called OpenAI's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.test_openai_chat import DONE, GO, call, read_one
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.formats.chat import OTHER_FORMS
from trajcredit.model import Trajectory

TOOL_USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "f", "input": {}}]}
PARTS = {"role": "user", "parts": [{"text": "go"}]}


def named(role: str, name: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": "x", "name": name, **more}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        *(
            pytest.param(
                {"messages": [GO, {"role": role, "content": [{"type": "text", "text": "x"}, {"type": block}]}]},
                f"an Anthropic log: messages[1] holds a `{block}` block",
                id=f"{block} of {role}",
            )
            for role, block in [
                ("assistant", "tool_use"),
                ("user", "tool_result"),
                ("assistant", "thinking"),
                ("assistant", "redacted_thinking"),
                ("assistant", "server_tool_use"),
                ("assistant", "web_search_tool_result"),
                ("tool", "tool_result"),
            ]
        ),
        pytest.param(
            {"messages": [GO, DONE], "system": "Be kind.", "max_tokens": 5},
            "an Anthropic log: `system` and `max_tokens` stand beside the messages",
            id="a system prompt beside the messages",
        ),
        pytest.param({"messages": [GO, PARTS]}, "a Gemini log: messages[1] has `parts`", id="parts"),
        pytest.param(
            {"messages": [{"role": "tool", "parts": []}]}, "a Gemini log: messages[0] has `parts`", id="parts of a tool"
        ),
        pytest.param(
            {"messages": [{"role": "assistant", "parts": []}]},
            "a Gemini log: messages[0] has `parts`",
            id="parts of an answer",
        ),
        pytest.param(
            {"messages": [GO, {"role": "model", "parts": [{"text": "x"}]}]},
            "a Gemini log: messages[1] has `parts`",
            id="the role of Gemini",
        ),
        pytest.param(
            {"messages": [GO, {"role": "human", "content": "x"}]},
            "a group chat: messages[1]: no chat has a role 'human': kept without credit; known: system",
            id="a role that no chat has",
        ),
        pytest.param(
            {"messages": [GO, named("user", "Surfer"), named("assistant", "Coder"), named("user", "Coder")]},
            "a group chat: Coder, Surfer speak, and none calls a tool",
            id="two names",
        ),
        pytest.param([named("user", "b"), named("user", "a")], "a group chat: a, b speak", id="in a bare list"),
    ],
)
def test_a_chat_of_another_form_is_refused_by_its_name(row: Any, reason: str) -> None:
    rows = [row, {"messages": [GO, DONE]}] if isinstance(row, dict) else [row, [GO, DONE]]
    [found, good] = read_bytes(json.dumps(rows).encode(), "a.json", format="openai_chat")
    assert isinstance(found, ParseError)
    assert found.reason.startswith(f"record 1: {reason}")
    other = next(name for name, what in OTHER_FORMS.items() if what in reason)
    assert found.reason.endswith(f"; read it with format={other}")
    assert isinstance(good, Trajectory)


@pytest.mark.parametrize(
    ("row", "format", "kinds"),
    [
        pytest.param({"messages": [GO, TOOL_USE]}, "anthropic", ["user", "tool_call"], id="a block of Anthropic"),
        pytest.param(
            {"contents": [PARTS, {"role": "model", "parts": [{"text": "x"}]}]},
            "gemini",
            ["user", "assistant"],
            id="contents of Gemini",
        ),
        pytest.param(
            {"messages": [GO, named("user", "Surfer"), named("assistant", "Coder")]},
            "who_and_when",
            ["user", "assistant", "assistant"],
            id="two names",
        ),
        pytest.param([named("user", "b"), named("user", "a")], "who_and_when", ["assistant"] * 2, id="a bare list"),
        pytest.param(
            {"messages": [{"role": "human", "content": "x"}, {"role": "Orchestrator (thought)", "content": "y"}]},
            "who_and_when",
            ["user", "assistant"],
            id="roles that no chat has",
        ),
    ],
)
def test_a_chat_of_another_form_is_read_as_what_it_is(row: Any, format: str, kinds: list[str]) -> None:
    found = read_one(row)
    assert found.source is not None
    assert found.source.format == format
    assert [span.kind for span in found.spans] == kinds


def test_lines_of_a_group_chat_are_one_trajectory() -> None:
    data = b"\n".join(json.dumps(named("user", name)).encode() for name in "ab")
    [found] = read_bytes(data, "a.jsonl")
    assert isinstance(found, Trajectory)
    assert [span.agent for span in found.spans] == ["a", "b"]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [named("user", "a"), named("assistant", "b", tool_calls=[call("1", "f", "{}")])], id="with a call"
        ),
        pytest.param(
            [named("user", "a"), named("assistant", "b"), {"role": "tool", "name": "f", "content": "4"}],
            id="with a result",
        ),
        pytest.param([named("system", "example_user"), named("system", "example_assistant"), GO, DONE], id="examples"),
        pytest.param([named("user", "a"), DONE, named("user", "a")], id="one name"),
        pytest.param([GO, DONE | {"thinking": "x", "parts": None}], id="a key of thought is no block of it"),
        pytest.param([GO, {"role": "assistant", "content": [{"type": "image_url"}, {"type": "x"}]}], id="other parts"),
    ],
)
def test_what_is_no_other_form(messages: list[Any]) -> None:
    assert isinstance(read_one({"messages": messages, "system": "x"}), Trajectory)
