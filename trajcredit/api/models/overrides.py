"""Edges as people edit them, and what a run would say then."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from trajcredit.api.models.common import NoteOut, Out
from trajcredit.api.models.edges import EdgeEvidence
from trajcredit.api.models.runs import Name

__all__ = [
    "CreditNumbers",
    "EdgeChange",
    "EdgeEditPreview",
    "EdgeEditPreviewRequest",
    "EdgeEditRequest",
    "EdgeEdits",
    "EdgeSaying",
    "EditedEdge",
]

SpanIndex = Annotated[int, Field(ge=0, le=2**31 - 1)]
MOST_CHANGES = 100


class EdgeChange(BaseModel):
    """What is to hold of the edge of one pair of spans."""

    model_config = ConfigDict(extra="forbid")

    parent: SpanIndex
    child: SpanIndex
    action: Literal["add", "remove", "withdraw"]
    """add: an edge of kind override stands. remove: the derived edge is not used. withdraw: as derived again."""


class EdgeEditRequest(EdgeChange):
    """A change with its reason and the name of who makes it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "parent": 3,
                    "child": 6,
                    "action": "remove",
                    "reason": "the id came from the user, not from this result",
                    "person": "Ann",
                }
            ]
        },
    )

    reason: Name = Field(min_length=1, max_length=2000)
    person: Name = Field(min_length=1, max_length=200)


class EdgeSaying(Out):
    """What a person said of the edge of one pair of spans."""

    number: int | None
    """Counts up; null where the log brought it along."""
    parent: int
    child: int
    action: Literal["add", "remove", "withdraw"]
    reason: str
    person: str | None
    at: datetime | None


class EditedEdge(Out):
    """A pair whose edge is as a person says."""

    saying: EdgeSaying
    derived: EdgeEvidence | None
    """What was derived or logged for the pair: it stays stored. Null where nothing was."""


class EdgeEdits(Out):
    """What is in force, by child, then parent, and everything that was ever said, oldest first."""

    in_force: list[EditedEdge]
    history: list[EdgeSaying]


class EdgeEditPreviewRequest(BaseModel):
    """Which run is to be scored again, on the edges as they are now with which changes."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"run": "dag", "changes": [{"parent": 3, "child": 6, "action": "remove"}]}]},
    )

    run: Name = Field(min_length=1, max_length=1200)
    """Id, or attributor: its newest finished run."""
    changes: list[EdgeChange] = Field(max_length=MOST_CHANGES)


class CreditNumbers(Out):
    """One entry a span, null where it is not scored."""

    credit: list[FiniteFloat | None]
    advantage: list[FiniteFloat | None]


class EdgeEditPreview(Out):
    """A run's numbers of one trajectory as they are, and as they would be. Nothing of it is stored."""

    run: str
    label: str
    before: CreditNumbers
    after: CreditNumbers
    scale: FiniteFloat
    """The largest size of a credit in either."""
    advantage_scale: FiniteFloat
    changed: int
    """Spans whose credit or advantage differs."""
    others_changed: int
    """Other trajectories scored with it whose numbers differ too."""
    n_trajectories: int
    """Scored for this."""
    notes: list[NoteOut]
