"""ShareGPT rows and those that are near to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts


def row(*turns: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": speaker, "value": value} for speaker, value in turns], **more}


def test_calls_and_observations_and_the_tools_as_json_text() -> None:
    call = json.dumps({"name": "ring", "arguments": {"times": 3}})
    got = read_one(
        row(
            ("human", "go"),
            ("gpt", "Ringing."),
            ("function_call", call),
            ("observation", "rung"),
            ("gpt", "Done."),
            system="s",
            tools='[{"name": "ring"}]',
        )
    )
    assert kinds(got) == ["system", "user", "assistant", "tool_call", "tool_result", "assistant"]
    assert [(span.turn, span.message_index) for span in got.spans] == [
        (-1, None),
        (-1, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 4),
    ]
    assert pairs(got) == [("ring", "rung", None)]
    assert [tool.name for tool in got.tools] == ["ring"]


def test_parallel_calls_and_their_answers_in_one_list() -> None:
    call = json.dumps([{"name": "f", "arguments": {}}, {"name": "g", "arguments": '{"n": 1}'}])
    answers = json.dumps([{"name": "g", "content": "2"}, {"name": "f", "content": "1"}])
    got = read_one(row(("human", "go"), ("function_call", call), ("observation", answers)))
    assert [(c.name, c.arguments) for c in calls(got)] == [("f", {}), ("g", {"n": 1})]
    assert pairs(got) == [("g", "2", None), ("f", "1", None)]


@pytest.mark.parametrize(
    "answer",
    [pytest.param('["a", "b"]', id="texts"), pytest.param('[{"n": 1}]', id="rows"), pytest.param("[1", id="broken")],
)
def test_a_list_that_is_one_result_stays_one(answer: str) -> None:
    got = read_one(row(("human", "go"), ("function_call", '{"name": "f"}'), ("observation", answer)))
    assert pairs(got) == [("f", answer, None)]


def test_a_call_that_is_no_json_is_kept_as_it_stands() -> None:
    got = read_one(row(("human", "go"), ("function_call", '{"name": "f", "argu'), ("observation", "x")))
    assert [(c.name, c.arguments_raw) for c in calls(got)] == [(None, '{"name": "f", "argu')]
    assert pairs(got) == [(None, "x", None)]


def test_calls_in_tags_and_thoughts_in_the_text() -> None:
    text = '<think>hm</think>Ok.<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    got = read_one(row(("human", "go"), ("gpt", text), ("tool", "<tool_response>1</tool_response>")))
    assert kinds(got) == ["user", "reasoning", "assistant", "tool_call", "tool_result"]
    assert pairs(got) == [("f", "1", None)]


def test_rows_of_ms_swift_and_parts_with_values() -> None:
    got = read_one(
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "value": "go"}]},
                {
                    "role": "assistant",
                    "content": [{"type": "reasoning", "value": "hm"}, {"type": "tool_call", "value": '{"name": "f"}'}],
                },
                {"role": "tool_response", "content": "1"},
                {"role": "tool_call", "content": '{"name": "g"}'},
                {"role": "tool_response", "content": "2"},
            ]
        }
    )
    assert kinds(got) == ["user", "reasoning", "tool_call", "tool_result", "tool_call", "tool_result"]
    assert texts(got, "user") == ["go"]
    assert pairs(got) == [("f", "1", None), ("g", "2", None)]


def test_somebody_unknown_stands_without_credit() -> None:
    got = read_one(row(("human", "go"), ("gpt", "x"), ("parrot", "Ahoy!")))
    assert (kinds(got), codes(got)) == (["user", "assistant", "meta"], ["unknown-role"])


def test_a_broken_row_costs_no_other() -> None:
    found = read_lines(
        row(("human", "go"), ("gpt", "x")), {"conversations": [{"from": 5}]}, row(("human", "a"), ("gpt", "b"))
    )
    assert refusals(found) == [(2, "line 2: Expected `str | null`, got `int` - at `$.conversations[0].from`")]
    assert len(found) == 3
