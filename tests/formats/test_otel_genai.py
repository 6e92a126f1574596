"""OpenTelemetry's conventions for generative AI: traces -> trajectories."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.formats.spans import (
    agent,
    answer,
    call,
    chat,
    codes,
    kinds,
    only,
    result,
    said,
    span,
    tool,
)
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read, read_bytes
from trajcredit.model import Reward, Trajectory

TASK = said("user", "Plan the visit.")
PROMPT = said("system", "You plan.")
LOOK = call(("c-1", "look", {"day": "Tue"}))


def two_turns() -> list[dict[str, Any]]:
    """An agent looks, sees and answers; its tool ran for a second."""
    return [
        agent("a", None, 0, "planner"),
        chat("s1", "a", 1, [PROMPT, TASK], LOOK),
        tool("x1", "a", 2, "look", "c-1", arguments='{"day": "Tue"}', result="10:30 free"),
        chat("s2", "a", 3, [PROMPT, TASK, LOOK, result("c-1", "10:30 free")], answer("Tue 10:30.")),
    ]


WHOLE = [
    ("system", "You plan."),
    ("user", "Plan the visit."),
    ("tool_call", "look"),
    ("tool_result", "10:30 free"),
    ("assistant", "Tue 10:30."),
]


def test_history_that_every_request_repeats_is_read_once() -> None:
    trajectory = only(two_turns())
    assert kinds(trajectory) == WHOLE
    assert [s.turn for s in trajectory.spans] == [-1, -1, 0, 0, 1]
    assert (trajectory.id, trajectory.role, trajectory.dataset, trajectory.report) == ("t1", "planner", "runs", [])
    assert [s.message_index for s in trajectory.spans] == [1, 1, 1, 3, 3]
    assert {s.agent for s in trajectory.spans[2:]} == {"planner"}


def test_times_of_a_result_are_those_of_the_tool() -> None:
    spans = only(two_turns()).spans
    assert spans[2].started_at == "2026-05-01T00:00:01.000000Z"
    assert (spans[3].started_at, spans[3].ended_at) == ("2026-05-01T00:00:02.000000Z", "2026-05-01T00:00:02.500000Z")


def test_the_order_in_the_log_does_not_matter() -> None:
    spans = two_turns()
    for seed in range(10):
        random.Random(seed).shuffle(spans)
        assert kinds(only(spans)) == WHOLE


def test_the_same_words_said_again_are_a_message_of_their_own() -> None:
    turn = [TASK, answer("More?"), said("user", "yes"), answer("More?"), said("user", "yes")]
    spans = [chat(f"s{n}", None, n, turn[:n], answer("More?")) for n in (1, 3, 5)]
    assert [text for _, text in kinds(only(spans))] == ["Plan the visit.", "More?", "yes", "More?", "yes", "More?"]


def test_a_thought_that_later_requests_leave_out_is_no_change_of_history() -> None:
    spans = two_turns()
    thinking = {"role": "assistant", "parts": [{"type": "reasoning", "content": "Look first."}, *LOOK["parts"]]}
    spans[1]["attributes"]["gen_ai.output.messages"] = json.dumps([thinking])
    trajectory = only(spans)
    assert kinds(trajectory) == [*WHOLE[:2], ("reasoning", "Look first."), *WHOLE[2:]]
    assert trajectory.report == []


def test_ids_that_change_on_the_way_pair_all_the_same() -> None:
    spans = two_turns()
    renamed = call(("fc-77", "look", {"day": "Tue"}))
    spans[3]["attributes"]["gen_ai.input.messages"] = json.dumps([PROMPT, TASK, renamed, result("c-1", "10:30 free")])
    del spans[2]["attributes"]["gen_ai.tool.call.id"]
    trajectory = only(spans)
    assert kinds(trajectory) == WHOLE
    assert trajectory.spans[3].result_of == 2
    assert trajectory.spans[3].started_at == "2026-05-01T00:00:02.000000Z"


# ---------------------------------------------------------------- tools


def test_a_result_that_no_request_holds_is_the_tools_own() -> None:
    trajectory = only(two_turns()[:3])
    assert kinds(trajectory) == WHOLE[:4]
    assert trajectory.spans[3].result_of == 2


def test_results_of_parallel_runs_without_ids_go_to_the_calls_with_their_arguments() -> None:
    both = call(("c-1", "look", {"day": "Tue"}), ("c-2", "look", {"day": "Wed"}))
    trajectory = only(
        [
            chat("s1", None, 1, [TASK], both),
            tool("x2", None, 2, "look", arguments='{"day": "Wed"}', result="none"),
            tool("x1", None, 3, "look", arguments='{"day": "Tue"}', result="free"),
        ]
    )
    assert [(s.text, s.result_of) for s in trajectory.spans if s.kind == "tool_result"] == [("free", 1), ("none", 2)]


def test_a_failed_run_says_so_on_the_result() -> None:
    broken = tool("x1", None, 2, "look", "c-1", status={"code": "ERROR", "message": "closed"})
    trajectory = only([chat("s1", None, 1, [TASK], LOOK), broken])
    assert (trajectory.spans[2].text, trajectory.spans[2].error) == ("closed", True)


def test_a_call_id_used_again_in_the_next_round_pairs_by_round() -> None:
    again = [TASK, LOOK, result("c-1", "full"), LOOK]
    spans = [
        chat("s1", None, 1, [TASK], LOOK),
        tool("x1", None, 2, "look", "c-1", result="full"),
        chat("s2", None, 3, again[:3], LOOK),
        tool("x2", None, 4, "look", "c-1", result="free"),
        chat("s3", None, 5, [*again, result("c-1", "free")], answer("Free.")),
    ]
    trajectory = only(spans)
    assert [(s.text, s.result_of) for s in trajectory.spans if s.kind == "tool_result"] == [("full", 1), ("free", 3)]
    assert [s.started_at for s in trajectory.spans if s.kind == "tool_result"][1] == "2026-05-01T00:00:04.000000Z"


def test_a_tool_that_no_answer_calls_is_not_lost() -> None:
    trajectory = only([tool("x1", None, 1, "look", arguments='{"day": 1}', result="free"), tool("x2", None, 5, "book")])
    assert [(s.kind, s.name, s.turn, s.arguments) for s in trajectory.spans] == [
        ("tool_call", "look", 0, {"day": 1}),
        ("tool_result", "look", 0, None),
        ("tool_call", "book", 1, None),
        ("tool_result", "book", 1, None),
    ]
    assert codes(trajectory).count("unlogged-request") == 2


# ---------------------------------------------------------------- what is not logged, what failed


def test_without_captured_content_the_shape_of_the_run_stays() -> None:
    trajectory = only(
        [
            chat("s1", None, 1, None, attributes={"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3}),
            tool("x1", None, 2, "look", "c-1"),
            tool("x2", None, 3, "look", "c-2"),
            chat("s2", None, 4, None),
        ]
    )
    assert [(s.kind, s.turn, s.call_id) for s in trajectory.spans] == [
        ("tool_call", 0, "c-1"),
        ("tool_call", 0, "c-2"),
        ("tool_result", 0, "c-1"),
        ("tool_result", 0, "c-2"),
        ("assistant", 1, None),
    ]
    assert trajectory.spans[0].usage == {"input_tokens": 7, "output_tokens": 3}
    assert codes(trajectory).count("content-off") == 3


def test_a_failed_request_does_nothing_and_its_retry_goes_on() -> None:
    failed = {"status": {"code": 2, "message": "503"}, "attributes": {"error.type": "503"}}
    trajectory = only([chat("s1", None, 1, [TASK], **failed), chat("s2", None, 2, [TASK], answer("Tuesday."))])
    assert kinds(trajectory) == [("user", "Plan the visit."), ("assistant", "Tuesday.")]
    [note] = trajectory.report
    assert (note.code, note.message) == ("failed-request", "request s1 failed: 503")


def test_results_that_a_failed_request_did_not_see_are_those_the_next_one_saw() -> None:
    failed = span("s9", "a", "chat m", 3, {"gen_ai.operation.name": "chat", "error.type": "503"})
    spans = two_turns()
    spans[2]["attributes"]["gen_ai.tool.call.result"] = '{"free": "10:30"}'
    spans[3]["start_time"] = "2026-05-01T00:00:09Z"
    trajectory = only([*spans, failed])
    assert kinds(trajectory) == WHOLE
    assert trajectory.spans[3].result_of == 2


def test_a_cut_attribute_is_kept_as_text_and_said() -> None:
    spans = two_turns()
    spans[1]["attributes"]["gen_ai.input.messages"] = '[{"role": "user", "parts": [{"type": "te'
    trajectory = only(spans[:2])
    assert kinds(trajectory) == [("user", '[{"role": "user", "parts": [{"type": "te'), ("tool_call", "look")]
    assert codes(trajectory) == ["broken-attribute", "unanswered-call"]


# ---------------------------------------------------------------- the tree


def test_a_span_that_is_its_own_ancestor_does_not_hang() -> None:
    spans = [chat("s1", "s2", 1, [TASK], answer("Hi.")), span("s2", "s1", "turn", 0, {})]
    trajectory = only(spans)
    assert kinds(trajectory) == [("user", "Plan the visit."), ("assistant", "Hi.")]
    assert codes(trajectory) == ["parent-cycle"]


def test_a_clock_that_is_behind_does_not_change_the_order() -> None:
    spans = two_turns()
    spans[2]["start_time"], spans[2]["end_time"] = "2026-05-01T00:00:00Z", "2026-05-01T00:00:00.1Z"
    assert kinds(only(spans)) == WHOLE


def test_evaluations_are_rewards_of_a_judge() -> None:
    attributes = {"gen_ai.evaluation.name": "helpful", "gen_ai.evaluation.score.value": 0.5}
    scored = {"events": [{"name": "gen_ai.evaluation.result", "attributes": attributes}]}
    spans = two_turns()
    spans[0] |= scored
    spans[3] |= scored
    rewards = only(spans).rewards
    assert rewards == [Reward(0.5, "judge", name="helpful"), Reward(0.5, "judge", 4, "helpful")]


def test_a_deep_chain_of_spans_is_read() -> None:
    chain = [span(f"w{n}", f"w{n - 1}" if n else None, "wrapper", 0, {}) for n in range(5000)]
    assert kinds(only([*chain, chat("s1", "w4999", 1, [TASK], answer("Hi."))]))[1] == ("assistant", "Hi.")


# ---------------------------------------------------------------- older conventions, frameworks


def test_numbered_attributes_go_by_number_not_by_text() -> None:
    numbered = {"gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "Done."}
    for n in range(12):
        role = "assistant" if n % 2 else "user"
        numbered |= {f"gen_ai.prompt.{n}.role": role, f"gen_ai.prompt.{n}.content": f"line {n}"}
    spans = [span("s1", None, "chat", 1, dict(sorted(numbered.items())))]
    assert [text for _, text in kinds(only(spans))] == [*(f"line {n}" for n in range(12)), "Done."]


def test_messages_as_span_events() -> None:
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "What time?"}},
        {"name": "gen_ai.choice", "attributes": {"message": '{"content": "Nine."}', "index": 0}},
    ]
    made = span("s1", None, "chat", 1, {"gen_ai.operation.name": "chat"}, events=events)
    assert kinds(only([made])) == [("user", "What time?"), ("assistant", "Nine.")]


def test_messages_as_events_in_an_attribute() -> None:
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "What time?", "gen_ai.message.index": 0},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "Nine."}},
        {"event.name": "gen_ai.choice", "index": 1, "message": {"role": "assistant", "content": "Ten."}},
    ]
    made = span("s1", None, "chat", 1, {"gen_ai.operation.name": "chat", "events": json.dumps(events)})
    trajectory = only([made])
    assert kinds(trajectory) == [("user", "What time?"), ("assistant", "Nine.")]
    assert codes(trajectory) == ["other-samples"]


def test_messages_as_structured_values() -> None:
    spans = two_turns()
    for made in spans:
        for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
            if key in made["attributes"]:
                made["attributes"][key] = json.loads(made["attributes"][key])
    assert kinds(only(spans)) == WHOLE


def test_parts_that_were_written_as_text_to_fit_an_attribute() -> None:
    parts = json.dumps([{"type": "text", "text": "What time?"}])
    attributes = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": parts,
        "gen_ai.completion.0.content": "[1]",
    }
    made = span("s1", None, "chat", 1, {"gen_ai.operation.name": "chat"} | attributes)
    assert kinds(only([made])) == [("user", "What time?"), ("assistant", "[1]")]


def test_one_event_with_all_of_the_operation() -> None:
    details = {
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
        "gen_ai.input.messages": json.dumps([TASK]),
        "gen_ai.output.messages": json.dumps([answer("Hi.")]),
    }
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": details}
    made = span("s1", None, "chat", 1, {"gen_ai.operation.name": "chat"}, events=[event])
    wanted = [("system", "Be brief."), ("user", "Plan the visit."), ("assistant", "Hi.")]
    assert kinds(only([made])) == wanted


def test_log_records_belong_to_spans_of_the_file_beside(tmp_path: Path) -> None:
    both = (Path(__file__).parents[1] / "data" / "otel_genai_events.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a.logs.json").write_bytes(both[0])
    (tmp_path / "a.traces.json").write_bytes(both[1])
    logs, joined = read(tmp_path)
    assert isinstance(logs, SkippedFile)
    assert "belong to the spans in" in logs.reason
    assert isinstance(joined, Trajectory)
    [alone] = read_bytes(both[0], "a.logs.json")
    assert isinstance(alone, Trajectory)
    assert kinds(alone) == kinds(joined)
    assert (alone.role, joined.role) == (None, "teller")


def test_a_record_that_is_no_span_is_an_error_in_its_place() -> None:
    lines = [json.dumps(two_turns()[1]), '{"span_id": 1, "attributes"', json.dumps({"other": 1})]
    found = list(read_bytes("\n".join(lines).encode(), "log.jsonl"))
    assert [(item.line, type(item)) for item in found if isinstance(item, ParseError)] == [
        (2, ParseError),
        (3, ParseError),
    ]
    assert isinstance(found[2], Trajectory)


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"ai.toolCall.name": "look", "ai.toolCall.id": "c-1", "ai.toolCall.result": "free"}, id="AI SDK"),
        pytest.param(
            {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c-1", "tool_response": "free"}, id="Pydantic AI"
        ),
        pytest.param(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "c-1",
                "gcp.vertex.agent.tool_response": "free",
            },
            id="ADK",
        ),
        pytest.param({"traceloop.span.kind": "tool", "traceloop.entity.output": "free"}, id="OpenLLMetry"),
    ],
)
def test_tools_of_every_framework_answer_their_call(attributes: dict[str, Any]) -> None:
    run = span("x1", None, "look", 2, attributes)
    trajectory = only([chat("s1", None, 1, [TASK], LOOK), run])
    assert [(s.kind, s.text, s.result_of) for s in trajectory.spans[2:]] == [("tool_result", "free", 1)]


def test_an_envelope_without_an_agent_is_skipped_by_its_reason() -> None:
    attribute = {"key": "http.request.method", "value": {"stringValue": "GET"}}
    wire = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "GET /", "attributes": [attribute]}
    [found] = read_bytes(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [wire]}]}]}).encode(), "log.json")
    assert isinstance(found, SkippedFile)
    assert found.reason == "no log: no span in it is a request to a model, a tool or an agent"


@pytest.mark.parametrize("key", ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.definitions"])
def test_what_nests_too_deep_costs_only_itself(key: str) -> None:
    spans = two_turns()
    at = 1 if key.endswith("definitions") else 2
    spans[at]["attributes"][key] = json.loads("[" * 300 + "]" * 300)
    assert kinds(only(spans)) == WHOLE


@pytest.mark.parametrize(("odd", "shown"), [("\\ud83d", "\ufffd"), ("\\u0000", "\u2400")])
def test_what_no_database_holds_is_replaced_also_in_json_inside_of_json(odd: str, shown: str) -> None:
    spans = two_turns()
    asked = spans[1]["attributes"]["gen_ai.input.messages"]
    spans[1]["attributes"]["gen_ai.input.messages"] = asked.replace("You plan.", f"You {odd}.")
    trajectory = only(spans[:2])
    assert trajectory.spans[0].text == f"You {shown}."
    assert codes(trajectory) == ["sanitised", "unanswered-call"]
