"""Langfuse exports: downloads, answers of the API, lists of observations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.spans import codes, kinds, only, read_all
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Reward

USER = {"role": "user", "content": "7 and 8?"}
CALL = {"id": "x-1", "type": "function", "function": {"name": "add", "arguments": '{"a": 7, "b": 8}'}}
ASKS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "x-1", "content": "15"}
WHOLE = [("user", "7 and 8?"), ("tool_call", "add"), ("tool_result", "15"), ("assistant", "15.")]


def observation(name: str, kind: str, at: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "traceId": "tr-1",
        "parentObservationId": None,
        "type": kind,
        "name": name,
        "startTime": f"2026-05-02T08:00:{at:02d}.000Z",
        "endTime": f"2026-05-02T08:00:{at:02d}.500Z",
        "level": "DEFAULT",
        **fields,
    }


def observations(write: Any = json.dumps) -> list[dict[str, Any]]:
    """An addition, not in the order of time; what was said as JSON text, or as it is."""
    return [
        observation("g2", "GENERATION", 4, input=write([USER, ASKS, SEEN]), output=write({"content": "15."})),
        observation("add", "TOOL", 3, input=write({"a": 7, "b": 8}), output="15"),
        observation("g1", "GENERATION", 1, input=write([USER]), output=write(ASKS)),
    ]


def export(*scores: dict[str, Any], rows: list[dict[str, Any]] | None = None, **trace: Any) -> dict[str, Any]:
    return {"trace": {"id": "tr-1", "scores": list(scores), **trace}, "observations": rows or observations()}


@pytest.mark.parametrize("write", [json.dumps, lambda value: value, lambda value: json.dumps(json.dumps(value))])
def test_what_was_said_may_be_text_or_objects_or_text_in_text(write: Any) -> None:
    trajectory = only(export(rows=observations(write)))
    assert kinds(trajectory) == WHOLE
    assert (trajectory.id, trajectory.report) == ("tr-1", [])
    assert [s.turn for s in trajectory.spans] == [-1, 0, 0, 1]


def test_the_forms_of_an_export_make_no_difference() -> None:
    rows = observations()
    api = {"id": "tr-1", "timestamp": "2026-05-02T08:00:00Z", "observations": rows, "scores": []}
    snake = [
        {"trace_id": row.pop("traceId"), "parent_observation_id": row.pop("parentObservationId"), **row}
        for row in observations()
    ]
    lines = b"\n".join(json.dumps(row).encode() for row in rows)
    for form in (export(), api, rows, lines, snake):
        assert kinds(only(form)) == WHOLE


def test_scores_are_rewards_by_source_and_place() -> None:
    trajectory = only(
        export(
            {"name": "exact", "value": 1, "source": "API", "timestamp": "2026-05-02T09:00:00Z"},
            {"name": "tone", "value": 0.5, "source": "EVAL", "observationId": "g2"},
            {"name": "liked", "value": 0, "source": "ANNOTATION"},
            {"name": "right", "value": 1, "source": "API"},
            {"name": "mood", "value": None, "stringValue": "dry", "source": "EVAL"},
        )
    )
    assert trajectory.rewards == [
        Reward(1.0, "verifier", None, "exact", "2026-05-02T09:00:00Z"),
        Reward(0.0, "human", None, "liked"),
        Reward(1.0, "verifier", None, "right"),
        Reward(0.5, "judge", 3, "tone"),
    ]
    assert codes(trajectory) == ["score-left-out", "several-scores"]


def test_items_of_a_data_set_are_tasks_and_its_runs_data_sets() -> None:
    score = {"name": "exact", "value": 1, "source": "API", "datasetRunId": "run-3"}
    trajectory = only(export(score, metadata=json.dumps({"dataset_item_id": "item-9"})))
    assert (trajectory.task, trajectory.dataset) == ("item-9", "run-3")


def test_tools_of_older_versions_are_spans() -> None:
    rows = observations()
    rows[0]["input"] = json.dumps([USER, ASKS])  # the framework did not log the result
    rows[1] |= {"type": "SPAN", "level": "ERROR", "statusMessage": "overflow", "output": None}
    trajectory = only(export(rows=rows))
    assert [(s.kind, s.text, s.error) for s in trajectory.spans[2:3]] == [("tool_result", "overflow", True)]


def test_declarations_that_look_like_messages_of_a_tool_are_tools() -> None:
    declared = {"role": "tool", "content": {"type": "function", "function": {"name": "add", "parameters": {}}}}
    rows = observations()
    rows[2]["input"] = json.dumps([USER, declared])
    trajectory = only(export(rows=rows))
    assert kinds(trajectory) == WHOLE
    assert [tool.name for tool in trajectory.tools] == ["add"]


def test_a_response_gives_its_instructions_to_the_request() -> None:
    response = {
        "object": "response",
        "instructions": "Add.",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "15."}]}],
    }
    rows = [observation("g1", "GENERATION", 1, input=json.dumps([USER]), output=json.dumps(response))]
    assert kinds(only(export(rows=rows))) == [("system", "Add."), *WHOLE[:1], *WHOLE[3:]]


def test_usage_and_cost() -> None:
    counts = {"input": 40, "output": 3, "input_cache_read": 8, "output_reasoning": 1}
    rows = observations()
    rows[0] |= {"usageDetails": counts, "costDetails": {"total": 0.5}}
    assert only(export(rows=rows)).spans[3].usage == {
        "input_tokens": 40,
        "output_tokens": 3,
        "cached_tokens": 8,
        "reasoning_tokens": 1,
        "cost": 0.5,
    }


def test_traces_in_one_file_are_a_data_set() -> None:
    other = export(rows=[row | {"traceId": "tr-2"} for row in observations()])
    other["trace"]["id"] = "tr-2"
    found = read_all([export(), other])
    assert [(t.id, t.dataset) for t in found] == [("tr-1", "runs/log.json"), ("tr-2", "runs/log.json")]


def test_a_trace_without_an_id_is_an_error() -> None:
    [found] = read_bytes(json.dumps({"trace": {}, "observations": []}).encode(), "log.json")
    assert isinstance(found, ParseError)
    assert "the trace has no `id`" in found.reason
