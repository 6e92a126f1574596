"""Scores that someone else computed, a row a span: where each belongs in a trajectory.

{"trajectory_id": "a", "message_index": 4, "tool_call_id": "call_1", "score": -0.5, "reason": "wrong date"}
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Case, Scale, Verdict
from trajcredit.judges.opinions import RANGE
from trajcredit.judges.segments import segmented
from trajcredit.model import ACTION_KINDS, Span

__all__ = ["Simple", "simple", "verdict_of"]


class Simple(msgspec.Struct, frozen=True, kw_only=True):
    """One score. `span` counts spans of the trajectory from 0; else `message_index` counts messages of the log.

    Other keys of a row are not looked at.
    """

    trajectory_id: str
    span: int | None = None
    message_index: int | None = None
    tool_call_id: str | None = None
    score: float
    reason: str = ""


_decoder = msgspec.json.Decoder(Simple)


def simple(line: bytes, scale: Scale) -> Simple:
    """The row of a line; InputError names the field that does not belong."""
    try:
        row = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"expected trajectory_id, span or message_index, and score: {error}") from error
    low, high = RANGE[scale]
    if not low <= row.score <= high:
        raise InputError(f"score: expected a number from {low:g} to {high:g}, found {row.score!r}")
    if (row.span is None) == (row.message_index is None):
        raise InputError("expected either span or message_index")
    return row


def verdict_of(rows: Sequence[Simple], graph: SpanGraph, scale: Scale) -> tuple[Case, Verdict] | str:
    """The scores of one trajectory as a verdict on its actions, or which row fits no action of it.

    A message without `tool_call_id` means its only action, or of several the last one. How things stood before the
    first score of a state nobody said: it counts as that score, and what led to it did nothing.
    """
    spans, found = graph.trajectory.spans, dict[int, Simple]()
    for row in rows:
        at = _place(row, spans)
        if isinstance(at, str):
            return at
        if at in found:
            return f"span {at} is scored twice"
        found[at] = row
    case = Case(graph, segmented(graph, "action"))
    actions = [segment.actions[0] for segment in case.segments]
    scores = tuple(found[i].score if i in found else None for i in actions)
    reasons = tuple(found[i].reason if i in found else "" for i in actions)
    first = next((score for score in scores if score is not None), 0.0)
    return case, Verdict(scores, first if scale == "state" else 0.0, reasons if any(reasons) else ())


def _place(row: Simple, spans: Sequence[Span]) -> int | str:
    if row.span is not None:
        if not 0 <= row.span < len(spans):
            return f"span {row.span} is scored, and there are {len(spans)} spans"
        good = spans[row.span].kind in ACTION_KINDS
        return row.span if good else f"span {row.span} is scored, which is no action"
    some = [i for i, s in enumerate(spans) if s.message_index == row.message_index and s.kind in ACTION_KINDS]
    if row.tool_call_id is not None:
        some = [i for i in some if spans[i].call_id == row.tool_call_id]
    if not some:
        named = "" if row.tool_call_id is None else f" with call {row.tool_call_id!r}"
        return f"message {row.message_index}{named} is scored, and holds no action"
    return some[-1]
