"""Answers to what was sent in: logs, late rewards."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trajcredit.api.models.common import NoteOut, Out, Problem

__all__ = ["IngestItem", "IngestProblem", "IngestResult", "RewardProblem", "RewardResult"]


class IngestItem(Out):
    """What became of one trajectory of an upload, or of one record that could not be read."""

    status: Literal["created", "duplicate", "replaced", "rejected", "conflict", "skipped"]
    """Skipped: a file among others that is no log, which is no failure."""
    id: str | None = None
    """Ours."""
    external_id: str | None = None
    """The log's own, or the one the reader gave it."""
    reason: str | None = None
    """Why it was not stored."""
    file: str | None = None
    line: int | None = None
    report: list[NoteOut] = Field(default_factory=list)


class IngestResult(Out):
    """Per item, in the order of the input; a 2xx means that `created` and `replaced` are committed and on disk."""

    created: int
    duplicate: int
    replaced: int
    rejected: int
    conflict: int
    items: list[IngestItem]


class RewardResult(Out):
    """Late rewards that were appended, and those that were not."""

    appended: int
    rejected: int
    items: list[IngestItem]
    stale_runs: int


class IngestProblem(Problem, IngestResult):
    """Nothing of an upload was stored, and why; the first item with a reason is the problem."""


class RewardProblem(Problem, RewardResult):
    """No reward was appended, and why; the first row with a reason is the problem."""
