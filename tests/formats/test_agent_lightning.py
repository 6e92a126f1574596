"""Agent Lightning: spans of its stores, and the events that replaced them."""

from __future__ import annotations

import json
from typing import Any

from tests.formats.spans import codes, kinds, only, read_all
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Reward, SpanTokens, TurnTokens


def span(sequence: int, attributes: dict[str, Any], start: float, **fields: Any) -> dict[str, Any]:
    return {
        "rollout_id": "ro-1",
        "attempt_id": "at-1",
        "sequence_id": sequence,
        "trace_id": "f" * 32,
        "span_id": f"s{sequence}",
        "parent_id": None,
        "name": "span",
        "status": {"status_code": "OK", "description": None},
        "attributes": attributes,
        "events": [],
        "start_time": start,
        "end_time": start + 0.5,
        **fields,
    }


ASKED = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "2+2?"}
CALLED = {
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.tool_calls.0.id": "q-1",
    "gen_ai.completion.0.tool_calls.0.name": "calc",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"e": "2+2"}',
}
SEEN = {key.replace("completion.0", "prompt.1"): value for key, value in CALLED.items()} | {
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.content": "4",
    "gen_ai.prompt.2.tool_call_id": "q-1",
}
CHAT = {"gen_ai.operation.name": "chat"}
WHOLE = [("user", "2+2?"), ("tool_call", "calc"), ("tool_result", "4"), ("assistant", "Four.")]


def spans() -> list[dict[str, Any]]:
    """The clock of the second request is behind, and it comes first: its number says that it is later."""
    ids = {"prompt_token_ids": [1, 2], "response_token_ids": [5, 6]}
    last = {"gen_ai.completion.0.content": "Four."}
    return [
        span(3, CHAT | ASKED | SEEN | last, 10.0),
        span(1, CHAT | ASKED | CALLED | ids, 20.0),
        span(2, {"agentlightning.reward.0.value": 0.0}, 21.0),
        span(4, {"agentlightning.reward.0.value": 1.0, "agentlightning.reward.0.name": "final"}, 30.0),
    ]


def test_spans_stand_in_the_order_of_their_sequence() -> None:
    trajectory = only(spans())
    assert kinds(trajectory) == WHOLE
    assert (trajectory.id, trajectory.trial) == ("ro-1", "at-1")
    assert trajectory.source is not None
    assert trajectory.source.format == "agent_lightning"


def test_the_last_reward_counts_as_in_its_trainers() -> None:
    trajectory = only(spans())
    assert trajectory.rewards == [Reward(1.0, name="final", at="1970-01-01T00:00:30.500000Z")]
    assert codes(trajectory) == ["several-rewards"]


def test_token_ids_are_kept_by_turn_and_on_a_turn_of_one_span() -> None:
    trajectory = only(spans())
    assert trajectory.turns == [TurnTokens(0, [1, 2], [5, 6])]
    assert trajectory.spans[1].tokens == SpanTokens([5, 6], n=2)


def test_attempts_of_one_rollout_are_told_apart() -> None:
    again = [row | {"attempt_id": "at-2"} for row in spans()]
    found = read_all(b"\n".join(json.dumps(row).encode() for row in [*spans(), *again]))
    assert [(t.id, t.trial) for t in found] == [("ro-1:at-1", "at-1"), ("ro-1:at-2", "at-2")]


def test_a_span_that_was_sent_again_counts_once_and_another_of_its_id_counts_too() -> None:
    assert (
        read_all(b"\n".join(json.dumps(row).encode() for row in [*spans(), *spans()]))[0].spans == only(spans()).spans
    )
    first, second, *rest = spans()
    trajectory = only([first, {**second, "span_id": first["span_id"]}, *rest])
    assert kinds(trajectory) == WHOLE


def event(kind: str, at: float, **data: Any) -> dict[str, Any]:
    return {"event_type": kind, "rollout_id": "ro-2", "attempt_id": "at-1", "timestamp": at, "data": data}


def events(*versions: int) -> list[dict[str, Any]]:
    call = {"id": "q-1", "type": "function", "function": {"name": "calc", "arguments": "{}"}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    user = {"role": "user", "content": "2+2?"}
    seen = {"role": "tool", "tool_call_id": "q-1", "content": "4"}
    requests = [([user], asks), ([user, asks, seen], {"role": "assistant", "content": "Four."})]
    made = [
        event(
            "model_request",
            10.0 + n,
            model="m",
            model_version=version,
            request={"messages": messages, "tools": [{"type": "function", "function": {"name": "calc"}}]},
            response={"choices": [{"message": answer}]},
            usage={"prompt_tokens": 4},
            latency_ms=250,
        )
        for n, (version, (messages, answer)) in enumerate(zip(versions, requests, strict=True))
    ]
    return [*made, event("reward", 20.0, value=0.5, source="grader")]


def test_events_of_later_versions() -> None:
    trajectory = only(events(12, 12))
    assert kinds(trajectory) == WHOLE
    assert (trajectory.policy_version, trajectory.model, trajectory.rewards[0].value) == ("12", "m", 0.5)
    assert [tool.name for tool in trajectory.tools] == ["calc"]
    assert trajectory.spans[1].usage == {"input_tokens": 4}
    assert trajectory.spans[1].started_at == "1970-01-01T00:00:09.750000Z"


def test_a_run_over_two_policies_has_a_version_a_turn() -> None:
    trajectory = only(events(12, 13))
    assert trajectory.policy_version is None
    assert [(turn.turn, turn.policy_version) for turn in trajectory.turns] == [(0, "12"), (1, "13")]


def test_a_row_without_a_rollout_is_an_error_in_its_place() -> None:
    rows = [*events(1, 1), {"event_type": "reward", "attempt_id": "at-1", "rollout_id": None}]
    found = list(read_bytes(b"\n".join(json.dumps(row).encode() for row in rows), "log.jsonl"))
    [error] = [item for item in found if isinstance(item, ParseError)]
    assert (error.line, error.reason) == (4, "line 4: a span or an event needs a `rollout_id`")
