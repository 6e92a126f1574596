"""The small log of each format, as the JSON values it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trajcredit.registry import formats

__all__ = ["JSON_LOGS", "LOGS", "format_of", "lines", "values"]

LOGS = sorted((Path(__file__).parents[1] / "data").iterdir())


def format_of(path: Path) -> str:
    """The log is called after its format."""
    return max((name for name in formats.items() if path.name.startswith(name)), key=len)


def values(path: Path) -> list[Any] | None:
    """The JSON values of a log, one a record; null where it is no JSON, or a stream of events."""
    if path.suffix in (".pb", ".sse"):
        return None
    text = path.read_text(encoding="utf-8")
    try:
        whole = json.loads(text)
    except ValueError:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return None
    return whole if isinstance(whole, list) else [whole]


def lines(rows: list[Any]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


JSON_LOGS = [path for path in LOGS if values(path) is not None]
