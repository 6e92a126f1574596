"""Judges and judgings: who can be asked, asked, stopped, resumed, and what was said."""

from __future__ import annotations

from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, BinaryIO, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import FiniteFloat
from starlette.responses import StreamingResponse

from trajcredit.api.answers import Answer, attachment, pieces
from trajcredit.api.decoding import coding_names, undone
from trajcredit.api.models import (
    Judges,
    JudgingOut,
    JudgingPage,
    JudgingRequest,
    OpinionProblem,
    OpinionResult,
    OpinionsOut,
    Problem,
)
from trajcredit.api.parameters import DEFAULT, Id, IntakeDep, Project, StoreDep, asked
from trajcredit.api.problems import RefusedError, place_of, problem
from trajcredit.api.routes.plugins import parameter_info
from trajcredit.service import judgings, opining, trusting_stored
from trajcredit.service.judge_runner import JudgeRunner
from trajcredit.service.taking_opinions import Taken, take

__all__ = ["router"]

router = APIRouter()
IN_MEMORY = 8 << 20
"""Bytes of an export above which it lies on disk until it is sent."""
BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/JudgingRequest"}, "example": {"judge": "rules"}}
    },
}
ROWS = {
    "required": True,
    "content": {
        "application/x-ndjson": {
            "schema": {"type": "string"},
            "example": '{"schema": "trajcredit.opinion/1", "trajectory_id": "t-1", "judge": "mine", "scale": "credit", '
            '"segments": [{"actions": [3], "spans": [3, 4], "score": -0.5, "reason": "the wrong date"}]}',
        }
    },
}
Text = Annotated[str | None, Query(max_length=1000)]


def _runner(request: Request) -> JudgeRunner | None:
    found: JudgeRunner | None = request.app.state.judges
    return found


JudgesDep = Annotated[JudgeRunner | None, Depends(_runner)]


async def _judging_asked(request: Request, intake: IntakeDep) -> JudgingRequest:
    return await asked(request, intake, JudgingRequest)


@router.get("/judges", response_model=Judges)
def list_judges(runner: JudgesDep) -> Response:
    """Every judge with its parameters, and the models that the server may ask."""
    items = [
        {
            "name": one.plugin.name,
            "summary": one.plugin.summary,
            "parameters": [parameter_info(p).model_dump() for p in one.plugin.parameters],
            "on_the_spot": one.on_the_spot,
            "asks_model": one.asks_model,
            "over_http": one.over_http,
        }
        for one in judgings.known_judges()
    ]
    models = [{"name": one.name, "model": one.model} for one in (runner.models if runner else {}).values()]
    return Answer({"items": items, "models": models, "segments": judgings.kinds_of_segments()})


@router.get("/judgings", response_model=JudgingPage)
def list_judgings(
    store: StoreDep,
    project: Project = DEFAULT,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """Judgings of a project, newest first."""
    return Answer(judgings.listed(store, project, cursor, limit))


@router.post(
    "/judgings",
    status_code=202,
    response_model=JudgingOut,
    response_description="It waits for its turn",
    openapi_extra={"requestBody": BODY},
)
def create_judging(
    store: StoreDep,
    runner: JudgesDep,
    asked: Annotated[JudgingRequest, Depends(_judging_asked)],
    project: Project = DEFAULT,
) -> Response:
    """Queue a judging; GET /judgings/{id} says how far it is. Models are those of the server's settings alone."""
    models = {} if runner is None else runner.models
    return _queued(judgings.ask(store, project, asked.judge, asked.parameters, models, asked.dataset), runner)


@router.post(
    "/judgings/upload",
    response_model=OpinionResult,
    response_description="What became of each row",
    responses={422: {"model": OpinionProblem | Problem, "description": "Every row was rejected"}},
    openapi_extra={"requestBody": ROWS},
)
async def upload_opinions(request: Request, store: StoreDep, intake: IntakeDep, project: Project = DEFAULT) -> Response:
    """Keep opinions that somebody else computed, one row of `trajcredit.opinion/1` a line, as a judging."""
    codings = coding_names(request.headers.getlist("content-encoding"))
    async with intake.lease() as lease:
        limit = intake.limits.body
        body = await intake.received(request, lease, limit)
        data = await intake.decode(partial(undone, body, codings, limit, lease.take))
        result: Taken = await intake.store(len(data), partial(take, store, project, data))
    if not result.items:
        raise RefusedError(422, "the body has no rows: expected one JSON object a line", "body")
    if result.kept:
        return Answer(result)
    first = result.items[0]
    reason = first.reason or "the first row was rejected"
    more = {name: getattr(result, name) for name in OpinionResult.model_fields}
    return problem(request, 422, reason, place_of(reason, None, first.line), more=more)


@router.get("/judgings/{id}", response_model=JudgingOut)
def get_judging(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """One judging."""
    return Answer(judgings.find(store, project, ref))


@router.post("/judgings/{id}/cancel", response_model=JudgingOut)
def cancel_judging(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """The judging, which asks nothing more; what was judged stays."""
    return Answer(judgings.cancel(store, project, ref))


@router.post(
    "/judgings/{id}/resume", status_code=202, response_model=JudgingOut, response_description="It waits for its turn"
)
def resume_judging(store: StoreDep, runner: JudgesDep, ref: Id, project: Project = DEFAULT) -> Response:
    """Queue it again for what is not judged yet; what a model answered before is not asked for again."""
    return _queued(judgings.resume(store, project, ref), runner)


@router.get(
    "/judgings/{id}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Its opinions, one row a trajectory",
            "content": {"application/x-ndjson": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def export_judging(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """What was said, as `trajcredit judge` writes it."""
    found = judgings.find(store, project, ref)
    file = cast(BinaryIO, SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115  # closed once it is sent
    try:
        judgings.export(store, project, ref, file)
        size = file.tell()
    except BaseException:
        file.close()
        raise
    headers = attachment(f"{found.id}.jsonl") | {"Content-Length": str(size)}
    return StreamingResponse(pieces(file), headers=headers, media_type="application/x-ndjson")


@router.get(
    "/judgings/{id}/reliability",
    response_model=dict[str, Any],
    response_description="Figures with intervals; docs/judges.md says what each is",
)
def judging_reliability(
    store: StoreDep,
    ref: Id,
    against: Annotated[str | None, Query(max_length=200, description="Another judging, held against it")] = None,
    repeat: Annotated[str | None, Query(max_length=200, description="A judging of the same judge, asked again")] = None,
    reward: Text = None,
    group_by: Annotated[str | None, Query(max_length=200)] = None,
    pass_at: Annotated[FiniteFloat, Query(description="An outcome of at least this passes")] = 0.5,
    draws: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    project: Project = DEFAULT,
) -> Response:
    """How far the judge can be trusted on these trajectories: against outcomes, itself and another judging."""
    return Answer(trusting_stored.of_judging(store, project, ref, against, repeat, reward, group_by, pass_at, draws))


@router.get("/trajectories/{id}/opinions", response_model=OpinionsOut)
def get_opinions(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """What every judging said of a trajectory, with the reasons."""
    return Answer(opining.opinions(store, project, ref))


def _queued(found: judgings.JudgingView, runner: JudgeRunner | None) -> Response:
    """The answer to who asked for it, once whoever works on them is told."""
    if runner is not None:
        runner.wake()
    return Answer(found, 202, {"Location": f"/api/v1/judgings/{found.id}"})
