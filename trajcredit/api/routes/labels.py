"""Labels: given, listed, handed out; what to label next; runs graded on them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trajcredit.api.answers import Answer, attachment
from trajcredit.api.decoding import coding_names, undone
from trajcredit.api.models import GradesOut, LabelPage, LabelProblem, LabelResult, LabelTurn, Problem
from trajcredit.api.parameters import DEFAULT, IntakeDep, Project, StoreDep
from trajcredit.api.problems import RefusedError, place_of, problem
from trajcredit.service import labelling, labelling_grades
from trajcredit.service.labelling import Labelled

__all__ = ["router"]

router = APIRouter()
NDJSON = "application/x-ndjson"
BODY = {
    "required": True,
    "content": {
        NDJSON: {
            "schema": {"type": "string"},
            "example": '{"trajectory_id": "ext:t-1", "span_index": 3, "verdict": "culprit", "labeller": "ann", '
            '"blind": true, "seconds": 41, "queue": "disagree", "note": "wrong airport"}',
        }
    },
}
Trajectory = Annotated[str | None, Query(max_length=600, description="Ours, or `ext:` and the log's own")]


@router.get("/labels", response_model=LabelPage)
def list_labels(
    store: StoreDep,
    trajectory: Trajectory = None,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    project: Project = DEFAULT,
) -> Response:
    """The labels that count: all of one trajectory, or a page of the project."""
    if trajectory is not None:
        return Answer(labelling.labels_of(store, project, trajectory))
    return Answer(labelling.listed(store, project, cursor, limit))


@router.post(
    "/labels",
    response_model=LabelResult,
    response_description="What became of each row",
    responses={422: {"model": LabelProblem | Problem, "description": "Every row was rejected"}},
    openapi_extra={"requestBody": BODY},
)
async def give_labels(request: Request, store: StoreDep, intake: IntakeDep, project: Project = DEFAULT) -> Response:
    """Append labels, one JSON object a line: the rows of `GET /labels/export`; only trajectory_id, span_index (or
    message_index with tool_call_id), verdict and labeller are needed. A verdict of null withdraws."""
    codings = coding_names(request.headers.getlist("content-encoding"))
    async with intake.lease() as lease:
        limit = intake.limits.body
        body = await intake.received(request, lease, limit)
        data = await intake.decode(partial(undone, body, codings, limit, lease.take))
        result = await intake.store(len(data), partial(labelling.give, store, project, data))
    if not result.items:
        raise RefusedError(422, "the body has no rows: expected one JSON object a line", "body")
    return answer(request, result)


@router.get("/labels/queue", response_model=LabelTurn)
def next_to_label(
    store: StoreDep,
    labeller: Annotated[str, Query(min_length=1, max_length=100)],
    queue: Annotated[Literal["disagree", "high", "random"], Query()] = "disagree",
    outcome: Annotated[Literal["fail", "pass", "any"], Query()] = "fail",
    after: Annotated[str | None, Query(max_length=600, description="One that is passed over")] = None,
    project: Project = DEFAULT,
) -> Response:
    """The next trajectory that this person has not labelled."""
    return Answer(labelling.next_of(store, project, labeller, queue, outcome, after))


@router.get("/labels/grades", response_model=GradesOut)
def grade_runs(
    store: StoreDep,
    part: Annotated[Literal["all", "blind", "random"], Query(description="The labels that count")] = "all",
    trajectory: Trajectory = None,
    project: Project = DEFAULT,
) -> Response:
    """Finished runs graded on the labels; of one trajectory every run that scored it."""
    return Answer(labelling_grades.grades(store, project, part, trajectory))


@router.get(
    "/labels/export",
    responses={
        200: {"description": "Rows, as an attachment", "content": {NDJSON: {"schema": {"type": "string"}}}},
    },
)
def export_labels(store: StoreDep, project: Project = DEFAULT) -> Response:
    """Every label that counts as a `trajcredit.label/1` row, which `trajcredit eval --labels` and POST /labels take."""
    data = b"".join(labelling.rows(store, project))
    return Response(data, media_type=NDJSON, headers=attachment("labels.jsonl"))


def answer(request: Request, result: Labelled) -> Response:
    """200 where anything was taken; else the same rows in a problem."""
    if result.rejected < len(result.items):
        return Answer(result)
    first = result.items[0]
    reason = first.reason or "the first row was rejected"
    others = f" (and {len(result.items) - 1} more)" if len(result.items) > 1 else ""
    more = {name: getattr(result, name) for name in LabelResult.model_fields}
    return problem(request, 422, reason + others, place_of(reason, None, first.line), more=more)
