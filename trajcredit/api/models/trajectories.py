"""Lists of trajectories, one trajectory, its text."""

from __future__ import annotations

from datetime import datetime

from pydantic import FiniteFloat

from trajcredit.api.models.common import Kind, NoteOut, Out, Source

__all__ = ["RewardOut", "SpanText", "SpanTextWindow", "TopSpan", "TrajectoryOut", "TrajectoryPage", "TrajectoryRow"]


class TopSpan(Out):
    """The most blamed span of a trajectory in the run asked for (the most praised, where nothing is blamed)."""

    span: int
    name: str
    """The tool, or the kind of span."""
    credit: FiniteFloat


class TrajectoryRow(Out):
    """One line of the list. No text of the log is in it."""

    id: str
    external_id: str
    group: str
    """Readable name of its group."""
    group_id: str
    """What /groups/{id} takes."""
    group_size: int
    group_scored: int
    group_passed: int
    """How many of those that are scored passed: an outcome of at least 0.5."""
    group_mean: FiniteFloat | None
    group_difference: FiniteFloat | None
    """Its outcome less the mean of its group; null where it is not scored by the source that the group is."""
    dataset: str | None
    task: str | None
    trial: str | None
    step: int | None
    policy_version: str | None
    model: str | None
    """The name of the model that answered, where the log names one and no other."""
    format: str
    outcome: FiniteFloat | None
    n_spans: int
    n_actions: int
    n_errors: int
    n_tokens: int | None
    n_notes: int
    n_labels: int
    """Labels of its spans that count."""
    n_overrides: int
    """Edges that people edited."""
    created: datetime
    top: TopSpan | None = None
    strip: list[FiniteFloat | None] | None = None
    """Credit in at most 60 cells, each the value of largest size in it; null where nothing is scored."""


class TrajectoryPage(Out):
    """A page of the list; `next` is the cursor of the one after it."""

    items: list[TrajectoryRow]
    next: str | None
    total: int
    total_exact: bool
    """False where there are more than `total` says (counting stops at 10,000)."""
    scale: FiniteFloat | None = None
    """Largest size of a credit in the strips of this page."""
    run: str | None = None


class RewardOut(Out):
    """A reward as it was given."""

    value: FiniteFloat
    source: Source
    span: int | None
    name: str | None
    at: str | None
    received: datetime | None = None


class TrajectoryOut(Out):
    """The skeleton of a trajectory: everything but text and credit. Columns have one entry a span."""

    id: str
    external_id: str
    project: str
    group: str
    group_id: str
    group_size: int
    group_scored: int
    group_mean: FiniteFloat | None
    dataset: str | None
    task: str | None
    role: str | None
    trial: str | None
    step: int | None
    policy_version: str | None
    model: str | None
    """The name of the model that answered, where the log names one and no other."""
    terminated: bool | None
    truncated: bool | None
    format: str
    file: str | None
    line: int | None
    n_tokens: int | None
    """Of all spans; null where none logs its tokens."""
    outcome: FiniteFloat | None
    outcome_source: Source | None
    rewards: list[RewardOut]
    report: list[NoteOut]
    kind: list[Kind]
    turn: list[int]
    name: list[str | None]
    agent: list[str | None] | None = None
    """Null where no span names an agent."""
    result_of: list[int | None]
    is_action: list[bool]
    is_write: list[bool]
    write_basis: list[str]
    """What told that a call changes state or does not: declared, settings, verb, description, command,
    code, acknowledgement, reply (it counts tests); empty on other spans."""
    is_error: list[bool]
    size: list[int]
    """Characters of the span's text; of a call, of its arguments."""


class SpanText(Out):
    """The text of one span, cut in the middle where it is long: `head` and `tail` of `size` characters."""

    span: int
    head: str
    tail: str = ""
    size: int
    call_id: str | None = None


class SpanTextWindow(Out):
    """The texts of consecutive spans."""

    items: list[SpanText]
