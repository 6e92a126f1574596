"""Results and scores of the Berkeley Function Calling Leaderboard: one task a line.

| key | is |
| --- | --- |
| `inference_log` | what was said, step by step; results of calls are only here |
| `result` | the calls where there is no such log: `{NAME: JSON text}`, `f(a=1)` or plain text, in turns and steps |
| `id` | the task; runs of several files are compared by it |
| `valid` | false in a score file, which lists failures only: reward 0 |
| token counts, `latency` | what it cost |

| note | says |
| --- | --- |
| `written-call` | calls were written as text: those found are marked as inferred |
| `run-error` | the checker of a score file says what is wrong |
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.labels import Labels, of_entries, several
from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of
from trajcredit.formats.split import Record
from trajcredit.formats.written import SAID
from trajcredit.model import LARGEST_INTEGER, Note, SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["Bfcl"]

FORMAT = "bfcl"
SPOKEN: dict[str, SpanKind] = {"tool": "tool_result", "user": "user", "system": "system"}
LONGEST = 20_000
"""Characters of a call written as Python that are parsed."""


class Row(msgspec.Struct, gc=False):
    """One task of a result or score file."""

    id: str | int | None = None
    result: Any = None
    inference_log: list[Any] | None = None
    reasoning_content: Any = None
    valid: bool | None = None
    model_result_raw: Any = None
    model_result_decoded: Any = None
    error: Any = None
    input_token_count: Any = None
    output_token_count: Any = None
    accuracy: float | None = None


_decode = msgspec.json.Decoder(Row).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Bfcl:
    """BFCL results and scores: turns and steps of one task a line; a score file lists failures, which get 0.

    Left out: states of the environment, the possible answers, what models wrote beside their decoded calls.
    """

    def sniff(self, document: Document) -> Match:
        """`result` or a verdict beside `inference_log` or counts; a score file begins with its totals."""
        keys = document.keys
        if {"accuracy", "correct_count", "total_count"} <= keys and len(document.head) > 0:
            return Match.YES
        counted = not keys.isdisjoint(("inference_log", "input_token_count", "latency"))
        return Match.YES if {"id", "result"} <= keys and counted else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a task."""
        return several(document, _decode, _trajectories)


def _trajectories(document: Document, record: Record, row: Row, notes: list[Note]) -> Iterator[Trajectory]:
    if row.id is None and row.accuracy is not None:
        return  # the totals of a score file
    entries = _of_log(row.inference_log) if row.inference_log else []
    if not any(entry.acts for entry in entries):
        raw = row.result if row.result is not None else row.model_result_raw
        entries += _of_result(raw)
    if isinstance(row.reasoning_content, str) and row.reasoning_content:
        first = next((entry for entry in entries if entry.acts), None)
        if first is not None:
            first.parts.insert(0, Part("reasoning", row.reasoning_content))
    counts = {"input_tokens": _sum(row.input_token_count), "output_tokens": _sum(row.output_token_count)}
    first = next((entry for entry in entries if entry.acts and entry.parts), None)
    if first is not None:
        first.usage = {name: number for name, number in counts.items() if number is not None} or None
    if any(part.inferred for entry in entries for part in entry.parts):
        notes = [*notes, Note(*SAID)]
    if row.error:
        notes = [*notes, Note("run-error", f"the checker reports: {json_text(row.error)[:500]}")]
    task = None if row.id is None else str(row.id)
    labels = Labels(task=task, group=task, reward=row.valid)
    labels.trajectory_id = f"{document.name}:{task}" if task is not None else None
    yield of_entries(entries, labels, document, record, FORMAT, notes=notes)


def _of_log(log: list[Any]) -> list[Entry]:
    """Messages of the log in order, its handler's notes and states as what nobody said."""
    entries: list[Entry] = []
    for item in log:
        for message in _messages(item):
            role, content = message.get("role"), message.get("content")
            if role == "assistant":
                entries.append(Entry(_calls(content), acts=True))
            elif isinstance(role, str) and role in SPOKEN:
                text, opaque = text_of(content)
                entries.append(Entry([Part(SPOKEN[role], text, opaque=opaque or None)]))
            elif role == "handler_log":
                _decode_calls(entries, message.get("model_response_decoded"))
            else:
                entries.append(Entry([Part("meta", json_text(message))]))
    return entries


def _messages(item: Any) -> Iterator[dict[str, Any]]:
    """A list of messages, or turns: the question, then steps, each a list of messages."""
    if isinstance(item, list):
        yield from (message for message in item if isinstance(message, dict))
    elif isinstance(item, dict) and "role" in item:
        yield item
    elif isinstance(item, dict):
        for inner in item.values():
            yield from _messages(inner) if isinstance(inner, list) else ()


def _of_result(result: Any, depth: int = 0) -> list[Entry]:
    """Turns of steps of calls, or one answer."""
    if isinstance(result, list) and depth < 2 and any(isinstance(item, list) for item in result):
        return [entry for item in result for entry in _of_result(item, depth + 1)]
    if isinstance(result, list) and depth and not all(isinstance(item, dict) for item in result):
        return [Entry(_calls(item), acts=True) for item in result]
    return [Entry(_calls(result), acts=True)]


def _calls(content: Any) -> list[Part]:
    """`{NAME: arguments}` or lists of them are calls; so is a text of Python calls; other text is said."""
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list) and content and all(isinstance(item, dict) for item in content):
        return [
            Part("tool_call", name=name, arguments=arguments_of(given))
            for item in content
            for name, given in item.items()
        ]
    if isinstance(content, list) and content and all(isinstance(item, str) for item in content):
        return [part for item in content for part in _python(item) or [Part("assistant", item)]]
    text, opaque = text_of(content)
    return _python(text) or ([Part("assistant", text, opaque=opaque or None)] if text.strip() else [])


def _decode_calls(entries: list[Entry], logged: Any) -> None:
    """The handler's reading of an answer that was plain text."""
    last = entries[-1] if entries else None
    if last is None or not last.acts or any(part.kind == "tool_call" for part in last.parts):
        return
    found = _calls(logged) if isinstance(logged, list) and logged else []
    if found and all(part.kind == "tool_call" for part in found):
        for part in found:
            part.inferred = True
        last.parts += found


def _python(text: str) -> list[Part]:
    """The calls of `[f(a=1), g()]` or `f(a=1)`; nothing where the text is anything else."""
    bare = text.strip()
    if not bare.endswith((")", ")]")) or len(bare) > LONGEST:
        return []
    try:
        with warnings.catch_warnings(action="ignore"):  # odd escapes in texts are no concern of the user's
            tree = ast.parse(bare, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    found: list[Part] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return []
        value = _arguments(node)
        raw = ast.get_source_segment(bare, node)
        found.append(Part("tool_call", name=ast.unparse(node.func), arguments=Arguments(value, raw), inferred=True))
    return found


def _arguments(call: ast.Call) -> dict[str, Any] | None:
    """Keyword arguments by name, others by place; null where one is no literal."""
    try:
        values = {str(place): ast.literal_eval(given) for place, given in enumerate(call.args)}
        values |= {given.arg or "**": ast.literal_eval(given.value) for given in call.keywords}
        return msgspec.json.decode(msgspec.json.encode(values), type=dict[str, Any])
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, msgspec.MsgspecError):
        return None


def _sum(counts: Any) -> int | None:
    """Counts of turns and steps, added up."""
    waiting, numbers = [counts], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif type(value) in (int, float) and 0 <= value <= LARGEST_INTEGER:
            numbers.append(int(value))
    return min(sum(numbers), LARGEST_INTEGER) if numbers else None
