"""Trajectories as people look at them: the list, one of them, its text, its edges, what runs say of it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Query, Response
from pydantic import FiniteFloat
from starlette.responses import PlainTextResponse

from trajcredit.api.answers import Answer, attachment
from trajcredit.api.models import (
    CreditColumns,
    EdgeColumns,
    EdgeEvidenceList,
    SpanCredits,
    SpanTextWindow,
    Suggestions,
    TrajectoryOut,
    TrajectoryPage,
    Why,
)
from trajcredit.api.parameters import DEFAULT, Id, Project, Span, StoreDep
from trajcredit.service import crediting, evidence, listing, looking

__all__ = ["router"]

router = APIRouter()
Text: TypeAlias = Annotated[str | None, Query(max_length=1000)]
Step: TypeAlias = Annotated[int | None, Query(ge=-(2**53), le=2**53)]
Outcome: TypeAlias = Annotated[FiniteFloat | None, Query()]
RunName: TypeAlias = Annotated[str, Query(max_length=1200, description="Id, or attributor: its newest finished run")]
UNSAFE = re.compile(r"(?:[^A-Za-z0-9._-]|\.\.)+")


@router.get(
    "/trajectories",
    response_model=TrajectoryPage,
    response_description="A page of them",
)
def list_trajectories(
    store: StoreDep,
    project: Project = DEFAULT,
    outcome: Annotated[Literal["pass", "fail", "unscored"] | None, Query()] = None,
    outcome_min: Outcome = None,
    outcome_max: Outcome = None,
    group: Text = None,
    dataset: Text = None,
    task: Annotated[str | None, Query(max_length=20_000)] = None,
    tool: Text = None,
    errors: Annotated[bool | None, Query(description="Whether a tool call failed")] = None,
    has: Annotated[Literal["override"] | None, Query(description="`override`: people edited its edges")] = None,
    policy_version: Text = None,
    model: Annotated[str | None, Query(max_length=1000, description="The model that answered")] = None,
    step_min: Step = None,
    step_max: Step = None,
    no_group: Annotated[bool | None, Query(description="Whether no other rollout is in its group")] = None,
    zero_variance: Annotated[bool | None, Query(description="Whether its group is scored, and all alike")] = None,
    labelled: Annotated[bool | None, Query(description="Whether somebody labelled a span of it")] = None,
    text: Annotated[str | None, Query(max_length=1000, description="Part of the id")] = None,
    sort: Annotated[listing.Sort, Query()] = "-created",
    run: Annotated[str | None, Query(max_length=1200, description="What top and strip are of")] = None,
    cursor: Text = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """Trajectories of a project that meet every filter."""
    filters = listing.Filters(
        id_part=text,
        group_name=group,
        dataset=dataset,
        task=task,
        policy_version=policy_version,
        model=model,
        tool=tool,
        has_error=errors,
        has_override=None if has is None else True,
        result=outcome,
        outcome_min=outcome_min,
        outcome_max=outcome_max,
        step_min=step_min,
        step_max=step_max,
        alone=no_group,
        zero_variance=zero_variance,
        labelled=labelled,
    )
    return Answer(listing.listed(store, project, filters, sort, cursor, limit, run))


@router.get("/tools", response_model=Suggestions)
def suggest_tools(
    store: StoreDep, project: Project = DEFAULT, text: Annotated[str, Query(max_length=1000)] = ""
) -> Response:
    """Tools that were called and begin so, the most frequent first."""
    return Answer({"items": listing.suggested(store, project, text)})


@router.get("/trajectories/{id}", response_model=TrajectoryOut)
def get_trajectory(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """Everything of a trajectory but text and credit."""
    return Answer(looking.skeleton(store, project, ref))


@router.get("/trajectories/{id}/text", response_model=SpanTextWindow)
def get_texts(
    store: StoreDep,
    ref: Id,
    first: Annotated[int, Query(alias="from", ge=0, le=2**53)] = 0,
    last: Annotated[int | None, Query(alias="to", ge=0, le=2**53, description="Without it; 200 at once")] = None,
    most: Annotated[int, Query(ge=1, le=1_000_000, description="Characters a span; longer ones are cut")] = 20_000,
    project: Project = DEFAULT,
) -> Response:
    """The texts of some spans."""
    stop = first + looking.MOST_SPANS if last is None else last
    return Answer({"items": looking.texts(store, project, ref, first, stop, most)})


@router.get(
    "/trajectories/{id}/text/{span}",
    response_class=PlainTextResponse,
    responses={200: {"description": "As an attachment", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def get_text(
    store: StoreDep,
    ref: Id,
    span: Span,
    first: Annotated[int, Query(alias="from", ge=0, le=2**53, description="Characters")] = 0,
    last: Annotated[int | None, Query(alias="to", ge=0, le=2**53, description="Without it")] = None,
    project: Project = DEFAULT,
) -> Response:
    """The text of one span, or a range of it."""
    text = looking.text_of(store, project, ref, span, first, last)
    return PlainTextResponse(text, headers=attachment(f"{_name(ref)}-{span}.txt"))


@router.get("/trajectories/{id}/graph", response_model=EdgeColumns)
def get_graph(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """Which span used which earlier one."""
    return Answer(evidence.edge_columns(store, project, ref))


@router.get("/trajectories/{id}/graph/{span}", response_model=EdgeEvidenceList)
def get_edges(store: StoreDep, ref: Id, span: Span, project: Project = DEFAULT) -> Response:
    """The edges at one span, each with its reason."""
    return Answer(evidence.edges_of(store, project, ref, span))


@router.get("/trajectories/{id}/credits", response_model=CreditColumns)
def get_credits(store: StoreDep, ref: Id, run: RunName, project: Project = DEFAULT) -> Response:
    """What a run says of every span."""
    return Answer(crediting.credits(store, project, ref, run))


@router.get("/trajectories/{id}/credits/{span}", response_model=SpanCredits)
def get_span_credits(store: StoreDep, ref: Id, span: Span, project: Project = DEFAULT) -> Response:
    """What every finished run says of one span."""
    return Answer(crediting.span_credits(store, project, ref, span))


@router.get("/trajectories/{id}/why", response_model=Why)
def get_why(
    store: StoreDep,
    ref: Id,
    run: RunName,
    span: Annotated[int, Query(ge=0, le=2**31 - 1)],
    project: Project = DEFAULT,
) -> Response:
    """The arithmetic behind one number."""
    return Answer(crediting.why(store, project, ref, run, span))


@router.get(
    "/trajectories/{id}/raw",
    responses={200: {"description": "The canonical line, as an attachment", "content": {"application/json": {}}}},
)
def get_raw(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """The trajectory as one line of canonical JSON."""
    line = looking.raw_line(store, project, ref) + b"\n"
    return Response(line, media_type="application/json", headers=attachment(f"{_name(ref)}.jsonl"))


def _name(ref: str) -> str:
    """An id as part of a file name."""
    return UNSAFE.sub("-", ref).strip("-.")[:80] or "trajectory"
