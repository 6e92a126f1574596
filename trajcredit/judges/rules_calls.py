"""Rules on calls and their results: (action, how much of the rule's severity counts, reason) of each fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trajcredit.batching import call_keys, plain
from trajcredit.judges.reading import Found, Reading, code_in, quoted, specific, words
from trajcredit.judges.schema import DEEPEST, fault_of
from trajcredit.model import body

__all__ = [
    "bad_arguments",
    "contradicts_result",
    "failed_call",
    "invented_argument",
    "repeated_call",
    "unreadable_call",
    "unused_result",
]


def failed_call(reading: Reading) -> Found:
    """A result that failed, once for every action that caused one."""
    blamed = set()
    for i, span in enumerate(reading.spans):
        author = reading.author[i]
        if span.kind == "tool_result" and reading.graph.is_error[i] and author is not None and author not in blamed:
            blamed.add(author)
            yield author, 1.0, f"its result is a failure: {quoted(_telling(span.text))}"


def repeated_call(reading: Reading) -> Found:
    """The same tool and arguments, the first time not failed, and no change of state in between."""
    earlier: dict[int, int] = {}
    for i, key in enumerate(call_keys(reading.trajectory)):
        if not key:
            continue
        if reading.graph.is_write[i]:
            if not reading.graph.is_error[i]:
                earlier.clear()
        elif key in earlier:
            name = reading.spans[i].name
            yield (
                i,
                1.0,
                f"{name} {quoted(body(reading.spans[i]))} was called before, and no call since changed anything",
            )
        if not reading.graph.is_error[i]:
            earlier[key] = i


def unused_result(reading: Reading) -> Found:
    """A look whose result no later span took a value or state from, though actions follow."""
    last = reading.actions[-1] if reading.actions else -1
    for i, span in enumerate(reading.spans):
        if span.kind != "tool_result" or span.result_of is None or i > last:
            continue
        call = span.result_of
        failed, writes = reading.graph.is_error[i], reading.graph.is_write[call]
        says = any(map(str.isalnum, span.text))
        if says and not (failed or writes or code_in(reading.spans[call]) or i in reading.used):
            yield call, 1.0, f"nothing after it uses what it returned: {quoted(span.text)}"


def invented_argument(reading: Reading) -> Found:
    """A code (letters and digits in one word, a long number) in the arguments that no earlier span has, whole, and no
    edge explains. Small numbers can be worked out and dates can be written in another way: they are not looked at."""
    for i, span in enumerate(reading.spans):
        if span.kind == "tool_call" and not code_in(span):
            new = reading.invented_codes(i)
            if new:
                yield i, 1.0, f"nothing before says {', '.join(map(quoted, new[:3]))}"


def contradicts_result(reading: Reading) -> Found:
    """An argument named like a field of earlier results, with a value that no span before has, nor that field."""
    fields: dict[str, list[str]] = {}
    for i, span in enumerate(reading.spans):
        if span.kind == "tool_result":
            for name, value in _leaves(_read(span.text), ""):
                fields.setdefault(name, []).append(value)
        elif span.kind == "tool_call":
            new = set(map(str.lower, reading.invented_codes(i)))
            for name, value in _leaves(span.arguments, ""):
                said = fields.get(name, [])
                if said and value not in said and set(map(str.lower, specific(value).values())) & new:
                    yield i, 1.0, f"{name} is {quoted(value)}, and results said {quoted(said[-1])}"
                    break


def bad_arguments(reading: Reading) -> Found:
    """Arguments against the parameters that the tool declares."""
    schemas = {tool.name: tool.parameters for tool in reading.trajectory.tools}
    for i, span in enumerate(reading.spans):
        schema = schemas.get(span.name or "")
        if span.kind == "tool_call" and isinstance(schema, dict) and span.arguments is not None:
            fault = fault_of(span.arguments, schema)
            if fault:
                yield i, 1.0, f"{span.name}: {fault}"


def unreadable_call(reading: Reading) -> Found:
    """A call with logged arguments that are no JSON."""
    for i, span in enumerate(reading.spans):
        if span.kind == "tool_call" and span.arguments is None and (span.arguments_raw or "").strip():
            yield i, 1.0, f"its arguments are not JSON: {quoted(span.arguments_raw or '')}"


def _telling(text: str) -> str:
    """The last line of a traceback, where there is one: it says what went wrong."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if len(lines) > 1 and any("Traceback" in line for line in lines) else text


def _read(text: str) -> Any:
    """A result as JSON; null where it is none, or nested deeper than anybody reads."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _leaves(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """(field, value as text) of every text and number in a JSON value; items of a list have the list's name."""
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, str(key), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name, depth + 1)
    elif name and isinstance(value, str | int | float) and not isinstance(value, bool) and words(str(value)):
        yield name, str(plain(value))
