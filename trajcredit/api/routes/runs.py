"""Runs: asked for, looked at, stopped, exported."""

from __future__ import annotations

from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Annotated, BinaryIO, cast

from fastapi import APIRouter, Query, Response
from starlette.responses import StreamingResponse

from trajcredit.api.answers import Answer, attachment, pieces
from trajcredit.api.models import PreviewOut, RunOut, RunPage
from trajcredit.api.parameters import DEFAULT, LARGEST, Id, Project, RunAsked, RunnerDep, StoreDep, TokenizersDep
from trajcredit.api.problems import RefusedError
from trajcredit.errors import InputError
from trajcredit.service import running
from trajcredit.service.exporting import export
from trajcredit.service.plugins import Exporter, exporter_of
from trajcredit.service.previewing import preview
from trajcredit.service.runner import Runner
from trajcredit.service.tokenizers import named

__all__ = ["router"]

router = APIRouter()
IN_MEMORY = 8 << 20
"""Bytes of an export above which it lies on disk until it is sent."""
BINARY = "application/octet-stream"
MEDIA_TYPES = {".jsonl": "application/x-ndjson", ".parquet": "application/vnd.apache.parquet", ".safetensors": BINARY}
To = Annotated[
    str, Query(max_length=1000, description="An exporter, or `NAME:key=value,...`.", examples=["jsonl", "verl"])
]
Tokenizer = Annotated[str | None, Query(max_length=200, description="One of GET /tokenizers.")]
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
    return queued(running.ask(store, project, asked.attributor, asked.parameters, wanted), runner)


@router.get("/runs/{id}", response_model=RunOut)
def get_run(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """One run, by its id, or the newest finished one of an attributor."""
    return Answer(running.find(store, project, ref))


@router.post(
    "/runs/{id}/again",
    status_code=202,
    response_model=RunOut,
    response_description="The new one; it waits for its turn",
)
def repeat_run(store: StoreDep, runner: RunnerDep, ref: Id, project: Project = DEFAULT) -> Response:
    """Queue a run that is asked for as this one was, over the trajectories and rewards of now."""
    return queued(running.again(store, project, ref), runner)


@router.post("/runs/{id}/cancel", response_model=RunOut)
def cancel_run(store: StoreDep, ref: Id, project: Project = DEFAULT) -> Response:
    """The run, which does not go on; one that ended stays as it is."""
    return Answer(running.cancel(store, project, ref))


@router.get(
    "/runs/{id}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file, as an attachment",
            "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA_TYPES.values()},
        }
    },
)
def export_run(
    store: StoreDep,
    folder: TokenizersDep,
    ref: Id,
    to: To = "jsonl",
    tokenizer: Tokenizer = None,
    project: Project = DEFAULT,
) -> Response:
    """The credit rows of a finished run, or a trainer's file of tokens. All of it is written before the first byte is
    sent: a client that is slow, or goes away, holds no transaction open, and what comes is whole."""
    run = running.find(store, project, ref)
    exporter = asked_for(to, tokenizer, folder)
    file = cast(BinaryIO, SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115  # closed once it is sent
    try:
        export(store, project, run.id, exporter, file)
        size = file.tell()
    except BaseException:
        file.close()
        raise
    suffix = exporter.suffix
    headers = attachment(f"{run.attributor}-{run.number}{suffix}") | {"Content-Length": str(size)}
    if run.stale:
        headers["X-Trajcredit-Stale"] = run.stale_reason or "stale"
    return StreamingResponse(pieces(file), headers=headers, media_type=MEDIA_TYPES.get(suffix, BINARY))


@router.get("/exports/preview", response_model=PreviewOut)
def preview_export(
    store: StoreDep,
    folder: TokenizersDep,
    run: Annotated[str, Query(max_length=600)],
    to: To = "tokens",
    tokenizer: Tokenizer = None,
    trajectory: Annotated[str | None, Query(max_length=600)] = None,
    start: Annotated[int, Query(alias="from", ge=0, le=LARGEST)] = 0,
    project: Project = DEFAULT,
) -> Response:
    """What a trainer will see of a run: counted, and token by token for one trajectory."""
    return Answer(preview(store, project, run, asked_for(to, tokenizer, folder), trajectory, start))


def queued(run: running.RunView, runner: Runner | None) -> Response:
    """The answer to who asked for a run, once whoever works on them is told."""
    if runner is not None:
        runner.wake()
    return Answer(run, 202, {"Location": f"/api/v1/runs/{run.id}"})


def asked_for(to: str, tokenizer: str | None, folder: Path | None) -> Exporter:
    """The exporter of a request. Whatever names a file of this machine is no client's to say."""
    try:
        path = None if tokenizer is None else named(folder, tokenizer)
    except InputError as error:
        raise RefusedError(422, str(error), "tokenizer") from error
    try:
        spec = exporter_of(to)
        for name in ("tokenizer", "chat_template"):
            if getattr(spec, name, None) is not None:
                raise InputError(f"{name} is no parameter here: `tokenizer` names one of GET /tokenizers")
        return spec if path is None else exporter_of(to, tokenizer=path)
    except InputError as error:
        raise RefusedError(422, str(error), "to") from error
