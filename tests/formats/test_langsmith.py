"""LangSmith runs: exports, bodies of the ingest, feedback."""

from __future__ import annotations

import json
from typing import Any

from tests.formats.spans import codes, kinds, only, read_all
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Reward

USER = {"role": "user", "content": "Fare to Lyon?"}
CALL = {"id": "f-1", "type": "function", "function": {"name": "fare", "arguments": '{"to": "Lyon"}'}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "f-1", "content": "89"}
WHOLE = [("user", "Fare to Lyon?"), ("tool_call", "fare"), ("tool_result", "89"), ("assistant", "89 euros.")]


def uuid(number: int) -> str:
    return f"0190aaaa-0000-7000-8000-{number:012d}"


def run(number: int, kind: str, name: str, inputs: Any, outputs: Any, **fields: Any) -> dict[str, Any]:
    order = f"20260503T090000000000Z{uuid(1)}" + (f".20260503T09{number:02d}00000000Z{uuid(number)}" * (number > 1))
    return {
        "id": uuid(number),
        "trace_id": uuid(1),
        "parent_run_id": uuid(1) if number > 1 else None,
        "dotted_order": order,
        "run_type": kind,
        "name": name,
        "start_time": "2026-05-03T09:00:00+00:00",
        "end_time": "2026-05-03T09:00:01+00:00",
        "inputs": inputs,
        "outputs": outputs,
        **fields,
    }


def runs() -> list[dict[str, Any]]:
    usage = {"input_tokens": 30, "output_tokens": 6, "input_token_details": {"cache_read": 9}}
    last = {"choices": [{"message": {"role": "assistant", "content": "89 euros."}}], "usage_metadata": usage}
    return [
        run(4, "llm", "Model", {"messages": [USER, ASKS, SEEN]}, last),
        run(3, "tool", "fare", {"to": "Lyon"}, {"output": "89"}),
        run(2, "llm", "Model", {"messages": [USER]}, {"choices": [{"message": ASKS}]}),
        run(1, "chain", "agent", {"question": "Fare to Lyon?"}, {"output": "89 euros."}),
    ]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def test_runs_stand_in_the_order_that_their_places_tell() -> None:
    trajectory = only(lines(runs()))
    assert kinds(trajectory) == WHOLE
    assert (trajectory.id, trajectory.report) == (uuid(1), [])
    assert trajectory.spans[3].usage == {"input_tokens": 30, "output_tokens": 6, "cached_tokens": 9}
    assert only(runs()).spans == trajectory.spans


def test_what_creates_and_what_updates_a_run_is_put_together() -> None:
    post = [{key: value for key, value in row.items() if key != "outputs"} | {"outputs": {}} for row in runs()]
    patch = [
        {key: row[key] for key in ("dotted_order", "trace_id", "parent_run_id", "outputs", "end_time")}
        for row in runs()
    ]
    assert kinds(only({"post": post, "patch": patch})) == WHOLE


def test_serialised_messages_of_langchain() -> None:
    def message(kind: str, **kwargs: Any) -> dict[str, Any]:
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", kind], "kwargs": kwargs}

    human = message("HumanMessage", content="Fare to Lyon?")
    asks = message("AIMessage", content="", tool_calls=[{"name": "fare", "args": {"to": "Lyon"}, "id": "f-1"}])
    seen = message("ToolMessage", content="no answer", tool_call_id="f-1", status="error")
    rows = runs()
    rows[0]["inputs"] = {"messages": [[human, asks, seen]]}
    rows[2] |= {"inputs": {"messages": [[human]]}, "outputs": {"generations": [[{"message": asks}]]}}
    trajectory = only(rows)
    assert kinds(trajectory) == [*WHOLE[:2], ("tool_result", "no answer"), WHOLE[3]]
    assert trajectory.spans[2].error is True


def test_a_tool_that_failed_says_of_what() -> None:
    rows = runs()[1:]
    rows[0] |= {"outputs": None, "error": "TimeoutError('no answer')"}
    trajectory = only(rows)
    assert kinds(trajectory)[2] == ("tool_result", "TimeoutError('no answer')")
    assert trajectory.spans[2].error is True


def test_an_example_is_a_task_and_its_session_the_data_set() -> None:
    rows = [row | {"reference_example_id": "ex-4", "session_name": "fares-v2"} for row in runs()]
    assert (only(rows).task, only(rows).dataset) == ("ex-4", "fares-v2")
    without = [row | {"session_name": "default"} for row in runs()]
    assert (only(without).task, only(without).dataset) == (None, "runs")


def test_feedback_is_a_reward_by_who_gave_it() -> None:
    rows = runs()
    rows[3]["feedback_stats"] = {"correct": {"n": 2, "avg": 0.5}, "comment": {"n": 1, "avg": None}}
    rows += [
        {"run_id": uuid(1), "key": "thumbs", "score": True, "feedback_source": {"type": "app"}},
        {"run_id": uuid(4), "key": "tone", "score": 0.25, "feedback_source": {"type": "model"}},
        {"run_id": uuid(4), "key": "length", "score": 1, "feedback_source": {"type": "model"}},
    ]
    trajectory = only(rows)
    assert trajectory.rewards == [
        Reward(1.0, "human", None, "thumbs"),
        Reward(0.5, "verifier", None, "correct"),
        Reward(0.25, "judge", 3, "tone"),
        Reward(1.0, "judge", 3, "length"),
    ]
    assert codes(trajectory) == ["several-scores"]


def test_traces_in_one_file_are_a_data_set() -> None:
    def moved(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("0190aaaa", "0190bbbb"))

    found = read_all(lines([*runs(), *moved(runs())]))
    assert [t.dataset for t in found] == ["runs/log.json"] * 2
    assert [kinds(t) for t in found] == [WHOLE, WHOLE]


def test_a_line_that_is_no_run_is_an_error_in_its_place() -> None:
    found = list(read_bytes(lines([*runs(), {"name": "what"}]), "log.jsonl"))
    [error] = [item for item in found if isinstance(item, ParseError)]
    assert (error.line, error.reason) == (5, "line 5: neither a run with an `id` nor feedback with a `run_id`")
