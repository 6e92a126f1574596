"""What a trainer will see of a run."""

from __future__ import annotations

from typing import Literal

from trajcredit.api.models.common import Out

__all__ = ["AlignmentFailureOut", "PreviewOut", "RowPreviewOut", "TotalsOut"]


class AlignmentFailureOut(Out):
    """Where a trajectory's tokens do not fit its spans."""

    trajectory_id: str
    turn: int
    span: int | None
    reason: str


class TotalsOut(Out):
    """Sums over the trajectories looked at."""

    trajectories: int
    """That have rows."""
    rows: int
    tokens: int
    """Prompt and response, of all rows."""
    prompt: int
    """Those before the first sampled one of each row."""
    trained: int
    advantage_sum: float
    exact: int
    """Trained tokens whose ids the engine recorded."""
    retokenized: int
    """Trained tokens whose ids a tokenizer made from the text."""
    cut_tokens: int
    """Tokens behind the budget of their rows."""
    cut_trained: int
    """Those among them that would be trained."""
    failed: int
    """Trajectories whose tokens do not fit their spans, or the trainer's file."""
    left_out: dict[str, int]
    """Trajectories that are not exported, by reason."""
    notes: dict[str, int]
    """What was cut or guessed, and in how many trajectories."""
    failures: list[AlignmentFailureOut]
    """The first places of the failed."""


class RowPreviewOut(Out):
    """One row as exported; lists have one entry a response token from `start` on, at most 2,000."""

    trajectory: str
    row: int
    uid: str
    ids_source: Literal["engine", "retokenized"]
    prompt_tokens: int
    prompt_ids: list[int]
    """The last of them, at most 200."""
    prompt_texts: list[str] | None
    response_tokens: int
    trained: int
    start: int
    ids: list[int]
    texts: list[str] | None
    """What each token reads as; null without a tokenizer."""
    mask: list[int]
    advantages: list[float]
    spans: list[int]
    """The span that owns the token; -1 where nobody trains it."""


class PreviewOut(Out):
    """Counts of an export, and the rows of one trajectory."""

    run: str
    of: int
    """Trajectories of the run."""
    looked_at: int
    totals: TotalsOut | None
    """Null of an exporter of spans."""
    advantage_mean: float | None
    """sum(advantage mask) / sum(mask); null where nothing is trained."""
    span_rows: int | None
    """How many rows an exporter of spans writes, one a span; null of an exporter of tokens."""
    rows: list[RowPreviewOut]
    remarks: list[str]
