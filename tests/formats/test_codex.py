"""Codex: rollout files, and what `codex exec --json` prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.outline import codes, errors, found, jsonl, outline, read_one
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import SpawnedBy, Trajectory


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T08:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **fields)


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **fields)


def tokens(total: int, last: int) -> dict[str, Any]:
    counts = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": last, "reasoning_output_tokens": 1}
    return event("token_count", info={"total_token_usage": {"output_tokens": total}, "last_token_usage": counts})


META = line("session_meta", id="cx", cwd="/w")


def test_items_are_the_transcript_and_events_repeat_them() -> None:
    rows = [
        META,
        message("user", "Go."),
        event("user_message", message="Go."),
        event("agent_message", message="On it."),
        message("assistant", "On it."),
        item("function_call", id="fc_1", call_id="call_1", name="shell", arguments='{"command": ["ls"]}'),
        item("function_call", id="fc_2", call_id="call_2", name="shell", arguments="[REDACTED]"),
        item("function_call_output", call_id="call_2", output="two"),
        item("function_call_output", call_id="call_1", output="one"),
        message("assistant", "Done."),
        event("agent_message", message="Done."),
    ]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory) == [
        "-1 user Go.",
        "0 assistant On it.",
        "0 tool_call shell",
        "0 tool_call shell",
        "0 tool_result shell of 3 two",
        "0 tool_result shell of 2 one",
        "1 assistant Done.",
    ]
    assert codes(trajectory) == ["broken-arguments"]
    assert trajectory.spans[3].arguments_raw == "[REDACTED]"
    assert [span.message_index for span in trajectory.spans] == [1, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("output", "text", "error"),
    [
        pytest.param("plain", "plain", None, id="plain text says nothing"),
        pytest.param('{"output": "x", "metadata": {"exit_code": 0}}', "x", False, id="the older form, fine"),
        pytest.param('{"output": "x", "metadata": {"exit_code": 2}}', "x", True, id="the older form, failed"),
        pytest.param('{"metadata": 1}', '{"metadata": 1}', None, id="JSON of the tool itself"),
        pytest.param("Wall time: 1\nProcess exited with code 0\nok", None, False, id="the newer form, fine"),
        pytest.param("Wall time: 1\nProcess exited with code 127\nno", None, True, id="the newer form, failed"),
        pytest.param("x" * 400 + "Process exited with code 1" + "x" * 400, None, None, id="words inside are no header"),
    ],
)
def test_how_a_shell_says_that_it_failed(output: str, text: str | None, error: bool | None) -> None:
    call = item("function_call", call_id="c", name="shell", arguments="{}")
    [_, result] = read_one(jsonl([META, call, item("function_call_output", call_id="c", output=output)])).spans
    assert (result.text, result.error) == (output if text is None else text, error)


def test_what_the_program_says_in_the_users_name_is_not_the_user() -> None:
    told = [META, message("user", "# AGENTS.md"), message("user", "Go."), event("user_message", message="Go.")]
    told += [message("user", "More context."), message("assistant", "Done.")]
    trajectory = read_one(jsonl(told))
    assert [span.kind for span in trajectory.spans] == ["system", "user", "system", "assistant"]
    assert codes(trajectory) == ["injected-context"]
    untold = [row for row in told if row["type"] != "event_msg"]
    assert [span.kind for span in read_one(jsonl(untold)).spans] == ["system", "user", "user", "assistant"]


def test_an_event_that_comes_first_is_of_the_message_after_it() -> None:
    rows = [META, message("user", "Context."), line("turn_context", model="m"), event("user_message", message="Go.")]
    rows += [message("user", "Go."), message("assistant", "Done.")]
    assert [span.kind for span in read_one(jsonl(rows)).spans] == ["system", "user", "assistant"]


def test_token_counts_are_of_the_turn_before_them_and_count_once() -> None:
    call = item("function_call", call_id="c", name="shell", arguments="{}")
    rows = [META, item("reasoning", summary=[], encrypted_content="x"), call, tokens(5, 5), tokens(5, 5)]
    rows += [item("function_call_output", call_id="c", output=""), message("assistant", "Done."), tokens(8, 3)]
    trajectory = read_one(jsonl(rows))
    first = {"input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 1, "cached_tokens": 4}
    assert [span.usage for span in trajectory.spans] == [first, None, None, first | {"output_tokens": 3}]


def test_a_session_that_another_started_and_one_that_was_stopped() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    rows = [line("session_meta", id="cx", source=source), item("function_call", call_id="c", name="f", arguments="{}")]
    trajectory = read_one(jsonl([*rows, event("turn_aborted", reason="interrupted")]))
    assert (trajectory.parent, trajectory.role) == (SpawnedBy("parent"), "sub-agent")
    assert codes(trajectory) == ["aborted-turn", "unanswered-call"]


def test_a_bad_line_is_an_error_and_the_rest_goes_on() -> None:
    data = jsonl([META, {"type": "response_item", "payload": 5}, message("assistant", "Done.")])
    assert errors(data) == ["log.json: line 2: Expected `object`, got `int`"]


def test_items_in_one_object() -> None:
    items = [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    trajectory = read_one({"items": [*items, {"type": "function_call_output", "call_id": "c", "output": "x"}]})
    assert outline(trajectory) == ["0 tool_call f", "0 tool_result f of 0 x"]
    assert [span.message_index for span in trajectory.spans] == [0, 1]


# ---------------------------------------------------------------- codex exec


def done(kind: str, ref: str = "i", **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": ref, "type": kind, **fields}}


def test_exec_items_are_calls_with_what_came_back() -> None:
    rows = [
        {"type": "thread.started", "thread_id": "th"},
        {"type": "turn.started"},
        done("agent_message", "i0", text="On it."),
        {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "ls"}},
        done("command_execution", "i1", command="ls", aggregated_output="no", exit_code=2, status="failed"),
        done("mcp_tool_call", "i2", server="d", tool="find", arguments={}, result={"content": [{"text": "x"}]}),
        done("brand_new", "i3", text="?"),
        done("agent_message", "i4", text="Done."),
        {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}},
        {"type": "turn.failed", "error": {"message": "limit"}},
    ]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory) == [
        "0 assistant On it.",
        "0 tool_call command_execution",
        "0 tool_result command_execution of 1 ! no",
        "1 tool_call mcp__d__find",
        "1 tool_result mcp__d__find of 3 x",
        '1 meta {"id":"i3","type":"brand_new","text":"?"}',
        "2 assistant Done.",
    ]
    assert codes(trajectory) == ["no-prompt", "run-error", "unknown-item"]
    assert trajectory.spans[0].usage == {"input_tokens": 9, "output_tokens": 2, "cached_tokens": 4}
    assert trajectory.id == "th"


def test_exec_events_in_one_object_are_read_as_well() -> None:
    assert outline(read_one({"events": [done("agent_message", text="Done.")]})) == ["0 assistant Done."]


def test_no_other_log_with_a_type_is_taken_for_codex() -> None:
    row = {"type": "turn.started", "messages": [{"role": "user", "content": "Hi"}]}
    assert not [
        t for t in found(json.dumps({**row, "type": "chat"}).encode()) if t.source and "codex" in t.source.format
    ]


def test_an_item_that_began_and_cannot_be_read_costs_no_other() -> None:
    deep: list[Any] = []
    for _ in range(101):
        deep = [deep]
    begun = {"type": "item.started", "item": {"type": "mcp_tool_call", "id": "i1", "arguments": deep}}
    items = list(read_bytes(jsonl([begun, done("agent_message", "i2", text="Done.")]), "a.jsonl"))
    assert [item.reason for item in items if isinstance(item, ParseError)] == [
        "line 1: arguments nested deeper than 100 levels"
    ]
    assert [outline(item) for item in items if isinstance(item, Trajectory)] == [["0 assistant Done."]]
