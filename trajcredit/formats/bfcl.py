"""Results and scores of the Berkeley Function Calling Leaderboard: one task a line.

| key | is |
| --- | --- |
| `inference_log` | what was said, step by step; results of calls are only here |
| `result` | the calls where there is no such log: `{NAME: JSON text}`, `f(a=1)` or plain text, in turns and steps |
| `id` | the task; runs of several files are compared by it |
| `valid` | false in a score file, which lists failures only: reward 0 |
| `..._score.json` beside `..._result.json`, or in `score/` beside `result/` | what it does not list passed |
| token counts, `latency` | what it cost |

| note | says |
| --- | --- |
| `written-call` | calls were written as text: those found are marked as inferred |
| `run-error` | the checker of a score file says what is wrong |
| `score-mismatch` | the totals of the score file do not fit: who passed is unknown, its failures count |
| `companion-missing` | no score file lies beside the results: whether a task passed is unknown |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.bfcl_scores import Scores, is_score, partner, scores_beside
from trajcredit.formats.document import Document, Match
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.labels import Labels, of_entries, several
from trajcredit.formats.parts import arguments_of, json_text, text_of
from trajcredit.formats.pythonic import calls_in_python
from trajcredit.formats.split import Record
from trajcredit.formats.written import SAID
from trajcredit.model import LARGEST_INTEGER, Note, SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["Bfcl"]

FORMAT = "bfcl"
SPOKEN: dict[str, SpanKind] = {"tool": "tool_result", "user": "user", "system": "system"}


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
    """BFCL results and scores: turns and steps of one task a line; what the score file beside does not list passed.

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
        """One trajectory a task; a score file whose results lie beside it is read with those."""
        scores: Scores | None = None
        try:
            if not is_score(document):
                scores = scores_beside(document)
            elif (results := partner(document)) is not None:
                name = PurePosixPath(results.name).name
                yield SkippedFile(f"its verdicts belong to the results in {name}: read with those", document.place)
                return
        except ParseError as error:
            yield document.error(f"the file beside it, {error.file}, cannot be read: {error.reason}")
        yield from several(document, _decode, partial(_trajectories, scores))


def _trajectories(
    scores: Scores | None, document: Document, record: Record, row: Row, notes: list[Note]
) -> Iterator[Trajectory]:
    if row.id is None and row.accuracy is not None:
        return  # the totals of a score file
    logged = (row.result, row.inference_log, row.model_result_raw, row.valid, row.error)
    if all(value is None for value in logged):
        raise InputError("neither `result` nor `inference_log` nor a verdict: no row of BFCL")
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
    passed = row.valid
    if scores is not None and passed is None:
        passed, said = scores.of(task)
        notes = [*notes, *said]
    elif passed is None:
        notes = [*notes, document.missing("no score file beside it: whether it passed is unknown")]
    labels = Labels(task=task, group=task, reward=passed)
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
        return [part for item in content for part in calls_in_python(item) or [Part("assistant", item)]]
    text, opaque = text_of(content)
    return calls_in_python(text) or ([Part("assistant", text, opaque=opaque or None)] if text.strip() else [])


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
