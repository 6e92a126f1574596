"""POST /rewards: outcomes that come later."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from trajcredit.api.answers import Answer
from trajcredit.api.decoding import coding_names, undone
from trajcredit.api.models import Problem, RewardProblem, RewardResult
from trajcredit.api.parameters import DEFAULT, IntakeDep, Project, StoreDep
from trajcredit.api.problems import RefusedError, place_of, problem
from trajcredit.service.rewarding import Late, late

__all__ = ["router"]

router = APIRouter()
BODY = {
    "required": True,
    "content": {
        "application/x-ndjson": {
            "schema": {"type": "string"},
            "example": '{"trajectory": "ext:t-1", "value": 0.0, "source": "human", "at": "2026-04-14T18:40:12Z"}\n'
            '{"trajectory": "ext:t-1", "span": 4, "value": 0.5, "source": "judge", "name": "grounded"}',
        }
    },
}


@router.post(
    "/rewards",
    response_model=RewardResult,
    response_description="What became of each row",
    responses={
        422: {"model": RewardProblem | Problem, "description": "Every row was rejected"},
    },
    openapi_extra={"requestBody": BODY},
)
async def append_rewards(request: Request, store: StoreDep, intake: IntakeDep, project: Project = DEFAULT) -> Response:
    """Append rewards, one JSON object a line: trajectory (id or `ext:`), value, source?, span?, name?, at?

    The log's own id alone will do where it is no id of another trajectory."""
    codings = coding_names(request.headers.getlist("content-encoding"))
    async with intake.lease() as lease:
        limit = intake.limits.body
        body = await intake.received(request, lease, limit)
        data = await intake.decode(partial(undone, body, codings, limit, lease.take))
        result = await intake.store(len(data), partial(late, store, project, data))
    if not result.items:
        raise RefusedError(422, "the body has no rows: expected one JSON object a line", "body")
    return answer(request, result)


def answer(request: Request, result: Late) -> Response:
    """200 where anything was taken; else the same rows in a problem."""
    if result.rejected < len(result.items):
        return Answer(result)
    first = result.items[0]
    reason = first.reason or "the first row was rejected"
    others = f" (and {len(result.items) - 1} more)" if len(result.items) > 1 else ""
    more = {name: getattr(result, name) for name in RewardResult.model_fields}
    return problem(request, 422, reason + others, place_of(reason, None, first.line), more=more)
