"""What may cross into SQL: text without NUL or half surrogate pairs, finite floats, integers of 64 bits."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from msgspec import convert, to_builtins
from msgspec.structs import replace

from trajcredit.errors import InputError
from trajcredit.model import Note, Trajectory

__all__ = ["clean", "cut", "finite", "misfit", "now", "project_name", "sanitised", "word"]

LONGEST_ID = 512
"""Characters of an id: four bytes each and a project beside it still fit PostgreSQL's 2,704 bytes of an index entry."""
LONGEST_PROJECT = 100
LONGEST_TOOL = 200
"""Characters of a tool's name that rows for queries keep; the document has all of it."""
_INT = 1 << 63
_UNFIT = re.compile("[\0\ud800-\udfff]")


def clean(text: str) -> str:
    """The text as both databases hold it: NUL as U+2400, half a surrogate pair as U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNFIT.sub(lambda found: "\u2400" if found[0] == "\0" else "\ufffd", text)


def cut(tool: str | None) -> str | None:
    """A tool's name as rows for queries keep it."""
    return None if tool is None else clean(tool[:LONGEST_TOOL])


def finite(value: float) -> float | None:
    """The number, or null where it is none: SQLite would do so silently, PostgreSQL would not."""
    return float(value) if isfinite(value) else None


def word(value: int, what: str) -> int:
    """The integer, if 64 bits hold it."""
    if not -_INT <= value < _INT:
        raise InputError(f"{what} {value} does not fit 64 bits")
    return value


def project_name(project: str) -> str:
    """The name, if both databases can index it."""
    if len(project) > LONGEST_PROJECT or clean(project) != project:
        raise InputError(f"project {project[:40]!r}: a name has at most {LONGEST_PROJECT} characters and no NUL")
    return project


def now() -> str:
    """The time in UTC, ISO 8601, always as long: sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def misfit(trajectory: Trajectory) -> str | None:
    """Why no database could hold a trajectory that `model.check` lets pass; null where it can."""
    if len(trajectory.id) > LONGEST_ID:
        return f"its id has {len(trajectory.id):,} characters; at most {LONGEST_ID}"
    numbers = {
        "the number of its tokens": sum(span.tokens.n or 0 for span in trajectory.spans if span.tokens is not None),
        "the span of its parent": trajectory.parent.span or 0 if trajectory.parent is not None else 0,
        "its line": trajectory.source.line or 0 if trajectory.source is not None else 0,
    }
    too_large = [name for name, number in numbers.items() if not -_INT <= number < _INT]
    return f"{too_large[0]} does not fit 64 bits" if too_large else None


def sanitised(trajectory: Trajectory) -> Trajectory:
    """The trajectory with every text cleaned, and a note that says so where it made a difference."""
    note = Note("sanitised", "half a surrogate pair or a NUL in the text: replaced by U+FFFD or U+2400")
    cleaned = convert(_cleaned(to_builtins(trajectory)), Trajectory)
    return trajectory if cleaned == trajectory else replace(cleaned, report=[*cleaned.report, note])


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value
