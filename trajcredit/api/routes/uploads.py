"""POST /trajectories: a log as it is, each trajectory of it kept once."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from trajcredit.api.answers import Answer
from trajcredit.api.decoding import coding_names, undone
from trajcredit.api.intake import Lease
from trajcredit.api.models import IngestProblem, IngestResult, Problem
from trajcredit.api.multipart import boundary_of, parts
from trajcredit.api.parameters import DEFAULT, IntakeDep, Project, StoreDep
from trajcredit.api.problems import RefusedError, place_of, problem
from trajcredit.service.ingesting import Ingested, Log, ingest, name_of
from trajcredit.service.plugins import formats

__all__ = ["router"]

router = APIRouter()
ROW = (
    '{"trajectory_id": "t-1", "group_id": "g-1", "reward": 1.0, "messages": '
    '[{"role": "user", "content": "Which flight?"}, {"role": "assistant", "content": "FL-2210."}]}'
)
BODY = {
    "required": True,
    "content": {
        "application/x-ndjson": {"schema": {"type": "string"}, "example": ROW},
        "application/json": {"schema": {}},
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        "multipart/form-data": {
            "schema": {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}
        },
    },
}


@router.post(
    "/trajectories",
    response_model=IngestResult,
    response_description="What became of each",
    responses={
        409: {"model": IngestProblem, "description": "Every trajectory is stored already, with other content"},
        422: {"model": IngestProblem | Problem, "description": "Nothing could be read"},
    },
    openapi_extra={"requestBody": BODY},
)
async def upload(
    request: Request,
    store: StoreDep,
    intake: IntakeDep,
    project: Project = DEFAULT,
    format: Annotated[str | None, Query(max_length=100, description="What the log is; sniffed where not given")] = None,
    name: Annotated[str | None, Query(max_length=1000, description="What reports call the log")] = None,
    replace: Annotated[bool, Query(description="Take the place of stored trajectories with the same id")] = False,
    key: Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)] = None,
) -> Response:
    """Store a log: JSON, NDJSON, or files as multipart, as they are or as gzip or zstd."""
    if format is not None and format not in (known := [plugin.name for plugin in formats()]):
        raise RefusedError(422, f"no format named {format!r}; known: {', '.join(known)}", "format")
    codings = coding_names(request.headers.getlist("content-encoding"))
    boundary = boundary_of(request.headers.get("content-type", ""))
    if boundary is not None and name is not None:
        raise RefusedError(422, "the parts of a multipart body go by their own file names", "name")
    async with intake.lease() as lease:
        limit = intake.limits.body
        body = [await intake.received(request, lease, limit)]
        sent = await intake.decode(partial(logs_of, body, codings, boundary, name, format, limit, lease))
        size = sum(len(log.data) for log in sent)
        result = await intake.store(size, partial(ingest, store, project, sent, replace, None, key))
    return answer(request, result)


def logs_of(
    body: list[bytes],
    codings: list[str],
    boundary: bytes | None,
    name: str | None,
    format: str | None,
    limit: int,
    lease: Lease,
) -> list[Log]:
    """The logs in a body, which is taken out of its list so that what it decodes to need not lie beside it."""
    whole = undone(body.pop(), codings, limit, lease.take, by_magic=boundary is None)
    if boundary is None:
        return [Log(whole, name_of(name, whole), format)]
    found: list[Log] = []
    left = limit
    for part in parts(whole, boundary, lease.take):
        data = undone(part.data, [], left, lease.take)
        left -= len(data)
        found.append(Log(data, name_of(part.label, data), format))
    if not found:
        raise RefusedError(422, "the multipart body has no file in it", "body")
    return found


def answer(request: Request, result: Ingested) -> Response:
    """200 where anything is stored now; else the same items in a problem: 409 if all are conflicts, 422 if not."""
    if result.created or result.duplicate or result.replaced:
        return Answer(result)
    refused = [item for item in result.items if item.reason is not None]
    first = refused[0] if refused else None
    reason = "there is no trajectory in it" if first is None or first.reason is None else first.reason
    others = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    place = None if first is None else place_of(reason, first.file, first.line)
    more = {name: getattr(result, name) for name in IngestResult.model_fields}
    status = 409 if result.conflict and not result.rejected else 422
    return problem(request, status, reason + others, place, more=more)
