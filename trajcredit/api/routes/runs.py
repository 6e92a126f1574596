"""Runs: asked for, looked at, stopped, exported."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import Annotated, BinaryIO, cast

from fastapi import APIRouter, Query, Response
from starlette.responses import StreamingResponse

from trajcredit.api.answers import Answer, attachment, pieces
from trajcredit.api.models import ExportFormat, RunOut, RunPage
from trajcredit.api.parameters import DEFAULT, Id, Project, RunAsked, RunnerDep, StoreDep
from trajcredit.service import running
from trajcredit.service.exporting import export

__all__ = ["router"]

router = APIRouter()
IN_MEMORY = 8 << 20
"""Bytes of an export above which it lies on disk until it is sent."""
MEDIA_TYPES = {"jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/RunRequest"},
            "example": {"attributor": "dag", "parameters": {"gamma": 0.95}},
        }
    },
}


@router.get("/runs", response_model=RunPage)
def list_runs(
    store: StoreDep,
    project: Project = DEFAULT,
    attributor: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """Runs of a project, newest first."""
    return Answer(running.listed(store, project, attributor, cursor, limit))


@router.post(
    "/runs",
    status_code=202,
    response_model=RunOut,
    response_description="It waits for its turn",
    openapi_extra={"requestBody": BODY},
)
def create_run(store: StoreDep, runner: RunnerDep, asked: RunAsked, project: Project = DEFAULT) -> Response:
    """Queue a run of one attributor; GET /runs/{id} says how far it is."""
    wanted = running.Wanted(asked.reward, asked.group_by, asked.dataset)
    run = running.ask(store, project, asked.attributor, asked.parameters, wanted)
    if runner is not None:
        runner.wake()
    return Answer(run, 202, {"Location": f"/api/v1/runs/{run.id}"})


@router.get("/runs/{id}", response_model=RunOut)
def get_run(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """One run, by its id, or the newest finished one of an attributor."""
    return Answer(running.find(store, project, ref))


@router.post("/runs/{id}/cancel", response_model=RunOut)
def cancel_run(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """The run, which does not go on; one that ended stays as it is."""
    return Answer(running.cancel(store, project, ref))


@router.get(
    "/runs/{id}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The credit rows, as an attachment",
            "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA_TYPES.values()},
        }
    },
)
def export_run(
    store: StoreDep, ref: Id, to: Annotated[ExportFormat, Query()] = "jsonl", project: Project = DEFAULT
) -> Response:
    """The credit rows of a finished run. They are all written before the first is sent: a client that is slow, or
    goes away, holds no transaction open, and what comes is whole."""
    run = running.find(store, project, ref)
    file = cast(BinaryIO, SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115  # closed once it is sent
    try:
        export(store, project, run.id, to, file)
        size = file.tell()
    except BaseException:
        file.close()
        raise
    headers = attachment(f"{run.attributor}-{run.number}.{to}") | {"Content-Length": str(size)}
    if run.stale:
        headers["X-Trajcredit-Stale"] = run.stale_reason or "stale"
    return StreamingResponse(pieces(file), headers=headers, media_type=MEDIA_TYPES[to])
