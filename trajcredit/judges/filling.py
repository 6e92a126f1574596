"""A batch and the name of a judge -> the batch with the judge's scores and the findings behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.graph import SpanGraph
from trajcredit.judges.rules import findings
from trajcredit.model import Note

__all__ = ["COLUMNS", "KINDS", "judge"]

Judge: TypeAlias = Callable[[SpanGraph], list[Finding]]
"""Findings of one trajectory; positions in it, of actions."""
KINDS: dict[str, Judge] = {"rules": findings}
"""Judges by name."""
COLUMNS = ("scores",)
"""Columns that a judge fills."""


def judge(batch: Batch, kind: str) -> Batch:
    """The batch with `scores` and `findings`.

    scores  f64[N]  how well things stand after an action, in [0, 1]: 1 before anything was found, and each finding
                    takes away its severity of what is left; NaN on observations

    No score rests on a reward or on another trajectory. Scores that are there already are replaced. UnknownNameError
    for a judge there is none of, InputError where the batch has no graphs.
    """
    if kind not in KINDS:
        raise UnknownNameError("judge", kind, KINDS)
    if batch.graphs is None:
        raise InputError(f"the judge {kind!r} reads texts, and this batch was loaded without them")
    left, found = np.ones(batch.n_spans), list[Finding]()
    for first, graph in zip(batch.span_offsets.tolist(), batch.graphs, strict=False):
        found += (replace(one, span=one.span + first) for one in KINDS[kind](graph))
    for one in found:
        left[one.span] *= 1.0 - one.severity
    scores = np.full(batch.n_spans, np.nan)
    for first, end in zip(batch.span_offsets.tolist(), batch.span_offsets[1:].tolist(), strict=False):
        actions = first + np.flatnonzero(batch.action_mask[first:end])
        scores[actions] = np.cumprod(left[actions])
    scores.setflags(write=False)  # no attributor can change what the next one reads
    faulty = len({batch.trajectory_of(one.span) for one in found})
    said = f"judge {kind}: {len(found)} findings in {faulty} of {batch.n_trajectories} trajectories"
    return replace(batch, scores=scores, findings=tuple(found), notes=(*batch.notes, Note("judge", said)))
