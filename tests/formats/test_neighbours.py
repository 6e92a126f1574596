"""Formats that look alike: every reader is asked about every log, as it is and in disguise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.formats.neighbours import JSON_LOGS, LOGS, format_of, lines, values
from trajcredit.formats import Document, Match, read_bytes
from trajcredit.model import Trajectory
from trajcredit.registry import formats

FALLBACK = "openai_chat"
"""What is read as this is claimed by no reader that knows more of its keys."""


def matches(data: bytes, name: str = "a.log") -> dict[str, Match]:
    document = Document(name, data)
    return {name: plugin().sniff(document) for name, plugin in formats.items().items()}


def surest(data: bytes) -> list[str]:
    """The readers that are surer than all others; none where all say no."""
    found = matches(data)
    best = max(found.values())
    return [name for name, match in found.items() if match == best != Match.NO]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_of_all_readers_only_its_own_is_sure_of_a_log(path: Path) -> None:
    assert surest(path.read_bytes()) == [format_of(path)]
    match = matches(path.read_bytes())[format_of(path)]
    assert match == Match.FALLBACK if format_of(path) == FALLBACK else match > Match.FALLBACK


NAMED = [{"role": "user", "name": "ann", "content": "Hi"}, {"role": "assistant", "name": "bob", "content": "Yo"}]
PLAIN = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]
BLOCKS = [{"role": "assistant", "content": [{"type": "tool_use", "id": "q", "name": "f", "input": {}}]}]
SPAN = {"trace_id": "a", "span_id": "b", "name": "chat", "attributes": {"gen_ai.operation.name": "chat"}}
BOTH = {**SPAN, "attributes": {"gen_ai.operation.name": "chat", "openinference.span.kind": "LLM"}}
LINE = {"type": "assistant", "message": BLOCKS[0]}
RUN = {"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": 1}}


@pytest.mark.parametrize(
    ("row", "format"),
    [
        pytest.param({"messages": PLAIN, "reward": 1}, "openai_chat", id="a chat row"),
        pytest.param({"messages": NAMED, "reward": 1}, "who_and_when", id="names that speak, and no tool"),
        pytest.param({"messages": [*NAMED, {"role": "tool", "content": "4"}]}, "openai_chat", id="names, and a tool"),
        pytest.param({"messages": BLOCKS, "reward": 1}, "anthropic", id="blocks"),
        pytest.param({"messages": PLAIN, "system": "s", "max_tokens": 9}, "anthropic", id="a request without blocks"),
        pytest.param({"messages": PLAIN, "prompt": "a", "completion": "b"}, "trl", id="a completion beside messages"),
        pytest.param({"prompt": PLAIN, "completion": "b"}, "trl", id="a completion"),
        pytest.param({"prompt": PLAIN, "completion": "b", "reward": 1}, "verifiers", id="a completion with its reward"),
        pytest.param(
            {"step": 1, "prompt": "a", "completion": "b", "reward": 1.0, "advantage": 0.0}, "trl", id="a log of GRPO"
        ),
        pytest.param({"messages": PLAIN, "input": "a", "output": "b", "score": 1, "step": 2}, "verl", id="a dump"),
        pytest.param({"id": 1, "epoch": 1, "target": "", "messages": NAMED}, "inspect", id="a sample with names"),
        pytest.param({"id": 1, "epoch": 1, "target": "", "messages": BLOCKS}, "inspect", id="a sample with blocks"),
        pytest.param({**RUN, "messages": NAMED}, "tau2_bench", id="a simulation with names"),
        pytest.param(
            {"messages": BLOCKS, "trajectory_format": "mini-swe-agent-1.1", "info": {}}, "mini_swe_agent", id="a run"
        ),
        pytest.param({**LINE, "uuid": "u", "parentUuid": None, "sessionId": "s"}, "claude_code", id="a session"),
        pytest.param({**LINE, "parent_tool_use_id": None, "session_id": "s"}, "claude_code_stream", id="a stream"),
        pytest.param(SPAN, "otel_genai", id="a span"),
        pytest.param(BOTH, "openinference", id="a span of two conventions"),
        pytest.param(
            {**BOTH, "rollout_id": "r", "attempt_id": "t", "sequence_id": 1}, "agent_lightning", id="of a rollout"
        ),
        pytest.param(
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}}, "codex", id="item"
        ),
        pytest.param(
            {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "x"}},
            "codex_exec",
            id="event",
        ),
        pytest.param(
            {"request": {"messages": PLAIN}, "response": {"choices": [{"message": PLAIN[1]}]}},
            "openai_completions",
            id="an exchange",
        ),
        pytest.param(
            {"request": {"messages": BLOCKS}, "response": {"type": "message", "role": "assistant", "content": []}},
            "anthropic",
            id="the other API's",
        ),
    ],
)
def test_which_of_two_that_look_alike(row: dict[str, Any], format: str) -> None:
    assert surest(json.dumps(row).encode()) == [format]


# ---------------------------------------------------------------- disguises


def backwards(value: Any) -> Any:
    """The same with the keys of every object in the opposite order."""
    if isinstance(value, list):
        return [backwards(item) for item in value]
    return {key: backwards(value[key]) for key in reversed(value)} if isinstance(value, dict) else value


DISGUISES: dict[str, Callable[[list[Any]], bytes]] = {
    "with spaces, in ASCII": lambda rows: lines(rows),
    "without spaces": lambda rows: b"\n".join(json.dumps(r, separators=(",", ":")).encode() for r in rows),
    "keys backwards": lambda rows: lines(backwards(rows)),
    "over many lines": lambda rows: json.dumps(rows[0] if len(rows) == 1 else rows, indent=2).encode(),
    "behind a byte order mark": lambda rows: b"\xef\xbb\xbf" + lines(rows),
    "ends of lines of Windows": lambda rows: lines(rows).replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
def test_the_form_of_the_json_does_not_matter(path: Path, disguise: str) -> None:
    rows = values(path)
    assert rows is not None
    data = DISGUISES[disguise](rows)
    own = format_of(path)
    assert surest(data) == [own]
    assert shape(data, path.name) == shape(path.read_bytes(), path.name)


def odd(value: Any) -> Any:
    """The same with half a surrogate pair and a NUL behind every text that is prose."""
    if isinstance(value, list):
        return [odd(item) for item in value]
    if isinstance(value, dict):
        return {key: odd(item) for key, item in value.items()}
    prose = isinstance(value, str) and " " in value and value[0] not in "{[" and not value[0].isdigit()
    return value + "\ud83d\0" if prose else value


@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
def test_characters_that_must_be_replaced_hide_no_format(path: Path) -> None:
    rows = values(path)
    assert rows is not None
    data = lines(odd(rows))
    own = format_of(path)
    assert surest(data) == [own]
    assert len(shape(data, path.name)) == len(shape(path.read_bytes(), path.name))


def shape(data: bytes, name: str) -> list[tuple[str, int, int]]:
    """Format, spans and rewards of every trajectory."""
    found = [item for item in read_bytes(data, name) if isinstance(item, Trajectory)]
    return [(t.source.format if t.source else "", len(t.spans), len(t.rewards)) for t in found]


# ---------------------------------------------------------------- logs inside of logs


def holding(told: Any) -> Iterator[tuple[str, Any]]:
    """Logs of several formats in which a tool was given, or gave back, another log."""
    text = json.dumps(told)
    asked = {"role": "user", "content": f"What is this? {text}"}
    call = {"id": "q", "type": "function", "function": {"name": "parse", "arguments": json.dumps({"log": told})}}
    as_object = {**call, "function": {"name": "parse", "arguments": {"log": told}}}
    said = {"role": "assistant", "content": text, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "q", "content": text}
    yield "openai_chat", {"messages": [asked, said, result], "reward": 1}
    yield "openai_chat", {"messages": [asked, {**said, "tool_calls": [as_object]}, result]}
    yield "openai_chat", [asked, said, result]
    use = {"type": "tool_use", "id": "q", "name": "parse", "input": {"log": told}}
    back = {"type": "tool_result", "tool_use_id": "q", "content": text}
    blocks = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]
    yield "anthropic", {"messages": [{"role": "user", "content": text}, *blocks]}
    item = {"type": "function_call", "call_id": "q", "name": "parse", "arguments": json.dumps({"log": told})}
    output = {"type": "function_call_output", "call_id": "q", "output": text}
    yield "openai_responses", {"input": [{"role": "user", "content": text}, item, output]}
    part = {"functionCall": {"name": "parse", "args": {"log": told}}}
    answer = {"functionResponse": {"name": "parse", "response": {"log": told}}}
    contents = [("user", {"text": text}), ("model", part), ("user", answer)]
    yield "gemini", {"contents": [{"role": role, "parts": [piece]} for role, piece in contents]}
    yield "tau_bench", {"task_id": 1, "reward": 1.0, "info": {}, "traj": [asked, said, result], "trial": 0}
    yield "verifiers", {"prompt": [asked], "completion": [said, result], "reward": 1.0, "info": {"log": told}}
    yield "trl", {"prompt": [asked], "completion": [{**said, "tool_calls": [as_object]}, result]}
    yield "verl", {"input": text, "output": text, "gts": "", "score": 1.0, "step": 1}
    yield "sharegpt", {"conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": text}]}


@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
def test_a_log_in_the_hands_of_a_tool_is_no_reason_to_read_the_whole_as_such(path: Path) -> None:
    rows = values(path)
    assert rows is not None
    for told in (rows[0], rows):
        for own, row in holding(told):
            data = json.dumps(row).encode()
            assert surest(data) == [own], own
            [found] = read_bytes(data, "a.json")
            assert isinstance(found, Trajectory), found
            assert found.source is not None
            assert found.source.format == own
