"""A trajectory as a reward model reads it: one text, and where each segment ends in it."""

from __future__ import annotations

from itertools import accumulate

from trajcredit.judges.base import Case
from trajcredit.model import Span, body

__all__ = ["RENDERING", "rendered"]

RENDERING = "1"
"""Raised with every change of the text: scores of other texts are other scores."""


def rendered(case: Case) -> tuple[str, int, list[int]]:
    """The text of a trajectory; where its first action begins; and where each segment ends, with its results.

    Spans stand one after the other: kind, tool if any, a colon, the text as logged (of a call its arguments), a line
    feed. Positions count characters.
    """
    spans = case.graph.trajectory.spans
    blocks = [_block(span) for span in spans]
    ends = list(accumulate(map(len, blocks), initial=0))
    first = min((segment.actions[0] for segment in case.segments), default=len(spans))
    return "".join(blocks), ends[first], [ends[segment.spans[-1] + 1] for segment in case.segments]


def _block(span: Span) -> str:
    tool = f" {span.name}" if span.name else ""
    failed = " (failed)" if span.error else ""
    return f"{span.kind}{tool}{failed}: {body(span)}\n"
