"""Logs whose records are of several formats: each record is read as what it is, or named with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Trajectory

ANSWER = {"role": "assistant", "content": "done"}
GO = {"role": "user", "content": "go"}


def chat(name: str) -> dict[str, Any]:
    return {"id": name, "messages": [GO, ANSWER]}


def tau(task: int) -> dict[str, Any]:
    return {"task_id": task, "trial": 0, "reward": 1.0, "traj": [GO, ANSWER]}


def share() -> dict[str, Any]:
    return {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]}


def verl(score: float) -> dict[str, Any]:
    return {"input": "go", "output": "done", "score": score, "step": 1}


def claude() -> dict[str, Any]:
    message = {"model": "claude-x", "max_tokens": 9, "system": "s", "messages": [GO]}
    return {"request": message, "response": {"type": "message", "role": "assistant", "content": [block("done")]}}


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def said(*rows: Any, array: bool = False, format: str | None = None) -> list[str]:
    """Format of each trajectory, with a star where it is told that the log holds several; errors behind a `!`."""
    text = json.dumps(rows) if array else "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    found = []
    for item in read_bytes(text.encode(), "a.jsonl", format=format):
        if isinstance(item, ParseError):
            found.append(f"! {item}")
        else:
            assert item.source is not None
            assert len(item.spans) >= 2
            mark = "*" * sum(note.code == "mixed-formats" for note in item.report)
            found.append(f"{item.source.format}:{item.source.line}{mark}")
    return found


@pytest.mark.parametrize("array", [False, True], ids=["lines", "an array"])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([tau(1), chat("a")], ["tau_bench:1", "openai_chat:2*"], id="a row of another format behind"),
        pytest.param([chat("a"), tau(1)], ["openai_chat:1", "tau_bench:2*"], id="and the other way round"),
        pytest.param(
            [chat("a"), tau(1), chat("b"), tau(2)],
            ["openai_chat:1", "openai_chat:3", "tau_bench:2*", "tau_bench:4*"],
            id="in turns",
        ),
        pytest.param(
            [share(), verl(1.0), tau(1)], ["sharegpt:1", "verl:2*", "tau_bench:3*"], id="three formats in one log"
        ),
        pytest.param(
            [verl(0.0), {"other": 1}, share()],
            ["verl:1", "! a.jsonl: line 2: Object missing required field `input`", "sharegpt:3*"],
            id="what nobody reads is named",
        ),
    ],
)
def test_each_row_is_read_as_what_it_is(rows: list[Any], expected: list[str], array: bool) -> None:
    at = "a.jsonl: record 2:" if array else "a.jsonl: line 2:"
    assert said(*rows, array=array) == [text.replace("a.jsonl: line 2:", at) for text in expected]


def test_rows_of_a_reader_that_passes_over_what_it_does_not_know_are_not_swallowed() -> None:
    line = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": GO}
    reply = {"type": "assistant", "uuid": "v", "parentUuid": "u", "sessionId": "s", "message": ANSWER}
    found = said(line, reply, chat("a"))
    assert found[0].startswith("claude_code")
    assert found[1:] == ["openai_chat:3*"]


def test_a_request_of_another_provider_is_read_by_the_reader_that_finds_somebody_who_acts() -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
    came = {"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}}]}
    found = said({"request": asked, "response": came}, claude())
    assert sorted(found) == ["anthropic:None*", "gemini:1"]


@pytest.mark.parametrize(
    "junk", [{"foo": 1}, 5, "text", [1], None, {"role": "meta", "content": "v1"}], ids=lambda junk: type(junk).__name__
)
@pytest.mark.parametrize("good", [chat("a"), tau(1), share(), verl(1.0)], ids=["chat", "tau", "sharegpt", "verl"])
def test_what_nobody_reads_is_an_error_with_its_line_and_costs_no_other(good: Any, junk: Any) -> None:
    found = said(good, json.dumps(junk), {**good, "more": 1})
    assert [text.startswith("! a.jsonl: line 2: ") for text in found] == [False, True, False]


def test_a_format_that_is_named_is_taken_at_its_word() -> None:
    found = said(tau(1), chat("a"), format="tau_bench")
    assert found == ["tau_bench:1", "! a.jsonl: line 2: Object missing required field `task_id`"]


def test_runs_of_two_formats_that_have_no_ids_are_both_kept() -> None:
    one = {"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"text": "y"}]}]}
    other = {"model": "claude-x", "max_tokens": 9, "system": "s", "messages": [GO, ANSWER]}
    data = "\n".join(map(json.dumps, [one, other])).encode()
    found = list(read_bytes(data, "a.jsonl"))
    assert all(isinstance(item, Trajectory) for item in found), found
    assert len({item.id for item in found if isinstance(item, Trajectory)}) == 2


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        pytest.param(
            [share(), {"tools": []}], "neither `conversations` nor `messages`: no ShareGPT row", id="sharegpt"
        ),
        pytest.param(
            [{"id": "t", "result": "f(x=1)", "latency": 1}, {"id": "u", "latency": 1}],
            "neither `result` nor `inference_log` nor a verdict: no row of BFCL",
            id="bfcl",
        ),
        pytest.param(
            [
                {"history": [{"id": 0, "source": "user", "action": "message", "message": "go"}], "instance_id": "a"},
                {"metadata": {}},
            ],
            "neither `history` nor `events`: no run of OpenHands",
            id="openhands",
        ),
        pytest.param(
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"foo": 1}],
            "neither `type` nor `role`: no item",
            id="responses",
        ),
        pytest.param(
            [{"id": "r", "run_type": "llm", "trace_id": "r", "inputs": {}, "dotted_order": "x"}, {"id": "q", "foo": 1}],
            "neither a run with an `id` nor feedback with a `run_id`",
            id="langsmith",
        ),
        pytest.param(
            [
                {"trace": {"id": "t"}, "observations": [], "scores": []},
                {"trace": {"id": "u"}, "observations": {"a": 1}},
            ],
            "`observations` must be a list, not dict",
            id="langfuse",
        ),
    ],
)
def test_a_row_without_what_its_format_has_is_an_error_not_an_empty_run(log: list[Any], reason: str) -> None:
    found = [str(item) for item in read_bytes("\n".join(map(json.dumps, log)).encode(), "a.jsonl")
             if isinstance(item, ParseError)]  # fmt: skip
    assert f"a.jsonl: line 2: {reason}" in found
