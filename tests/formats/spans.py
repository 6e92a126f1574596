"""Traces for the tests of readers of span exports, written as a program would log them."""

from __future__ import annotations

import json
from typing import Any

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Trajectory, check, decode, encode

__all__ = ["agent", "answer", "call", "chat", "codes", "kinds", "only", "read_all", "result", "said", "span", "tool"]


def read_all(value: Any, name: str = "runs/log.json", format: str | None = None) -> list[Trajectory]:
    """The trajectories of a document, which must hold no errors; each comes back equal from its own form."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    found = list(read_bytes(data, name, format=format))
    assert not [item for item in found if isinstance(item, ParseError)], found
    for item in found:
        assert isinstance(item, Trajectory)
        check(item)
        assert decode(encode(item)) == item
    return [item for item in found if isinstance(item, Trajectory)]


def only(value: Any, format: str | None = None) -> Trajectory:
    """The one trajectory of a document."""
    [trajectory] = read_all(value, format=format)
    return trajectory


def kinds(trajectory: Trajectory) -> list[tuple[str, str]]:
    """Kind and text of every span; of a call its tool."""
    return [(s.kind, s.name or "" if s.kind == "tool_call" else s.text) for s in trajectory.spans]


def codes(trajectory: Trajectory) -> list[str]:
    return [note.code for note in trajectory.report]


def span(span_id: str, parent: str | None, name: str, at: int, attributes: dict[str, Any], **more: Any) -> Any:
    """A span that lasts as long as the next one begins, a second each."""
    return {
        "trace_id": "t1",
        "span_id": span_id,
        "parent_span_id": parent,
        "name": name,
        "start_time": f"2026-05-01T00:{at // 60:02d}:{at % 60:02d}Z",
        "end_time": f"2026-05-01T00:{at // 60:02d}:{at % 60:02d}.5Z",
        "attributes": attributes,
        **more,
    }


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def answer(text: str) -> dict[str, Any]:
    return said("assistant", text)


def call(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    """An answer that calls tools: id, name, arguments."""
    parts = [{"type": "tool_call", "id": i, "name": name, "arguments": arguments} for i, name, arguments in calls]
    return {"role": "assistant", "parts": parts}


def result(call_id: str, text: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": text}]}


def chat(
    span_id: str, parent: str | None, at: int, asked: list[Any] | None, answered: Any = None, **more: Any
) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", **more.pop("attributes", {})}
    if asked is not None:
        attributes["gen_ai.input.messages"] = json.dumps(asked)
    if answered is not None:
        attributes["gen_ai.output.messages"] = json.dumps([answered])
    made: dict[str, Any] = span(span_id, parent, "chat m", at, attributes, **more)
    return made


def tool(
    span_id: str, parent: str | None, at: int, name: str, call_id: str | None = None, **more: Any
) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    for key in ("arguments", "result"):
        if key in more:
            attributes[f"gen_ai.tool.call.{key}"] = more.pop(key)
    made: dict[str, Any] = span(span_id, parent, f"execute_tool {name}", at, attributes, **more)
    return made


def agent(span_id: str, parent: str | None, at: int, name: str, **more: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    made: dict[str, Any] = span(span_id, parent, f"invoke_agent {name}", at, attributes, **more)
    return made
