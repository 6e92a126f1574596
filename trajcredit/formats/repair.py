"""What is done with JSON that the fast decoder refuses: mend one character, or say what is wrong and where."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

__all__ = ["MAX_DEPTH", "TOO_DEEP", "mended", "too_deep", "why"]

MAX_DEPTH = 100
"""Levels a value of a log may nest; deeper ones are refused, so that no later stage runs out of stack."""
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

# escapes are taken from left to right, so that the `\\u0000` of JSON text inside JSON text stays as it is
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|(?P<nul>\\u0000)"
    rb"|\\.",
    re.DOTALL,
)
_MENDED = {"half": rb"\ufffd", "nul": rb"\u2400"}


def mended(data: bytes) -> bytes:
    """The same JSON with half surrogate pairs as U+FFFD and NUL as U+2400: text that any database can hold."""
    return _ESCAPE.sub(lambda found: _MENDED[found.lastgroup] if found.lastgroup else found[0], data)


def too_deep(value: Any) -> bool:
    """Whether a decoded value nests deeper than MAX_DEPTH levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inside += item.values()
            elif isinstance(item, list):
                inside += item
        if not inside:
            return False
        level = inside
    return any(isinstance(item, dict | list) for item in level)


def why(data: bytes, error: Exception) -> str:
    """Why one record was refused, in words that name the field or the byte."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, msgspec.ValidationError):
        return str(error)
    try:
        data.decode()
    except UnicodeDecodeError as broken:
        return f"not UTF-8 at byte {broken.start}"
    field = _not_finite(data) if b"NaN" in data or b"Infinity" in data else None
    return field or f"not JSON: {error}"


class _NotFinite(str):
    """NaN, Infinity or -Infinity, where JSON has no such thing."""


def _not_finite(data: bytes) -> str | None:
    """The first NaN or Infinity with its path; null where the text is not JSON for another reason."""
    try:
        waiting: list[tuple[str, Any]] = [("$", json.loads(data, parse_constant=_NotFinite))]
    except (ValueError, RecursionError):
        return None
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _NotFinite):
            return f"{value} is not a finite number - at `{path}`"
        if isinstance(value, dict):
            waiting += reversed([(f"{path}.{key}", item) for key, item in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(f"{path}[{index}]", item) for index, item in enumerate(value)])
    return None
