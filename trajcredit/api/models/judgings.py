"""Judges and judgings: who can be asked, who was, what was said and what it took."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trajcredit.api.models.common import Out, Problem
from trajcredit.api.models.plugins import ParameterInfo
from trajcredit.api.models.runs import Name, ParameterValue
from trajcredit.api.models.uploads import IngestItem

__all__ = [
    "JudgeInfo",
    "JudgeModel",
    "Judges",
    "JudgingOut",
    "JudgingPage",
    "JudgingRequest",
    "OpinionOut",
    "OpinionProblem",
    "OpinionResult",
    "OpinionsOut",
    "SegmentOut",
]

Scale = Literal["state", "credit"]
JudgingState = Literal["queued", "running", "done", "incomplete", "failed", "cancelled"]


class JudgeInfo(Out):
    """A registered judge."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    on_the_spot: bool
    """Whether a run can name it as it is: it asks nobody and reads no file."""
    asks_model: bool
    """Whether it asks one of the server's models."""
    over_http: bool
    """Whether POST /judgings takes it; others read files, which no request names."""


class JudgeModel(Out):
    """A model that the operator has configured; neither its address nor its key is told."""

    name: str
    model: str


class Judges(Out):
    """Who can be asked."""

    items: list[JudgeInfo]
    models: list[JudgeModel]
    segments: list[str]
    """What may be judged as one."""


class JudgingRequest(BaseModel):
    """One judge, about the trajectories of a project."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"judge": "rules"}]})

    judge: Name = Field(max_length=200)
    parameters: dict[str, ParameterValue | list[ParameterValue]] = {}
    dataset: Name | None = Field(default=None, max_length=1000)
    """Only trajectories of this data set."""


class JudgingOut(Out):
    """A judging, how far it is and what it took."""

    id: str
    judge: str
    label: str
    parameters: dict[str, Any]
    dataset: str | None
    scale: Scale
    """`state`: how things stand after a segment, 0..1; `credit`: what it did, -1..1."""
    segments: str
    state: JudgingState
    """Incomplete: some could not be judged, or were not asked about; `error` says why, and it can be resumed."""
    total: int
    judged: int
    missing: int
    """Could not be judged; what is left of `total` was not asked about yet."""
    requests: int
    """Sent to a model, retries among them."""
    retries: int
    cached: int
    """Answered from what was paid for before."""
    uncounted: int
    """Answers whose tokens the server did not count."""
    tokens_in: int
    tokens_out: int
    cost: float
    """In the unit of the operator's prices."""
    model: str | None
    prompt_version: str | None
    fingerprint: str | None
    """Of the judge, its model, prompt and parameters."""
    code_version: str
    error: str | None
    created: datetime
    started: datetime | None
    finished: datetime | None


class JudgingPage(Out):
    """Judgings of a project, newest first."""

    items: list[JudgingOut]
    next: str | None = None


class SegmentOut(Out):
    """What is said of one segment; positions are spans of the trajectory."""

    actions: list[int]
    spans: list[int]
    score: float | None
    """On the judge's scale; null where it has no opinion."""
    credit: float | None
    """What the segment did, -1..1: of states the difference to the one before."""
    reason: str


class OpinionOut(Out):
    """What one judging says of a trajectory."""

    judging: str
    label: str
    judge: str
    scale: Scale
    model: str | None
    prompt_version: str | None
    start: float
    """How things stood before the first action; 0 on the scale `credit`."""
    missing: str | None
    """Why it could not be judged; there are no segments then."""
    segments: list[SegmentOut]


class OpinionsOut(Out):
    """What all judgings say of a trajectory, the newest first."""

    items: list[OpinionOut]


class OpinionResult(Out):
    """What became of each row, and the judging that has those that were kept."""

    judging: JudgingOut | None
    kept: int
    rejected: int
    items: list[IngestItem]


class OpinionProblem(Problem, OpinionResult):
    """No row was kept, and why; the first one is the problem."""
