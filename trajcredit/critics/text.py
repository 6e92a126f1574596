"""Texts as tokens and JSON as leaves: what every part of a description reads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

__all__ = ["is_number", "leaves", "parsed", "size", "tokens"]

TOKEN = re.compile(r"\w+")
LONGEST_NUMBER = 11
"""Digits beyond which digits are an id, not a quantity."""
REMEMBERED = 200
"""Characters of a text up to which its tokens are kept: arguments recur, long results do not."""
DEEPEST = 64
"""Levels of JSON that are looked into."""


def tokens(text: str) -> tuple[str, ...]:
    """Runs of letters, digits and underscores, in lower case."""
    return _remembered(text) if len(text) <= REMEMBERED else _read(text)


def _read(text: str) -> tuple[str, ...]:
    return tuple(TOKEN.findall(text.lower()))


_remembered = lru_cache(maxsize=1 << 15)(_read)


def is_number(token: str) -> bool:
    """Whether a token is a quantity written in digits."""
    return len(token) <= LONGEST_NUMBER and token.isascii() and token.isdecimal()


def leaves(value: Any) -> list[tuple[str, Any]]:
    """(path, leaf) of a JSON value; a list adds [] to the path, whatever the position in it."""
    found: list[tuple[str, Any]] = []
    _collect(value, "", 0, found)
    return found


def _collect(value: Any, path: str, depth: int, found: list[tuple[str, Any]]) -> None:
    if depth < DEEPEST and isinstance(value, dict):
        for key, inner in value.items():
            place = f"{path}.{key}" if path else str(key)
            if isinstance(inner, dict | list):
                _collect(inner, place, depth + 1, found)
            else:
                found.append((place, inner))
    elif depth < DEEPEST and isinstance(value, list):
        place = path + "[]"
        for inner in value:
            if isinstance(inner, dict | list):
                _collect(inner, place, depth + 1, found)
            else:
                found.append((place, inner))
    else:
        found.append((path, value))


def parsed(text: str) -> Any:
    """The JSON object or list that a text is; None where it is other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def size(n: int) -> int:
    """A count as one of seven sizes: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, more."""
    return n if n <= 2 else min((n - 1).bit_length() + 1, 6)
