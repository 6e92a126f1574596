"""Small logs -> trajectories, for the tests of readers."""

from __future__ import annotations

import json
from typing import Any

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Span, Trajectory, decode, encode

__all__ = ["calls", "codes", "kinds", "pairs", "read_events", "read_lines", "read_one", "refusals", "texts"]


def read_lines(*rows: Any, format: str | None = None, name: str = "a.jsonl") -> list[Trajectory | ParseError]:
    """What a log with these rows gives; a row of bytes stands as it is. Every trajectory survives a round trip."""
    lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
    found = list(read_bytes(b"\n".join(lines), name, format=format))
    for item in found:
        if isinstance(item, Trajectory):
            assert decode(encode(item)) == item
    return found


def read_one(*rows: Any, format: str | None = None) -> Trajectory:
    """The only trajectory of a log."""
    [found] = read_lines(*rows, format=format)
    assert isinstance(found, Trajectory), found
    return found


def read_events(*events: Any) -> Trajectory:
    """The only trajectory of a stream of server-sent events."""
    data = b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"  \n\n" for event in events)
    [found] = read_bytes(data + b"data: [DONE]\n\n", "a.sse")
    assert isinstance(found, Trajectory), found
    return found


def refusals(found: list[Trajectory | ParseError]) -> list[tuple[int | None, str]]:
    """Line and reason of every error."""
    return [(item.line, item.reason) for item in found if isinstance(item, ParseError)]


def kinds(trajectory: Trajectory) -> list[str]:
    return [span.kind for span in trajectory.spans]


def texts(trajectory: Trajectory, kind: str) -> list[str]:
    return [span.text for span in trajectory.spans if span.kind == kind]


def calls(trajectory: Trajectory) -> list[Span]:
    return [span for span in trajectory.spans if span.kind == "tool_call"]


def pairs(trajectory: Trajectory) -> list[tuple[str | None, str, bool | None]]:
    """Tool of the call that is answered, the answer's text, and whether it failed."""
    spans = trajectory.spans
    return [(spans[s.result_of].name, s.text, s.error) for s in spans if s.result_of is not None]


def codes(trajectory: Trajectory) -> list[str]:
    return [note.code for note in trajectory.report]
