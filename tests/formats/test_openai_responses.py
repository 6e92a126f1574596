"""OpenAI Responses: items, chained requests, hosted tools, streams."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_events, read_lines, read_one, refusals, texts
from trajcredit.model import Reward, Trajectory

GO = {"role": "user", "content": "go"}


def call(call_id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, text: Any = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def response(*items: Any, **more: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "model": "m", "output": list(items), **more}


def request(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items), **more}


def test_results_are_paired_by_the_call_id_not_by_that_of_the_item() -> None:
    got = read_one(
        request(GO, call("a"), call("b", "g"), output("b", "2"), output("a", [{"type": "input_text", "text": "1"}]))
    )
    assert pairs(got) == [("g", "2", None), ("f", "1", None)]
    assert [(span.kind, span.turn, span.message_index) for span in got.spans] == [
        ("user", -1, 0),
        ("tool_call", 0, 1),
        ("tool_call", 0, 2),
        ("tool_result", 0, 3),
        ("tool_result", 0, 4),
    ]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        pytest.param({"summary": [{"type": "summary_text", "text": "a"}, {"text": "b"}]}, "a\n\nb", id="a summary"),
        pytest.param(
            {"content": [{"type": "reasoning_text", "text": "all"}], "summary": [{"text": "a"}]}, "all", id="all"
        ),
        pytest.param({"summary": [], "encrypted_content": "x"}, "", id="encrypted"),
        pytest.param({"summary": 0.5}, "", id="nonsense"),
    ],
)
def test_reasoning_is_kept_as_far_as_it_can_be_read(item: dict[str, Any], text: str) -> None:
    got = read_one(request(GO, {"type": "reasoning", **item}, call("a")))
    assert [(span.kind, span.text, span.turn) for span in got.spans[1:]] == [
        ("reasoning", text, 0),
        ("tool_call", "", 0),
    ]


@pytest.mark.parametrize(
    ("item", "name", "arguments", "failed"),
    [
        pytest.param(
            {"type": "mcp_call", "name": "ask", "arguments": '{"q": 1}', "output": "4"}, "ask", {"q": 1}, None, id="mcp"
        ),
        pytest.param(
            {"type": "mcp_call", "name": "ask", "arguments": "{}", "error": "4"}, "ask", {}, True, id="mcp that failed"
        ),
        pytest.param(
            {"type": "code_interpreter_call", "code": "2+2", "outputs": "4", "status": "completed"},
            "code_interpreter",
            {"code": "2+2"},
            False,
            id="code",
        ),
        pytest.param(
            {"type": "web_search_call", "action": {"query": "x"}, "results": "4", "status": "failed"},
            "web_search",
            {"query": "x"},
            True,
            id="a search that failed",
        ),
    ],
)
def test_a_hosted_tool_is_call_and_result_at_once(
    item: dict[str, Any], name: str, arguments: Any, failed: bool | None
) -> None:
    got = read_one(request(GO, {"id": "h", **item}, said("Done.")))
    assert [(c.name, c.arguments, c.call_id) for c in calls(got)] == [(name, arguments, "h")]
    assert pairs(got) == [(name, "4", failed)]
    assert got.spans[-1].turn == 1


def test_free_text_and_nameless_tools_keep_their_arguments() -> None:
    got = read_one(
        request(
            GO,
            {"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls -l"},
            {"type": "local_shell_call", "call_id": "b", "action": {"command": ["ls"]}},
            {"type": "custom_tool_call_output", "call_id": "a", "output": "x"},
            {"type": "local_shell_call_output", "call_id": "b", "output": "y"},
        )
    )
    assert [(c.name, c.arguments, c.arguments_raw) for c in calls(got)] == [
        ("sh", None, "ls -l"),
        ("local_shell", {"command": ["ls"]}, None),
    ]
    assert pairs(got) == [("sh", "x", None), ("local_shell", "y", None)]


def test_an_item_that_nobody_knows_is_kept_whole() -> None:
    got = read_one(request(GO, {"type": "moon_phase", "phase": "new"}, said("x")))
    assert [(span.kind, span.text) for span in got.spans] == [
        ("user", "go"),
        ("meta", '{"type":"moon_phase","phase":"new"}'),
        ("assistant", "x"),
    ]
    assert codes(got) == ["unknown-item"]


def test_requests_that_go_on_from_an_answer_are_one_conversation() -> None:
    got = read_one(
        {"request": request(GO, instructions="s"), "response": response(call("a"), id="r1", created_at=1_900_000_000)},
        {
            "request": request(output("a"), instructions="s", previous_response_id="r1"),
            "response": response(said("Done."), id="r2", usage={"input_tokens": 3, "output_tokens": 2}),
            "reward": 0.5,
        },
    )
    assert kinds(got) == ["system", "user", "tool_call", "tool_result", "assistant"]
    assert [span.message_index for span in got.spans] == [None, 0, 1, 2, 3]
    assert got.spans[2].started_at == "2030-03-17T17:46:40Z"
    assert got.spans[-1].usage == {"input_tokens": 3, "output_tokens": 2}
    assert (got.rewards, got.model) == ([Reward(0.5)], "m")


def test_requests_that_repeat_their_history_are_one_conversation_too() -> None:
    reasoning = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    got = read_one(
        {"request": request(GO), "response": response(reasoning, call("a", arguments='{"n":1}'))},
        {"request": request(GO, call("a", arguments='{"n": 1}'), output("a")), "response": response(said("Done."))},
    )
    assert kinds(got) == ["user", "reasoning", "tool_call", "tool_result", "assistant"]


def test_an_answer_that_the_log_does_not_hold_is_named() -> None:
    got = read_one({"request": request(output("a"), previous_response_id="r0"), "response": response(said("x"))})
    assert codes(got) == ["unknown-history", "orphan-result"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"status": "failed", "error": {"code": "x", "message": "try later"}}, id="failed"),
        pytest.param({"status": "incomplete", "incomplete_details": {"message": "try later"}}, id="incomplete"),
    ],
)
def test_a_response_that_failed_says_so(more: dict[str, Any]) -> None:
    got = read_one({"request": request(GO), "response": response(**more)})
    assert texts(got, "meta") == ["try later"]
    assert got.truncated is (True if more["status"] == "incomplete" else None)
    assert "run-error" in codes(got)


def test_a_response_alone_and_items_alone_are_read() -> None:
    assert kinds(read_one(response(call("a")))) == ["tool_call"]
    assert kinds(read_one([GO, call("a"), output("a")])) == ["user", "tool_call", "tool_result"]
    assert kinds(read_one(GO, call("a"), output("a"))) == ["user", "tool_call", "tool_result"]


def test_a_broken_record_costs_no_other() -> None:
    found = read_lines(request(GO, call("a")), {"model": "m", "input": 5}, request(GO, said("x")))
    assert [isinstance(item, Trajectory) for item in found] == [False, True, True]
    assert refusals(found) == [(2, "line 2: Expected `str | array | null`, got `int` - at `$.input`")]


def test_the_last_event_of_a_stream_holds_the_response() -> None:
    got = read_events(
        {"type": "response.created", "response": {"object": "response", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": call("a")},
        {"type": "response.completed", "response": response(call("a"), said("x"))},
    )
    assert kinds(got) == ["tool_call", "assistant"]


def test_a_stream_that_is_cut_keeps_the_items_that_were_done() -> None:
    got = read_events(
        {"type": "response.created", "response": {"object": "response", "output": [], "model": "m"}},
        {"type": "response.output_item.done", "output_index": 1, "item": call("b")},
        {"type": "response.output_item.done", "output_index": 0, "item": call("a")},
        {"type": "response.output_text.delta", "delta": "x"},
    )
    assert [c.call_id for c in calls(got)] == ["a", "b"]
    assert "cut-stream" in codes(got)
