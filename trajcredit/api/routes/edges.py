"""Edges as people edit them: what was said, saying it, taking it back, and what a run would make of it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from trajcredit.api.answers import Answer
from trajcredit.api.models import EdgeEditPreview, EdgeEditPreviewRequest, EdgeEditRequest, EdgeEdits
from trajcredit.api.parameters import DEFAULT, LARGEST, Id, IntakeDep, Project, StoreDep, asked
from trajcredit.service import editing, rescoring

__all__ = ["router"]

router = APIRouter()
Index = Annotated[int, Query(ge=0, le=LARGEST)]


async def _edit(request: Request, intake: IntakeDep) -> EdgeEditRequest:
    return await asked(request, intake, EdgeEditRequest)


async def _preview(request: Request, intake: IntakeDep) -> EdgeEditPreviewRequest:
    return await asked(request, intake, EdgeEditPreviewRequest)


def _body(model: str, example: Any) -> dict[str, Any]:
    content = {"schema": {"$ref": f"#/components/schemas/{model}"}, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


CHANGE = {"parent": 3, "child": 6, "action": "remove"}
EDIT = {**CHANGE, "reason": "the id came from the user, not from this result", "person": "Ann"}


@router.get("/trajectories/{id}/edges", response_model=EdgeEdits)
def get_edge_edits(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """What people said of its edges, and what was derived where they said otherwise."""
    return Answer(editing.edits(store, project, ref))


@router.post(
    "/trajectories/{id}/edges",
    response_model=EdgeEdits,
    response_description="What is in force now",
    openapi_extra=_body("EdgeEditRequest", EDIT),
)
def edit_edge(
    store: StoreDep, ref: Id, change: Annotated[EdgeEditRequest, Depends(_edit)], project: Project = DEFAULT
) -> Response:
    """Add or remove an edge, or go back to what was derived: appended, runs that scored the trajectory are stale."""
    said = editing.Change(change.parent, change.child, change.action, change.reason, change.person)
    return Answer(editing.edit(store, project, ref, [said]))


@router.delete("/trajectories/{id}/edges", response_model=EdgeEdits, response_description="What is in force now")
def withdraw_edge_edit(
    store: StoreDep,
    ref: Id,
    parent: Index,
    child: Index,
    reason: Annotated[str, Query(min_length=1, max_length=2000)],
    person: Annotated[str, Query(min_length=1, max_length=200)],
    project: Project = DEFAULT,
) -> Response:
    """Go back to what was derived for a pair of spans; what had been said stays in the history."""
    return Answer(editing.withdraw(store, project, ref, parent, child, reason, person))


@router.post(
    "/trajectories/{id}/edges/preview",
    response_model=EdgeEditPreview,
    response_description="Its numbers before and after; nothing is stored",
    openapi_extra=_body("EdgeEditPreviewRequest", {"run": "dag", "changes": [CHANGE]}),
)
def preview_edge_edits(
    store: StoreDep,
    ref: Id,
    wanted: Annotated[EdgeEditPreviewRequest, Depends(_preview)],
    project: Project = DEFAULT,
) -> Response:
    """What a finished run would say of the trajectory if its edges were edited so."""
    changes = [
        editing.Change(one.parent, one.child, one.action, rescoring.PROPOSED, rescoring.PROPOSED)
        for one in wanted.changes
    ]
    return Answer(rescoring.preview(store, project, ref, wanted.run, changes))
