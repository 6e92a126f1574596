"""Small logs with one value of them replaced by one that hurts, and how much work a reader has with what hurts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from tests.formats.neighbours import lines, values
from trajcredit import formats

__all__ = ["HOSTILE", "damaged", "deep", "places", "steps"]

READERS = str(Path(formats.__file__).parent)

MARK = "<<here>>"


def deep(levels: int, opener: bytes = b"[", closer: bytes = b"]") -> bytes:
    return opener * levels + closer * levels


HOSTILE: dict[str, bytes] = {
    "99 levels": deep(99),
    "101 levels": deep(101),
    "1,000 levels": deep(1000),
    "100,000 levels": deep(100_000),
    "1,000 levels of objects": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "1,000 levels in a text": b'"' + deep(1000) + b'"',
    "2^63": b"9223372036854775808",
    "2^64": b"18446744073709551616",
    "-2^63 - 1": b"-9223372036854775809",
    "5,000 digits": b"9" * 5000,
    "5,000 digits in a text": b'"' + b"9" * 5000 + b'"',
    "1e400": b"1e400",
    "1e308": b"1e308",
    "-0.0": b"-0.0",
    "a denormal": b"5e-324",
    "NaN": b"NaN",
    "-Infinity": b"-Infinity",
    "half a surrogate pair": b'"a\\ud83d"',
    "NUL": b'"a\\u0000"',
    "NUL as it is": b'"a\x00"',
    "bad UTF-8": b'"\xff\xfe"',
    "an escape of terminals": b'"\\u001b[2J"',
    "null": b"null",
    "true": b"true",
    "a text": b'"x"',
    "an empty text": b'""',
    "a list": b"[1]",
    "an object": b'{"a": 1}',
}
"""Name -> the bytes of a JSON value, or of what pretends to be one."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def damaged(path: Path, place: tuple[Any, ...], hostile: bytes) -> bytes:
    """The log with one value replaced; the first part of the place is the row."""
    rows = values(path)
    assert rows is not None
    holder: Any = rows
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = MARK
    return lines(rows).replace(json.dumps(MARK).encode(), hostile)


def steps(work: Callable[[], object]) -> int:
    """How many lines of the readers' code run while `work` does, each time counted, every turn of a loop too.

    What C code does in one call is one step: whoever hands it much counts that beside.
    """
    count = 0

    def line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        return line if frame.f_code.co_filename.startswith(READERS) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
