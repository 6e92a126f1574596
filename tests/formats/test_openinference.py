"""OpenInference spans: messages in dotted keys, in every container that holds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.spans import codes, kinds, only, read_all, span
from trajcredit.model import SpawnedBy

LLM = {"openinference.span.kind": "LLM"}


def dotted(**messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The keys of lists of messages, as the instrumentations write them."""
    return {
        f"llm.{name}_messages.{number}.message.{key}": value
        for name, found in messages.items()
        for number, message in enumerate(found)
        for key, value in message.items()
    }


CALL = {
    "role": "assistant",
    "tool_calls.0.tool_call.id": "t-1",
    "tool_calls.0.tool_call.function.name": "lookup",
    "tool_calls.0.tool_call.function.arguments": '{"word": "tide"}',
}
USER = {"role": "user", "content": "Define tide."}
SEEN = {"role": "tool", "tool_call_id": "t-1", "content": "a rise of the sea"}


def run() -> list[dict[str, Any]]:
    return [
        span("a", None, "agent", 0, {"openinference.span.kind": "AGENT", "agent.name": "lexicographer"}),
        span("s1", "a", "ChatCompletion", 1, LLM | dotted(input=[USER], output=[CALL])),
        span(
            "x", "a", "lookup", 2, {"openinference.span.kind": "TOOL", "tool.name": "lookup", "output.value": "a rise"}
        ),
        span(
            "s2",
            "a",
            "ChatCompletion",
            3,
            LLM | dotted(input=[USER, CALL, SEEN], output=[{"content": "The sea's rise."}]),
        ),
    ]


WHOLE = [
    ("user", "Define tide."),
    ("tool_call", "lookup"),
    ("tool_result", "a rise of the sea"),
    ("assistant", "The sea's rise."),
]


def test_a_run_is_read_once_with_its_tools() -> None:
    trajectory = only(run())
    assert kinds(trajectory) == WHOLE
    assert (trajectory.role, trajectory.report) == ("lexicographer", [])
    assert trajectory.source is not None
    assert trajectory.source.format == "openinference"
    assert trajectory.spans[2].started_at == "2026-05-01T00:00:02.000000Z"


def test_messages_go_by_number_not_by_text() -> None:
    history = [{"role": "assistant" if n % 2 else "user", "content": f"line {n}"} for n in range(12)]
    attributes = dict(sorted((LLM | dotted(input=history, output=[{"content": "line 12"}])).items()))
    trajectory = only([span("s1", None, "llm", 1, attributes)])
    assert [s.text for s in trajectory.spans] == [f"line {n}" for n in range(13)]


def phoenix(spans: list[dict[str, Any]]) -> Any:
    """What the REST interface of Phoenix answers."""
    rows = []
    for made in spans:
        attributes = dict(made["attributes"])
        rows.append(
            {
                "id": f"U3Bhbjo={made['span_id']}",
                "name": made["name"],
                "context": {"trace_id": made["trace_id"], "span_id": made["span_id"]},
                "parent_id": made["parent_span_id"],
                "span_kind": attributes.pop("openinference.span.kind"),
                "start_time": made["start_time"],
                "end_time": made["end_time"],
                "status_code": "OK",
                "attributes": attributes,
            }
        )
    return {"data": rows, "next_cursor": None}


def frame(spans: list[dict[str, Any]]) -> bytes:
    """Rows of a data frame: a column an attribute, lists of messages as they are."""
    rows = []
    for made in spans:
        attributes: dict[str, Any] = {}
        lists: dict[str, dict[int, dict[str, Any]]] = {}
        for key, value in made["attributes"].items():
            if "_messages." in key:
                name, rest = key.split("_messages.")
                number, field = rest.split(".", 1)
                lists.setdefault(f"{name}_messages", {}).setdefault(int(number), {})[field] = value
            else:
                attributes[key] = value
        columns = attributes | {name: list(found.values()) for name, found in lists.items()}
        rows.append(
            {
                "context.trace_id": made["trace_id"],
                "context.span_id": made["span_id"],
                "parent_id": made["parent_span_id"],
                "name": made["name"],
                "start_time": made["start_time"],
                "end_time": made["end_time"],
                **{f"attributes.{key}": value for key, value in columns.items()},
            }
        )
    return b"\n".join(json.dumps(row).encode() for row in rows)


def nested(spans: list[dict[str, Any]]) -> Any:
    """Attributes as objects inside each other."""
    for made in spans:
        tree: dict[str, Any] = {}
        for key, value in made["attributes"].items():
            *path, last = key.split(".")
            node = tree
            for part in path:
                node = node.setdefault(part, {})
            node[last] = value
        made["attributes"] = tree | {"openinference.span.kind": made["attributes"]["openinference.span.kind"]}
    return spans


@pytest.mark.parametrize("container", [phoenix, frame, nested, list, lambda spans: {"spans": spans}])
def test_containers_make_no_difference(container: Any) -> None:
    trajectory = only(container(run()), "openinference")
    assert kinds(trajectory) == WHOLE
    assert trajectory.spans[2].result_of == 1


def test_an_agent_whose_requests_are_not_logged_speaks_for_itself() -> None:
    answers = [
        {"role": "assistant", "content.0": "I ask both."},
        {"role": "assistant", **{k.replace("t-1", "t-1"): v for k, v in CALL.items() if k != "role"}},
        {"role": "assistant", "content.0": "It is the sea's rise."},
    ]
    attributes = {"openinference.span.kind": "AGENT", "input.value": "Define tide."} | dotted(output=answers)
    ran = {"openinference.span.kind": "TOOL", "tool.id": "t-1", "tool.name": "lookup", "output.value": "a rise"}
    inner = {"openinference.span.kind": "TOOL", "tool.name": "grep", "input.value": '{"x": 1}', "output.value": "1 hit"}
    main, helper = read_all(
        [
            span("a", None, "query", 0, attributes),
            span("x", "a", "lookup", 2, ran),
            span("b", "x", "sub", 2, {"openinference.span.kind": "AGENT", "agent.name": "helper"}),
            span("y", "b", "grep", 2, inner),
        ]
    )
    assert kinds(main) == [
        ("user", "Define tide."),
        ("assistant", "I ask both."),
        ("tool_call", "lookup"),
        ("tool_result", "a rise"),
        ("assistant", "It is the sea's rise."),
    ]
    assert [s.turn for s in main.spans] == [-1, 0, 0, 0, 1]
    assert kinds(helper) == [("tool_call", "grep"), ("tool_result", "1 hit")]
    assert helper.parent == SpawnedBy("t1", 2)
    assert codes(helper) == ["unlogged-request"]


def test_counts_costs_and_tools_of_a_request() -> None:
    more = {
        "llm.token_count.prompt": 12,
        "llm.token_count.completion": 5,
        "llm.token_count.prompt_details.cache_read": 4,
        "llm.token_count.completion_details.reasoning": 2,
        "llm.cost.total": 0.25,
        "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "lookup"}}',
        "llm.tools.10.tool.json_schema": '{"name": "last"}',
        "llm.tools.2.tool.json_schema": '{"name": "second"}',
    }
    trajectory = only([span("s1", None, "llm", 1, LLM | dotted(input=[USER], output=[CALL]) | more)])
    assert trajectory.spans[1].usage == {
        "input_tokens": 12,
        "output_tokens": 5,
        "cached_tokens": 4,
        "reasoning_tokens": 2,
        "cost": 0.25,
    }
    assert [tool.name for tool in trajectory.tools] == ["lookup", "second", "last"]


def test_an_old_style_call_and_an_image() -> None:
    legacy = {"role": "assistant", "function_call_name": "lookup", "function_call_arguments_json": '{"word": "ebb"}'}
    picture = {
        "role": "user",
        "contents.0.message_content.type": "text",
        "contents.0.message_content.text": "What is this?",
        "contents.1.message_content.type": "image",
        "contents.1.message_content.image.image.url": "data:...",
    }
    trajectory = only([span("s1", None, "llm", 1, LLM | dotted(input=[picture], output=[legacy]))])
    assert trajectory.spans[0].text == "What is this?\n[image]"
    assert trajectory.spans[1].arguments == {"word": "ebb"}
    assert codes(trajectory) == ["opaque-part", "unanswered-call"]
