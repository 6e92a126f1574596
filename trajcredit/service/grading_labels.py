"""A file of labels -> what it says of spans and runs; every bad row is named, the rest is kept.

One JSON object a line; gzip and zstd are decoded. Rows of three forms, told apart by their keys:

- schema `trajcredit.label/1`, one span (`span_index`, or `message_index` with `tool_call_id`, null for text): a
  `verdict`, its true advantage as `value`, or both; `family` where runs are of several.
- `kind` task, trajectory or action, of a benchmark whose dynamics are known: the true advantage of every action, and
  the family and reward of its run.
- `candidates`, of a benchmark of failed runs: the candidate messages, `culprit_index` among them, `span_truth`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.sources import Source, load
from trajcredit.model import instant

__all__ = ["SCHEMA", "CulpritCase", "Labels", "RunTruth", "SpanLabel", "Verdict", "read_labels"]

SCHEMA = "trajcredit.label/1"
Verdict: TypeAlias = Literal["culprit", "contributed", "innocent", "unsure"]
FORMS = (
    f"schema {SCHEMA!r}, or a benchmark's row: `kind` task, trajectory or action, or `candidates` with `culprit_index`"
)

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class SpanLabel:
    """What one row says of one span. `message_index` with a null `tool_call_id` is the text of that message."""

    trajectory_id: str
    line: int
    span_index: int | None = None
    message_index: int | None = None
    tool_call_id: str | None = None
    verdict: Verdict | None = None
    value: float | None = None
    """The true advantage, in reward units."""
    family: str | None = None
    labeller: str | None = None
    at: str | None = None
    blind: bool | None = None
    queue: str | None = None
    """Where the trajectory was offered to the labeller."""


@dataclass(frozen=True, slots=True)
class RunTruth:
    """What a benchmark says of one run beside its actions."""

    group: str
    family: str
    reward: float


@dataclass(frozen=True, slots=True)
class CulpritCase:
    """A failed run whose candidates are messages: which is the culprit (null: none), which are known right or wrong."""

    trajectory_id: str
    line: int
    group: str
    candidates: tuple[int, ...]
    culprit: int | None
    right: dict[int, bool]
    """Message -> whether it is right, of those that were judged."""
    tags: dict[str, str] = field(default_factory=dict)
    """Other texts of the row by key, to pick cases by."""


@dataclass(frozen=True, slots=True)
class Labels:
    """All rows of a file, by what they are about. `binary` says of a benchmark's groups whether rewards are 0 or 1."""

    file: str
    spans: tuple[SpanLabel, ...] = ()
    runs: dict[str, RunTruth] = field(default_factory=dict)
    binary: dict[str, bool] = field(default_factory=dict)
    cases: tuple[CulpritCase, ...] = ()
    errors: tuple[ParseError, ...] = ()
    """Rows that could not be read; the others count."""


def read_labels(path: Path) -> Labels:
    """Every label of a file. ParseError where it is no text, InputError where no row of it is a label."""
    shown = str(path)
    data = load(Source(path.name, path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"not UTF-8 at byte {error.start}", shown) from error
    found = Labels(shown)
    spans: list[SpanLabel] = []
    cases: list[CulpritCase] = []
    errors: list[ParseError] = []
    for line, row in _rows(text):
        try:
            said = _read(row)
        except (msgspec.ValidationError, ValueError) as error:
            errors.append(ParseError(str(error), shown, line))
            continue
        match said:
            case _Task():
                found.binary[said.group_id] = said.binary
            case _Run():
                found.runs[said.trajectory_id] = RunTruth(said.group_id, said.family, said.reward)
            case _Case():
                cases.append(_case(said, row, line))
            case _:
                spans.append(_span(said, line))
    if not spans and not cases:
        first = f": {errors[0]}" if errors else f"; expected lines with {FORMS}"
        raise InputError(f"{shown}: no label in it{first}")
    return Labels(shown, tuple(spans), found.runs, found.binary, tuple(cases), tuple(errors))


class _Span(msgspec.Struct, forbid_unknown_fields=True):
    """A row of the schema."""

    schema: str
    trajectory_id: str
    span_index: int | None = None
    message_index: int | None = None
    tool_call_id: str | None = None
    verdict: Verdict | None = None
    value: float | None = None
    labeller: str | None = None
    at: str | None = None
    blind: bool | None = None
    seconds: float | None = None
    note: str | None = None
    family: str | None = None
    queue: str | None = None


class _Action(msgspec.Struct):
    """A benchmark's true advantage of one action."""

    trajectory_id: str
    message_index: int
    tool_call_id: str | None
    advantage_true: float


class _Run(msgspec.Struct):
    trajectory_id: str
    group_id: str
    family: str
    reward: float


class _Task(msgspec.Struct):
    group_id: str
    binary: bool


class _Case(msgspec.Struct):
    """A benchmark's failed run."""

    trajectory_id: str
    group_id: str
    candidates: list[int]
    culprit_index: int | None = None
    scored: bool | None = None
    span_truth: dict[int, float | None] | None = None


_Said: TypeAlias = _Span | _Action | _Run | _Task | _Case
_KINDS: dict[str, type[_Action | _Run | _Task]] = {"action": _Action, "trajectory": _Run, "task": _Task}


def _rows(text: str) -> Iterator[tuple[int, Any]]:
    """(line, what stands there); what is no JSON stands as the error."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, _decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                yield number, ValueError(f"not JSON: {error}")


def _read(row: Any) -> _Said:
    """The row in its form; ValueError or ValidationError says what was expected."""
    if isinstance(row, ValueError):
        raise row
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, not {type(row).__name__}")
    if row.get("schema") == SCHEMA:
        return _checked(msgspec.convert(row, _Span))
    if isinstance(row.get("kind"), str) and row["kind"] in _KINDS:
        return msgspec.convert(row, _KINDS[row["kind"]])
    if "candidates" in row:
        return _possible(msgspec.convert(row, _Case, str_keys=True))
    found = f"schema {row['schema']!r}" if "schema" in row else f"keys {', '.join(sorted(map(str, row))[:8])}"
    raise ValueError(f"{found}: no label; expected {FORMS}")


def _checked(said: _Span) -> _Span:
    if said.span_index is None and said.message_index is None:
        raise ValueError("names no span; expected `span_index`, or `message_index` with `tool_call_id` (null for text)")
    if said.verdict is None and said.value is None:
        raise ValueError(f"says nothing; expected a `verdict` ({', '.join(get_args(Verdict))}) or a `value`")
    try:
        instant(said.at)
    except InputError as error:
        raise ValueError(f"`at` is {said.at!r}; expected a time as ISO 8601, e.g. 2026-04-14T18:40:12Z") from error
    return said


def _possible(said: _Case) -> _Case:
    scored = said.culprit_index is not None if said.scored is None else said.scored
    if scored and said.culprit_index not in said.candidates:
        raise ValueError(f"`culprit_index` {said.culprit_index} is none of the `candidates`")
    if len(set(said.candidates)) < len(said.candidates):
        raise ValueError("`candidates` names a message twice")
    return said


def _span(said: _Span | _Action, line: int) -> SpanLabel:
    if isinstance(said, _Action):
        place = said.message_index, said.tool_call_id
        return SpanLabel(said.trajectory_id, line, None, *place, value=said.advantage_true)
    return SpanLabel(
        trajectory_id=said.trajectory_id,
        line=line,
        span_index=said.span_index,
        message_index=said.message_index,
        tool_call_id=said.tool_call_id,
        verdict=said.verdict,
        value=said.value,
        family=said.family,
        labeller=said.labeller,
        at=said.at,
        blind=said.blind,
        queue=said.queue,
    )


def _case(said: _Case, row: dict[str, Any], line: int) -> CulpritCase:
    judged = {m: bool(ok) for m, ok in (said.span_truth or {}).items() if ok is not None and m in said.candidates}
    tags = {key: value for key, value in row.items() if isinstance(value, str)}
    culprit = None if said.scored is False else said.culprit_index
    return CulpritCase(said.trajectory_id, line, said.group_id, tuple(said.candidates), culprit, judged, tags)
