"""Anthropic Messages: blocks, exchanges, streams."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_events, read_lines, read_one, refusals, texts
from trajcredit.errors import ParseError
from trajcredit.model import Reward, Trajectory

GO = {"role": "user", "content": "go"}


def use(call_id: str, name: str = "f", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def answer(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "model": "m", "content": list(blocks), **more}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def exchange(messages: list[Any], response: Any, **more: Any) -> dict[str, Any]:
    return {
        "request": {"model": "m", "max_tokens": 9, "system": "s", "messages": messages},
        "response": response,
        **more,
    }


def message(*blocks: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def test_parallel_results_in_one_user_message_are_no_user_turn_but_the_words_beside_them_are() -> None:
    back = message(
        result("b", is_error=True), result("a", [said("x"), said("y")], is_error=False), said("Go on."), role="user"
    )
    got = read_one({"messages": [GO, message(said("Two."), use("a"), use("b", "g")), back]})
    assert kinds(got) == ["user", "assistant", "tool_call", "tool_call", "tool_result", "tool_result", "user"]
    assert pairs(got) == [("g", "ok", True), ("f", "x\ny", False)]
    assert [span.turn for span in got.spans] == [-1, 0, 0, 0, 0, 0, 0]
    assert [span.message_index for span in got.spans] == [0, 1, 1, 1, 2, 2, 2]


def test_an_absent_error_flag_says_nothing_and_absent_content_is_no_text() -> None:
    got = read_one(
        {"messages": [GO, message(use("a")), message({"type": "tool_result", "tool_use_id": "a"}, role="user")]}
    )
    assert pairs(got) == [("f", "", None)]


def test_thoughts_are_reasoning_also_where_they_are_encrypted() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "x"}, said("hello")]
    got = read_one({"messages": [GO, message(*blocks)]})
    assert [(span.kind, span.text) for span in got.spans[1:]] == [
        ("reasoning", "hm"),
        ("reasoning", ""),
        ("assistant", "hello"),
    ]


@pytest.mark.parametrize(
    ("block", "text", "failed"),
    [
        pytest.param(
            {
                "type": "bash_code_execution_tool_result",
                "content": {"stdout": "4\n", "stderr": "w", "return_code": 0, "type": "bash_code_execution_result"},
            },
            "4\n\nw",
            False,
            id="a command that went well",
        ),
        pytest.param(
            {
                "type": "bash_code_execution_tool_result",
                "content": {"stdout": "", "return_code": 2, "type": "bash_code_execution_result"},
            },
            "",
            True,
            id="one that did not",
        ),
        pytest.param(
            {"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error", "error_code": "x"}},
            '{"type":"web_search_tool_result_error","error_code":"x"}',
            True,
            id="a search that failed",
        ),
        pytest.param(
            {"type": "mcp_tool_result", "is_error": False, "content": [said("fine")]},
            "fine",
            False,
            id="a server's tool",
        ),
    ],
)
def test_a_tool_that_the_provider_runs_answers_inside_the_message_and_a_new_turn_begins(
    block: dict[str, Any], text: str, failed: bool
) -> None:
    served = {"type": "server_tool_use", "id": "s", "name": "run", "input": {}}
    got = read_one({"messages": [GO, message(served, {**block, "tool_use_id": "s"}, said("Done."))]})
    assert pairs(got) == [("run", text, failed)]
    assert [(span.kind, span.turn) for span in got.spans[1:]] == [
        ("tool_call", 0),
        ("tool_result", 0),
        ("assistant", 1),
    ]


def test_exchanges_that_repeat_their_history_are_one_conversation() -> None:
    first = answer({"type": "thinking", "thinking": "hm"}, use("a"), usage={"input_tokens": 5, "output_tokens": 3})
    history = [GO, message(use("a")), message(result("a"), role="user")]  # the client dropped the thought
    got = read_one(exchange([GO], first), exchange(history, answer(said("Done.")), reward=1))
    assert kinds(got) == ["system", "user", "reasoning", "tool_call", "tool_result", "assistant"]
    assert [span.message_index for span in got.spans] == [None, 0, 1, 1, 2, 3]
    assert got.spans[2].usage == {"input_tokens": 5, "output_tokens": 3}
    assert (got.rewards, got.model) == ([Reward(1.0)], "m")


def test_conversations_that_are_mixed_up_are_told_apart_by_how_they_begin() -> None:
    ask = [{"role": "user", "content": text} for text in "xy"]
    got = read_lines(
        exchange([ask[0]], answer(use("a"))),
        exchange([ask[1]], answer(use("b"))),
        exchange([ask[0], message(use("a")), message(result("a", "1"), role="user")], answer(said("X."))),
        exchange([ask[1], message(use("b")), message(result("b", "2"), role="user")], answer(said("Y."))),
    )
    assert [texts(t, "assistant") for t in got if isinstance(t, Trajectory)] == [["X."], ["Y."]]
    assert [t.id for t in got if isinstance(t, Trajectory)] == ["a.jsonl#1", "a.jsonl#2"]


def test_equal_messages_later_in_a_conversation_are_not_taken_for_history() -> None:
    again = [GO, message(said("What?")), GO]
    got = read_one(exchange([GO], answer(said("What?"))), exchange(again, answer(said("What?"))))
    assert kinds(got) == ["system", "user", "assistant", "user", "assistant"]


def test_a_log_that_goes_on_in_two_ways_has_two_trajectories_and_says_so() -> None:
    back = message(result("a"), role="user")
    history = [GO, message(use("a")), back]
    got = read_lines(
        exchange([GO], answer(use("a"))),
        exchange(history, answer(said("One."))),
        exchange(history, answer(said("Two."))),
    )
    assert [texts(t, "assistant") for t in got if isinstance(t, Trajectory)] == [["One."], ["Two."]]
    assert [codes(t) for t in got if isinstance(t, Trajectory)] == [[], ["branched"]]


def test_one_prompt_answered_often_is_as_many_trajectories() -> None:
    got = read_lines(*(exchange([GO], answer(said("Same.")), reward=n) for n in range(3)))
    assert [t.rewards for t in got if isinstance(t, Trajectory)] == [[Reward(0.0)], [Reward(1.0)], [Reward(2.0)]]


def test_rows_of_a_data_set_are_never_joined() -> None:
    longer = [GO, message(use("a")), message(result("a"), role="user")]
    got = read_lines({"messages": longer[:2], "id": "x"}, {"messages": longer, "id": "y"})
    assert [t.id for t in got if isinstance(t, Trajectory)] == ["x", "y"]


def test_a_request_and_its_answer_on_two_lines_are_one_exchange() -> None:
    got = read_one({"max_tokens": 5, "system": "s", "messages": [GO]}, answer(said("Done."), id="msg_1"))
    assert kinds(got) == ["system", "user", "assistant"]
    assert got.id == "a.jsonl"


def test_an_answer_that_was_cut_off_is_truncated_if_it_is_the_last() -> None:
    got = read_one(exchange([GO], answer(said("x"), stop_reason="max_tokens")))
    assert got.truncated is True
    more = exchange([GO, message(said("x")), GO], answer(said("y"), stop_reason="end_turn"))
    assert read_one(exchange([GO], answer(said("x"), stop_reason="max_tokens")), more).truncated is None


def test_a_failed_request_leaves_its_error_and_gets_no_credit() -> None:
    got = read_one(exchange([GO], {"type": "error", "error": {"type": "x", "message": "try later"}}))
    assert [(span.kind, span.text) for span in got.spans[2:]] == [("meta", "try later")]
    assert codes(got) == ["run-error", "no-action"]


def test_messages_one_a_line_are_one_trajectory() -> None:
    got = read_one(GO, message(use("a")), message(result("a"), role="user"), message(said("Done.")))
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert [span.message_index for span in got.spans] == [0, 1, 2, 3]


def test_a_broken_record_costs_no_other() -> None:
    found = read_lines(
        {"messages": [GO, message(use("a"))]},
        b'{"messages": [{"role"',
        {"messages": 5},
        exchange([GO], answer(said("x"))),
    )
    assert [type(item) for item in found] == [ParseError, ParseError, Trajectory, Trajectory]
    assert [line for line, _ in refusals(found)] == [2, 3]
    assert refusals(found)[1][1] == "line 3: Expected `array | null`, got `int` - at `$.messages`"


def test_a_role_that_is_none_stands_without_credit() -> None:
    got = read_one({"messages": [GO, message(use("a")), {"role": "critic", "content": "bad"}]})
    assert kinds(got) == ["user", "tool_call", "meta"]
    assert "unknown-role" in codes(got)


START = {
    "type": "message_start",
    "message": {"role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 7, "output_tokens": 1}},
}
BLOCKS = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "h"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "m"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"n"'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "b", "name": "g", "input": {}},
    },
]
END = [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}}, {"type": "message_stop"}]


def test_the_events_of_a_stream_add_up_to_the_answer() -> None:
    got = read_events(START, *BLOCKS, {"type": "ping"}, *END)
    assert kinds(got) == ["reasoning", "tool_call", "tool_call"]
    assert got.spans[0].text == "hm"
    assert [(c.call_id, c.arguments) for c in calls(got)] == [("a", {"n": 1}), ("b", {})]
    assert got.spans[0].usage == {"input_tokens": 7, "output_tokens": 9}
    assert got.model == "m"
    ends = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    assert read_events(START, *BLOCKS, ends, END[1]).truncated is True


def test_a_stream_that_is_cut_keeps_what_came_with_the_arguments_as_they_stand() -> None:
    got = read_events(START, *BLOCKS[:6])
    [call] = calls(got)
    assert (call.arguments, call.arguments_raw) == (None, '{"n"')
    assert {"cut-stream", "broken-arguments"} <= set(codes(got))


def test_an_answer_with_the_marks_of_a_bare_list_is_read_as_such() -> None:
    got = read_one([GO, message(use("a")), message(result("a"), role="user")])
    assert got.source is not None
    assert (got.source.format, kinds(got)) == ("anthropic", ["user", "tool_call", "tool_result"])
