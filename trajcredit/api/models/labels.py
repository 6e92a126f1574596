"""What people say of spans, and how runs are graded on it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, FiniteFloat

from trajcredit.api.models.common import Out, Problem
from trajcredit.api.models.uploads import IngestItem

__all__ = [
    "GradeFigure",
    "GradesOut",
    "KappaOut",
    "LabelOut",
    "LabelPage",
    "LabelProblem",
    "LabelResult",
    "LabelTurn",
    "RunGrade",
]

Verdict = Literal["culprit", "contributed", "innocent", "unsure"]
Queue = Literal["disagree", "high", "random"]


class LabelOut(Out):
    """One person's word on one span; of several of that person the newest."""

    trajectory: str
    external_id: str
    span: int
    verdict: Verdict
    labeller: str
    note: str | None
    blind: bool
    """Given before any credit of the trajectory was seen."""
    seconds: FiniteFloat | None
    queue: Queue | None
    """Where the trajectory was offered; null where the person went there."""
    at: datetime


class LabelPage(Out):
    """Labels that count: of one trajectory by span, of a project those that came last first."""

    items: list[LabelOut]
    next: str | None = None


class LabelResult(Out):
    """Labels that were taken, and those that were not."""

    given: int
    rejected: int
    items: list[IngestItem]


class LabelProblem(Problem, LabelResult):
    """No label was taken, and why; the first row with a reason is the problem."""


class LabelTurn(Out):
    """What a person labels next."""

    queue: Queue
    trajectory: str | None
    """Ours; null where nothing is left."""
    score: FiniteFloat | None
    """disagree: share of pairs of runs that blame different spans most; high: the largest size of a credit."""
    runs: int
    """That the score rests on."""
    left: int
    """Trajectories in this queue, this one among them."""
    left_random: int
    left_other: int
    """In the random queue, and in each of the two others."""
    done: int
    """Trajectories that this person has labelled."""
    why: str


class GradeFigure(Out):
    """A mean with its 95 % interval; null where there is nothing to take it over."""

    value: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None


class RunGrade(Out):
    """How well one finished run blames the labelled culprits."""

    run: str
    number: int
    label: str
    stale: bool
    stale_reason: str | None
    graded: int
    """Labelled trajectories with a culprit that the run scored."""
    hit_at_1: GradeFigure
    """The most blamed choice is a culprit, ties at their expectation; Wilson interval."""
    hit_at_3: GradeFigure
    mrr: GradeFigure
    """1 / rank of the most blamed culprit; bootstrap over trajectories."""


class KappaOut(Out):
    """Cohen's kappa of the two people who labelled most spans in common."""

    value: FiniteFloat | None
    """Null where both said the same of every span, which leaves chance no room."""
    n: int
    """Spans that both labelled."""
    labellers: list[str] = Field(min_length=2, max_length=2)


class GradesOut(Out):
    """Finished runs, newest first, of one label the newest, graded on labels."""

    labelled: int
    """Trajectories with a label."""
    labels: int
    blind: int
    """Labels given before any credit of the trajectory was seen."""
    runs: list[RunGrade]
    kappa: KappaOut | None
    remarks: list[str]
    """What was decided about labels, and which of them grade nothing."""
