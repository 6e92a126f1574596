"""Text found in a trajectory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from trajcredit.api.answers import Answer
from trajcredit.api.models import FoundOut
from trajcredit.api.parameters import DEFAULT, LARGEST, Id, Project, StoreDep
from trajcredit.service import finding

__all__ = ["router"]

router = APIRouter()


@router.get("/trajectories/{id}/find", response_model=FoundOut)
def find_text(
    store: StoreDep,
    ref: Id,
    q: Annotated[str, Query(min_length=1, max_length=finding.LONGEST, description="Plain text, upper case or lower")],
    first: Annotated[int, Query(alias="from", ge=0, le=LARGEST, description="The first span searched")] = 0,
    project: Project = DEFAULT,
) -> Response:
    """Every place of a text in all spans of a trajectory."""
    return Answer(finding.find(store, project, ref, q, first))
