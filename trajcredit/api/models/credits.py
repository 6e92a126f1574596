"""What runs say of a trajectory, and the arithmetic behind it."""

from __future__ import annotations

from pydantic import FiniteFloat

from trajcredit.api.models.common import EdgeKind, Law, NoteOut, Out

__all__ = ["CreditColumns", "PathStep", "SpanCredit", "SpanCredits", "TermOut", "Why"]


class CreditColumns(Out):
    """What one run says of one trajectory; columns have one entry a span, null where it is not scored."""

    run: str
    label: str
    """The attributor with its parameters, as `score` names it."""
    stale: bool
    """After the run a reward came in, or a trajectory was replaced, deleted, or joined what it compares."""
    law: Law
    total: FiniteFloat | None
    """What the trajectory as a whole gets: outcome minus baseline; null where the law is `free` or it is unscored."""
    headline: str
    """The one sentence over the transcript."""
    scale: FiniteFloat
    """Largest size of a credit in this trajectory; 0 where there is none."""
    advantage_scale: FiniteFloat
    """The same of advantages."""
    dataset_scale: FiniteFloat | None
    """99th percentile of the size of credits over the whole run."""
    dataset_advantage_scale: FiniteFloat | None
    """The same of advantages."""
    credit: list[FiniteFloat | None]
    advantage: list[FiniteFloat | None]
    notes: list[NoteOut]


class SpanCredit(Out):
    """What one finished run says of one span."""

    run: str
    number: int
    label: str
    stale: bool
    stale_reason: str | None
    credit: FiniteFloat | None
    advantage: FiniteFloat | None


class SpanCredits(Out):
    """All finished runs that scored the trajectory, newest first; of runs with the same label only the newest."""

    span: int
    items: list[SpanCredit]


class TermOut(Out):
    """One summand of a span's credit."""

    name: str
    value: FiniteFloat
    spans: list[int]
    """Spans of this trajectory it comes from."""


class PathStep(Out):
    """One edge on the best path from a span to where the outcome is looked at."""

    parent: int
    child: int
    kind: EdgeKind
    why: str


class Why(Out):
    """The arithmetic behind one number: the terms add up to the credit within 1e-6."""

    span: int
    credit: FiniteFloat | None
    advantage: FiniteFloat | None
    terms: list[TermOut]
    path: list[PathStep]
    """Empty where the span is a sink itself, where no path leads on, or where the attributor follows none."""
