"""Verdicts -> columns of a batch: scores after every action, whatever the segments and the scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch, Finding
from trajcredit.judges.base import Case, Scale, Verdict
from trajcredit.model import Note

__all__ = ["deltas", "scores_after", "with_verdicts"]


def deltas(verdict: Verdict, scale: Scale) -> list[float]:
    """What each segment did: its credit, or by how much the state moved; 0 where there is no opinion."""
    if scale == "credit":
        return [0.0 if score is None else score for score in verdict.scores]
    moved, before = [], verdict.start
    for score in verdict.scores:
        moved.append(0.0 if score is None else score - before)
        before = before if score is None else score
    return moved


def with_verdicts(
    batch: Batch, judge: str, scale: Scale, cases: Sequence[Case], verdicts: Sequence[Verdict | None]
) -> Batch:
    """The batch with `scores`, `score_start`, `segment` and `findings`; one case and verdict a trajectory.

    scores       f64[N]  score_start plus all that the actions up to this one did; the actions of a segment share what
                         it did equally. NaN on observations, on actions without an opinion, and throughout a
                         trajectory that was not judged to the end, which `notes` name with the reason
    score_start  f64[T]  how things stood before the first action; NaN where the trajectory is not judged
    segment      i64[N]  numbered through the batch; -1 where no opinion is about the span
    """
    scores, segment = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, -1, dtype=np.int64)
    start, found, notes, number = np.full(batch.n_trajectories, np.nan), list[Finding](), list[Note](), 0
    for t, (first, case, verdict) in enumerate(zip(batch.span_offsets.tolist(), cases, verdicts, strict=False)):
        missing = "it was not judged" if verdict is None else verdict.missing
        if verdict is None or missing is not None:
            name = batch.trajectory_ids[t]
            notes.append(Note("unjudged", f"judge {judge}: {missing}; its spans are not scored", trajectory=name))
            continue
        start[t] = verdict.start
        found += _findings(case, verdict, judge, scale, first)
        for one, score in zip(case.segments, verdict.scores, strict=True):
            if score is not None:
                segment[[first + i for i in one.spans]] = number
                number += 1
        scores[first : first + len(case.graph.trajectory.spans)] = scores_after(case, verdict, scale)
    for column in (scores, segment, start):
        column.setflags(write=False)  # no attributor can change what the next one reads
    faults = [one for one in found if one.severity > 0]  # others are reasons why nothing is wrong
    faulty = len({batch.trajectory_of(one.span) for one in faults})
    said = Note("judge", f"judge {judge}: {len(faults)} findings in {faulty} of {batch.n_trajectories} trajectories")
    return replace(
        batch,
        scores=scores,
        score_start=start,
        segment=segment,
        findings=tuple(found),
        notes=(*batch.notes, said, *notes),
    )


def scores_after(case: Case, verdict: Verdict, scale: Scale) -> F64:
    """f64[spans of the trajectory]: the score after each action; NaN elsewhere and without an opinion."""
    found = np.full(len(case.graph.trajectory.spans), np.nan)
    if scale == "state" and all(len(one.actions) == 1 for one in case.segments):
        for one, score in zip(case.segments, verdict.scores, strict=True):
            found[one.actions[0]] = np.nan if score is None else score
        return found
    step = np.zeros(len(found))
    for one, score, moved in zip(case.segments, verdict.scores, deltas(verdict, scale), strict=True):
        if score is not None:
            actions = list(one.actions)
            step[actions] = moved / len(actions)
            found[actions] = 0.0
    return found + verdict.start + np.cumsum(step)


def _findings(case: Case, verdict: Verdict, judge: str, scale: Scale, first: int) -> list[Finding]:
    """Faults as they were found; else a reason that was given, at the last action of its segment."""
    own = [replace(one, span=one.span + first) for one in verdict.findings]
    if not verdict.reasons:
        return own
    for one, reason, moved in zip(case.segments, verdict.reasons, deltas(verdict, scale), strict=True):
        if reason:
            own.append(Finding(one.actions[-1] + first, judge, reason, min(1.0, max(0.0, -moved))))
    return own
