"""Groups: the rollouts of one task beside each other."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query, Response

from trajcredit.api.answers import Answer
from trajcredit.api.models import AlignmentOut, GroupOut, GroupPage
from trajcredit.api.parameters import DEFAULT, Id, Project, StoreDep
from trajcredit.service import grouping, grouping_compare

__all__ = ["router"]

router = APIRouter()
RunName: TypeAlias = Annotated[
    str | None, Query(max_length=1200, description="Id, or attributor: its newest finished run")
]
Rollout: TypeAlias = Annotated[str, Query(max_length=516, description="A member: our id, or `ext:` and the client's")]


@router.get("/groups", response_model=GroupPage)
def list_groups(
    store: StoreDep,
    project: Project = DEFAULT,
    text: Annotated[str, Query(max_length=1000, description="How the name begins")] = "",
    sort: Annotated[grouping.GroupSort, Query()] = "-created",
    cursor: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """Groups of a project."""
    return Answer(grouping.grouped(store, project, text, sort, cursor, limit))


@router.get("/groups/{id}", response_model=GroupOut)
def get_group(store: StoreDep, ref: Id, run: RunName = None, project: Project = DEFAULT) -> Response:
    """One group: its rollouts, their tree of calls, and the first split that matters."""
    return Answer(grouping.group(store, project, ref, run))


@router.get("/groups/{id}/alignment", response_model=AlignmentOut)
def get_alignment(
    store: StoreDep, ref: Id, a: Rollout, b: Rollout, run: RunName = None, project: Project = DEFAULT
) -> Response:
    """Two rollouts of a group, call by call."""
    return Answer(grouping_compare.alignment(store, project, ref, a, b, run))
