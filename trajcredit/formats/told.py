"""Failures that only the text of a result tells: flagged in one place, for every format.

| note | says |
| --- | --- |
| `error-in-text` | the log does not say whether this call failed, and the text of its result says that it did |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec.structs import replace

from trajcredit.model import Note, Trajectory

__all__ = ["with_told_errors"]


def with_told_errors(trajectory: Trajectory) -> Trajectory:
    """The trajectory with `error` true on results that have no flag and whose text reports a failure."""
    asked = [at for at, span in enumerate(trajectory.spans) if span.kind == "tool_result" and span.error is None]
    if not asked:
        return trajectory
    tells_failure = _rule()
    told = [at for at in asked if tells_failure(trajectory.spans[at].text)]
    if not told:
        return trajectory
    spans = list(trajectory.spans)
    for place in told:
        spans[place] = replace(spans[place], error=True)
    notes = [Note("error-in-text", "no flag in the log, but its text reports a failure: an error", at) for at in told]
    return replace(trajectory, spans=spans, report=[*trajectory.report, *notes])


@cache
def _rule() -> Callable[[str], bool]:
    from trajcredit.graph.failures import tells_failure  # loads the kernels of the graph: not before a result is read

    return tells_failure
