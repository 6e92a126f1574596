"""Small transcripts, and what becomes of them as text: for tests that write out by hand what is expected."""

from __future__ import annotations

from typing import Any

import numpy as np

from trajcredit.model import Span, Trajectory
from trajcredit.tokens import Aligned, Renderer, align

__all__ = ["ASK", "CALL", "RESULT", "RESULTS", "SAY", "THINK", "aligned", "texts", "why"]

NAN = float("nan")
ACTING = ("reasoning", "assistant", "tool_call")

ASK = Span("user", -1, text="Hi")
THINK = Span("reasoning", 0, text="hm")
SAY = Span("assistant", 0, text="Yes.")
CALL = Span("tool_call", 0, name="get", arguments={"id": 1})
RESULT = Span("tool_result", 0, text="ok", result_of=1)
RESULTS = [Span("tool_result", 0, text="a", result_of=1), Span("tool_result", 0, text="b", result_of=2)]


def aligned(spans: list[Span], renderer: Renderer | None, **more: Any) -> Aligned:
    numbers = np.array([i + 1.0 if span.kind in ACTING else NAN for i, span in enumerate(spans)])
    report = more.pop("report", [])
    turns = more.pop("turns", [])
    tools = more.pop("tools", [])
    run = Trajectory(id="t", spans=spans, report=report, turns=turns, tools=tools)
    return align(run, numbers, "g", renderer=renderer, **more)


def texts(found: Aligned, renderer: Renderer) -> list[tuple[str, str, dict[int, str]]]:
    """Prompt, response and what each span owns, as text; a row."""
    assert not found.failures
    return [
        (
            renderer.decode(row.prompt_ids.tolist()),
            renderer.decode(row.response_ids.tolist()),
            {o.span: renderer.decode(row.response_ids[o.start : o.end].tolist()) for o in row.spans},
        )
        for row in found.rows
    ]


def why(found: Aligned) -> tuple[int, int | None, str]:
    assert not found.rows
    [failure] = found.failures
    return failure.turn, failure.span, failure.reason
