"""What judgings say of one stored trajectory, segment by segment."""

from __future__ import annotations

from dataclasses import dataclass

from trajcredit.judges import Opinion, Verdict
from trajcredit.judges.columns import deltas
from trajcredit.judges.opinions import decoded
from trajcredit.store import Store
from trajcredit.store.opinions import of_trajectory

__all__ = ["OpinionView", "Opinions", "SegmentView", "opinions"]


@dataclass(frozen=True, slots=True)
class SegmentView:
    """What is said of one segment; positions are spans of the trajectory."""

    actions: list[int]
    spans: list[int]
    score: float | None
    credit: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class OpinionView:
    """What one judging says of a trajectory."""

    judging: str
    label: str
    judge: str
    scale: str
    model: str | None
    prompt_version: str | None
    start: float
    missing: str | None
    segments: list[SegmentView]


@dataclass(frozen=True, slots=True)
class Opinions:
    """Of all judgings, the newest first."""

    items: tuple[OpinionView, ...]


def opinions(store: Store, project: str, ref: str) -> Opinions:
    """What every judging said of a trajectory. A reason is the judge's own; else what it found there."""
    with store.read() as conn:
        found = of_trajectory(conn, project, ref)
    return Opinions(tuple(_view(judging, label, decoded(line)) for judging, label, line in found))


def _view(judging: str, label: str, row: Opinion) -> OpinionView:
    moved = deltas(Verdict(tuple(one.score for one in row.segments), row.start), row.scale)
    segments = [
        SegmentView(
            actions=one.actions,
            spans=one.spans,
            score=one.score,
            credit=None if one.score is None else by,
            reason=one.reason or _found(row, one.actions),
        )
        for one, by in zip(row.segments, moved, strict=True)
    ]
    return OpinionView(
        judging, label, row.judge, row.scale, row.model, row.prompt_version, row.start, row.missing, segments
    )


def _found(row: Opinion, actions: list[int]) -> str:
    return "; ".join(f"{one.rule}: {one.reason}" for one in row.findings if one.span in actions)
