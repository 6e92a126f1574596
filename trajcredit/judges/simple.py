"""Scores that someone else computed, a row a span: where each belongs in a trajectory.

{"trajectory_id": "a", "message_index": 4, "tool_call_id": "call_1", "score": -0.5, "reason": "wrong date"}

Lines of JSON, or CSV with the same names in its first line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Case, Scale, Verdict
from trajcredit.judges.opinions import RANGE, Refused, lines, named
from trajcredit.judges.segments import segmented
from trajcredit.model import ACTION_KINDS, Span

__all__ = ["Simple", "read", "verdict_of"]


@dataclass(frozen=True, slots=True)
class Simple:
    """One score, and the line it stands on.

    `span` counts spans of the trajectory from 0, `message_index` messages of the log; where both are there they have to
    agree. A null `score` is no opinion.
    """

    trajectory_id: str
    line: int
    span: int | None
    message_index: int | None
    tool_call_id: str | None
    score: float | None
    reason: str
    scale: Scale | None


class _Row(msgspec.Struct, kw_only=True):
    """As it is written; other keys are not looked at."""

    trajectory_id: str
    span: int | None = None
    span_index: int | None = None
    message_index: int | None = None
    tool_call_id: str | None = None
    score: float | None
    reason: str | None = None
    scale: Scale | None = None


_decoder = msgspec.json.Decoder(_Row)


def read(path: Path, scale: Scale | None = None) -> tuple[Scale, list[Simple | Refused]]:
    """The scale of a file and its rows, an error in the place of a row that is none.

    The scale is the one that rows say, else the one asked for, else credit. InputError where rows say several, or
    another one than was asked for.
    """
    found = list(_csv(path) if _is_csv(path) else _json(path))
    said = {one.scale: one.line for one in found if isinstance(one, Simple) and one.scale is not None}
    if len(said) > 1:
        some = " and ".join(f"{one} (line {line})" for one, line in sorted(said.items()))
        raise InputError(f"{path}: scores of several scales: {some}; expected one")
    own: Scale = next(iter(said), scale or "credit")
    if scale is not None and own != scale:
        raise InputError(f"{path}: its scores are on the scale {own}, not {scale}: ask for scale={own}")
    low, high = RANGE[own]
    checked = [
        Refused(
            f"score: expected a number from {low:g} to {high:g} on the scale {own}, found {one.score!r}",
            str(path),
            one.line,
            one.trajectory_id,
        )
        if isinstance(one, Simple) and one.score is not None and not low <= one.score <= high
        else one
        for one in found
    ]
    return own, checked


def verdict_of(rows: Sequence[Simple], graph: SpanGraph, scale: Scale) -> tuple[Case, Verdict] | str:
    """The scores of one trajectory as a verdict on its actions, or which row fits no action of it.

    A message without `tool_call_id` means its action, the last one where it has several, leaving out those that other
    rows name by their call or span. How things stood before the first score of a state nobody said: it counts as that
    score, and what led to it did nothing.
    """
    spans, found = graph.trajectory.spans, dict[int, Simple]()
    for row in sorted(rows, key=lambda one: one.span is None and one.tool_call_id is None):
        at = _place(row, spans, found)
        if isinstance(at, str):
            return f"line {row.line}: {at}"
        if at in found:
            return f"line {row.line}: span {at} is scored twice"
        found[at] = row
    case = Case(graph, segmented(graph, "action"))
    actions = [segment.actions[0] for segment in case.segments]
    scores = tuple(found[i].score if i in found else None for i in actions)
    reasons = tuple(found[i].reason if i in found else "" for i in actions)
    first = next((score for score in scores if score is not None), 0.0)
    return case, Verdict(scores, first if scale == "state" else 0.0, reasons if any(reasons) else ())


def _place(row: Simple, spans: Sequence[Span], found: Mapping[int, Simple]) -> int | str:
    if row.span is not None:
        return _at_span(row.span, row.message_index, spans)
    some = [i for i, s in enumerate(spans) if s.message_index == row.message_index and s.kind in ACTION_KINDS]
    if row.tool_call_id is not None:
        some = [i for i in some if spans[i].call_id == row.tool_call_id]
    if not some:
        named = "" if row.tool_call_id is None else f" with call {row.tool_call_id!r}"
        return f"message {row.message_index}{named} is scored, and holds no action"
    if row.tool_call_id is None:
        some = [i for i in some if i not in found] or some
    return some[-1]


def _at_span(at: int, message: int | None, spans: Sequence[Span]) -> int | str:
    if not 0 <= at < len(spans):
        return f"span {at} is scored, and there are {len(spans)} spans"
    if spans[at].kind not in ACTION_KINDS:
        return f"span {at} is scored, which is no action"
    if message is not None and spans[at].message_index != message:
        return f"span {at} is of message {spans[at].message_index}, and the row says {message}"
    return at


# ---------------------------------------------------------------- forms of a file


def _json(path: Path) -> Iterator[Simple | Refused]:
    for number, line in lines(path):
        try:
            yield _simple(_decoder.decode(line), number)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
            yield _refused(error, path, number, named(line))


def _is_csv(path: Path) -> bool:
    first = next((line for _, line in lines(path)), b"")
    return not first.lstrip().startswith((b"{", b"[")) and b"," in first


def _csv(path: Path) -> Iterator[Simple | Refused]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            lacking = [key for key in ("trajectory_id", "score") if key not in (reader.fieldnames or ())]
            if lacking:
                what = "a first line with trajectory_id, span or message_index, and score"
                raise InputError(f"{path}: neither lines of JSON nor CSV with {what}")
            for row in reader:
                cells = {key: value for key, value in row.items() if key is not None and value not in (None, "")}
                try:
                    yield _simple(msgspec.convert({"score": None, **cells}, _Row, strict=False), reader.line_num)
                except (msgspec.ValidationError, ValueError) as error:
                    yield _refused(error, path, reader.line_num, cells.get("trajectory_id"))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no CSV: {error}") from error


def _refused(error: Any, path: Path, line: int, trajectory_id: str | None) -> Refused:
    expected = "expected trajectory_id, span or message_index, and score"
    return Refused(f"{expected}: {error}", str(path), line, trajectory_id)


def _simple(row: _Row, line: int) -> Simple:
    if row.span is not None and row.span_index is not None and row.span != row.span_index:
        raise ValueError(f"span is {row.span} and span_index {row.span_index}")
    span = row.span if row.span is not None else row.span_index
    if span is None and row.message_index is None:
        raise ValueError("it has neither span nor message_index")
    return Simple(
        trajectory_id=row.trajectory_id,
        line=line,
        span=span,
        message_index=row.message_index,
        tool_call_id=row.tool_call_id,
        score=row.score,
        reason=row.reason or "",
        scale=row.scale,
    )
