"""OpenAI Chat Completions logs: exchanges, choices, tokens, chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_events, read_lines, read_one, refusals, texts
from trajcredit.formats import read_bytes
from trajcredit.model import SpanTokens, Trajectory, TurnTokens

GO = {"role": "user", "content": "go"}


def call(call_id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def says(content: Any = None, *tool_calls: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(tool_calls) or None, **more}


def response(*messages: Any, **more: Any) -> dict[str, Any]:
    choices = [{"index": i, "message": message, "finish_reason": "stop"} for i, message in enumerate(messages)]
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": choices, **more}


def test_exchanges_that_repeat_their_history_are_one_conversation() -> None:
    back = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    got = read_one(
        {"request": {"messages": [GO]}, "response": response(says(None, call("a", arguments='{"n":1}')))},
        {
            "request": {"messages": [GO, says("", call("a", arguments='{"n": 1}')), back]},
            "response": response(says("Done.")),
        },
    )
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert got.id == "a.jsonl"


def test_a_completion_log_has_messages_response_and_cost_side_by_side() -> None:
    row = {
        "messages": [GO],
        "response": response(says("Done."), usage={"prompt_tokens": 3, "completion_tokens": 2}, created=1_900_000_000),
        "kwargs": {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "cost": 0.25,
    }
    got = read_one(row)
    assert got.spans[1].usage == {"input_tokens": 3, "output_tokens": 2, "cost": 0.25}
    assert got.spans[1].started_at == "2030-03-17T17:46:40Z"
    assert [tool.name for tool in got.tools] == ["f"]


def test_messages_whose_calls_are_no_text_are_taken_where_the_log_has_both() -> None:
    raw = [GO, says("x", call("a")), {"role": "tool", "tool_call_id": "a", "content": "ok"}]
    text = [GO, says("x <function=f></function>"), {"role": "user", "content": "EXECUTION RESULT of [f]:\nok"}]
    got = read_one({"messages": text, "raw_messages": raw, "response": response(says("Done."))})
    assert pairs(got) == [("f", "ok", None)]
    assert not any(span.inferred for span in got.spans)


def test_several_answers_are_a_group_with_one_beginning() -> None:
    got = read_lines({"request": {"messages": [GO]}, "response": response(says("One."), says("Two."))})
    found = [t for t in got if isinstance(t, Trajectory)]
    assert [texts(t, "assistant") for t in found] == [["One."], ["Two."]]
    assert len({t.group for t in found}) == 1
    assert [t.id for t in found] == [f"{found[0].group}:choice-0", f"{found[0].group}:choice-1"]


def test_the_choice_that_was_taken_goes_on() -> None:
    got = read_lines(
        {"request": {"messages": [GO]}, "response": response(says("One."), says("Two."))},
        {"request": {"messages": [GO, says("Two."), GO]}, "response": response(says("Three."))},
    )
    assert [texts(t, "assistant") for t in got if isinstance(t, Trajectory)] == [["One."], ["Two.", "Three."]]


def test_tokens_of_a_turn_are_kept_and_those_of_its_only_span() -> None:
    answer = response(says("ab"), prompt_token_ids=[1, 2])
    logprobs = {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -0.25}]}
    answer["choices"][0] |= {"token_ids": [3, 4], "logprobs": logprobs}
    got = read_one({"request": {"messages": [GO]}, "response": answer})
    assert got.turns == [TurnTokens(0, [1, 2], [3, 4], [-0.5, -0.25])]
    assert got.spans[1].tokens == SpanTokens([3, 4], [-0.5, -0.25])
    answer["choices"][0]["message"] = says("a", call("x"))
    assert [span.tokens for span in read_one({"request": {"messages": [GO]}, "response": answer}).spans] == [None] * 3


def test_a_failed_request_leaves_its_error() -> None:
    got = read_one({"request": {"messages": [GO]}, "response": {"choices": [], "error": {"message": "try later"}}})
    assert texts(got, "meta") == ["try later"]


def test_an_answer_of_the_most_tokens_is_truncated() -> None:
    assert read_events(chunk({"content": "x"}, "length")).truncated is True
    assert read_events(chunk({"content": "x"}, "stop")).truncated is None


def test_a_gateway_may_ask_in_the_form_of_another_api() -> None:
    asked = {"messages": [GO], "system": "s", "max_tokens": 9}
    got = read_one({"request": asked, "response": response(says("x"))})
    assert got.source is not None
    assert got.source.format == "openai_completions"


def test_an_empty_call_id_is_none() -> None:
    assert [c.call_id for c in calls(read_one(response(says(None, call("")))))] == [None]


def test_a_broken_record_costs_no_other() -> None:
    good = {"request": {"messages": [GO]}, "response": response(says("x"))}
    found = read_lines(good, {"request": {"messages": [5]}, "response": response()}, {"other": 1})
    assert refusals(found) == [
        (2, "line 2: Expected `object`, got `int` - at `$.request.messages[0]`"),
        (3, "line 3: neither `request` nor `messages` nor `response` nor `choices`: no log of this API"),
    ]
    assert isinstance(found[-1], Trajectory)


def chunk(delta: dict[str, Any], end: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": end}
    return {"id": "s", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def piece(text: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"arguments": text}, **more}]}


def begins(call_id: str, name: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "function": {"name": name, "arguments": text}, **more}]}


@pytest.mark.parametrize(
    ("deltas", "wanted"),
    [
        pytest.param(
            [begins("a", "f", index=0), piece('{"n"', index=0, id=""), piece(": 1}", index=0)],
            [("a", {"n": 1})],
            id="index 0, empty ids",
        ),
        pytest.param(
            [begins("a", "f", '{"n": 1}'), begins("b", "g", '{"n": 2}')],
            [("a", {"n": 1}), ("b", {"n": 2})],
            id="no index, two ids",
        ),
        pytest.param(
            [begins("a", "f", '{"n"'), piece(": 1}")], [("a", {"n": 1})], id="no index, no id: the last call goes on"
        ),
        pytest.param(
            [begins("a", "f", '{"n": 1}', index=0), begins("b", "g", '{"n": 2}', index=0)],
            [("a", {"n": 1}), ("b", {"n": 2})],
            id="one index for all, another id",
        ),
        pytest.param(
            [begins("a", "f", index=0), begins("b", "g", index=1), piece("{}", index=1), piece('{"n": 1}', index=0)],
            [("a", {"n": 1}), ("b", {})],
            id="pieces of two calls in turn",
        ),
    ],
)
@pytest.mark.parametrize("as_events", [True, False])
def test_pieces_of_calls_are_joined(deltas: list[Any], wanted: list[Any], as_events: bool) -> None:
    chunks = [*map(chunk, deltas), chunk({}, "tool_calls")]
    got = read_events(*chunks) if as_events else read_one(*chunks)
    assert [(c.call_id, c.arguments) for c in calls(got)] == wanted


def test_text_thought_usage_and_tokens_of_a_stream_add_up() -> None:
    first = chunk({"content": "a", "reasoning_content": "h"})
    first["choices"][0] |= {"token_ids": [1], "logprobs": {"content": [{"logprob": -0.5}]}}
    second = chunk({"content": "b", "reasoning_content": "m"}, "stop")
    second["choices"][0] |= {"token_ids": [2], "logprobs": {"content": [{"logprob": -0.25}]}}
    total = {
        "id": "s",
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    got = read_events(first, second, total)
    assert [(span.kind, span.text) for span in got.spans] == [("reasoning", "hm"), ("assistant", "ab")]
    assert got.turns == [TurnTokens(0, None, [1, 2], [-0.5, -0.25])]
    assert got.spans[0].usage == {"input_tokens": 1, "output_tokens": 2}
    assert codes(got) == []


def test_streams_that_are_mixed_are_told_apart_by_their_id_and_a_cut_one_says_so() -> None:
    other = {**chunk({"content": "2"}, "stop"), "id": "t"}
    found = [t for t in read_lines(chunk({"content": "1"}), other) if isinstance(t, Trajectory)]
    assert [texts(t, "assistant") for t in found] == [["1"], ["2"]]
    assert [codes(t) for t in found] == [["cut-stream"], []]


def test_a_request_with_the_chunks_of_its_answer() -> None:
    got = read_one(
        {"request": {"messages": [GO]}, "response": [chunk({"content": "Do"}), chunk({"content": "ne."}, "stop")]}
    )
    assert texts(got, "assistant") == ["Done."]


def test_an_event_that_is_broken_is_named_by_its_line() -> None:
    good = json.dumps(chunk({"content": "x"}, "stop")).encode()
    found = list(read_bytes(b"data: " + good + b"\n\ndata: {broken\n\n", "a.sse"))
    assert refusals(found)[0][0] == 3
    assert isinstance(found[-1], Trajectory)
