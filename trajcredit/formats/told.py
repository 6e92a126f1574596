"""Failures that only the text of a result tells: flagged in one place, for every format.

| note | says |
| --- | --- |
| `error-in-text` | the log does not say whether this call failed, and the text of its result says that it did |
"""

from __future__ import annotations

from msgspec.structs import replace

from trajcredit.model import Note, Trajectory

__all__ = ["with_told_errors"]


def with_told_errors(trajectory: Trajectory) -> Trajectory:
    """The trajectory with `error` true on results that have no flag and whose text reports a failure."""
    from trajcredit.graph.failures import failed  # loads the compiled kernels of the graph: not before a log is read

    told = [
        place
        for place, span in enumerate(trajectory.spans)
        if span.kind == "tool_result" and span.error is None and failed(span)
    ]
    if not told:
        return trajectory
    spans = list(trajectory.spans)
    for place in told:
        spans[place] = replace(spans[place], error=True)
    notes = [Note("error-in-text", "no flag in the log, but its text reports a failure: an error", at) for at in told]
    return replace(trajectory, spans=spans, report=[*trajectory.report, *notes])
