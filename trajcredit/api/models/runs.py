"""Runs: asked for, looked at."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from trajcredit.api.models.common import NoteOut, Out, RunState, Source

__all__ = ["Name", "ParameterValue", "RunOut", "RunPage", "RunRequest"]

Name: TypeAlias = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""Text as databases hold it: no NUL."""
ParameterValue: TypeAlias = bool | int | FiniteFloat | Name | None


class RunRequest(BaseModel):
    """One attributor over the trajectories of a project."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"attributor": "dag", "parameters": {"gamma": 0.95}}]}
    )

    attributor: Name = Field(max_length=200)
    parameters: dict[str, ParameterValue | list[ParameterValue]] = {}
    """By name; values as JSON, or as the text the command line takes. `critic` among them names the critic to ask
    first; without it an attributor that needs one asks its own. `judge` likewise names a judge, the id of a judging,
    or several joined by +."""
    reward: Name | None = Field(default=None, max_length=1000)
    """A source (verifier, human, reward_model, judge), else the name of a reward; null: the first source there."""
    group_by: Name | None = Field(default=None, max_length=200)
    dataset: Name | None = Field(default=None, max_length=1000)
    """Only trajectories of this data set."""


class RunOut(Out):
    """One attributor with its parameters over a set of trajectories, and how far it is."""

    id: str
    number: int
    """Counted from 1 in its project: what people call it, `dag #2`."""
    attributor: str
    label: str
    parameters: dict[str, Any]
    reward_source: Source | None
    """The source that was read; until then the one asked for."""
    reward_name: str | None
    """Of the only rewards that are read, where one was asked for."""
    group_by: str | None
    dataset: str | None
    state: RunState
    done: int
    total: int
    error: str | None
    stale: bool
    stale_reason: str | None
    """After the run a reward came in, an edge was edited, or a trajectory was replaced, deleted, or joined what it
    compares."""
    code_version: str
    edge_version: str
    """A hash of the code that derives edges; then, after a plus, one of the edges people had edited, where any had."""
    watermark: int
    """The number of the newest reward it could see."""
    seed: int | None
    created: datetime
    started: datetime | None
    finished: datetime | None
    notes: list[NoteOut]
    critic: str | None
    """Whose forecasts it read; null where it asked no critic, or has not asked one yet."""
    critic_fingerprint: str | None
    """Of what they follow from: the same one, the same forecasts."""
    judge: str | None
    """Whom it heard: a judge by name, the id of a judging, or several joined by +; null where none, or not yet."""
    judge_fingerprint: str | None
    """Of all that was said: the same one, the same opinions."""


class RunPage(Out):
    """Runs of a project, newest first."""

    items: list[RunOut]
    next: str | None = None
