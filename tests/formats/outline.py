"""What a reader made of a log, short enough to write down as the expectation of a test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Trajectory

__all__ = ["codes", "errors", "found", "jsonl", "outline", "read_one"]


def jsonl(rows: Iterable[Any]) -> bytes:
    """Rows as JSON lines; text is a line as it stands."""
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def found(value: Any, name: str = "log.json", format: str | None = None) -> list[Trajectory]:
    """Every trajectory of a log given as bytes or as a JSON value; there must be no error."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    items = list(read_bytes(data, name, format))
    assert not [item for item in items if isinstance(item, ParseError)], items
    return [item for item in items if isinstance(item, Trajectory)]


def errors(data: bytes, name: str = "log.json", format: str | None = None) -> list[str]:
    """What could not be read."""
    return [str(item) for item in read_bytes(data, name, format) if isinstance(item, ParseError)]


def read_one(value: Any, name: str = "log.json", format: str | None = None) -> Trajectory:
    """The one trajectory of a log."""
    [trajectory] = found(value, name, format)
    return trajectory


def outline(trajectory: Trajectory) -> list[str]:
    """A span a line: turn, kind, tool, the call it answers, `!` where it failed, text."""
    lines = []
    for span in trajectory.spans:
        answers = "" if span.result_of is None else f" of {span.result_of}"
        words = [f"{span.turn} {span.kind}", span.name or "", answers.strip(), "!" if span.error else "", span.text]
        lines.append(" ".join(word for word in words if word))
    return lines


def codes(trajectory: Trajectory) -> list[str]:
    """The codes of what was guessed."""
    return [note.code for note in trajectory.report]
