"""What requests are asked with: typed, bounded, and nothing that we do not know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as Folder
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from fastapi import Depends, Path, Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import AfterValidator, BaseModel, ValidationError

from trajcredit.api.intake import Intake
from trajcredit.api.models import RunRequest
from trajcredit.api.problems import RefusedError
from trajcredit.api.streams import Streams
from trajcredit.service.opening import DEFAULT_PROJECT, Store
from trajcredit.service.runner import Runner

__all__ = [
    "DEFAULT",
    "LARGEST",
    "Id",
    "IntakeDep",
    "Project",
    "RunAsked",
    "RunnerDep",
    "Span",
    "StoreDep",
    "StreamsDep",
    "TokenizersDep",
    "asked",
    "known_only",
]

Asked = TypeVar("Asked", bound=BaseModel)
LONGEST_ID = 512
LARGEST = 2**31 - 1


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def _runner(request: Request) -> Runner | None:
    runner: Runner | None = request.app.state.runner
    return runner


def _intake(request: Request) -> Intake:
    intake: Intake = request.app.state.intake
    return intake


def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


def _tokenizers(request: Request) -> Folder | None:
    folder: Folder | None = request.app.state.tokenizers
    return folder


def _decoded(segment: str) -> str:
    """A part of the path as it was sent -> what it means; it may hold any character, a slash too."""
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from error
    if "\0" in text or len(text) > LONGEST_ID + len("ext:"):
        raise ValueError(f"an id has at most {LONGEST_ID} characters and no NUL")
    return text


StoreDep = Annotated[Store, Depends(_store)]
RunnerDep = Annotated[Runner | None, Depends(_runner)]
StreamsDep = Annotated[Streams, Depends(_streams)]
IntakeDep = Annotated[Intake, Depends(_intake)]
TokenizersDep = Annotated[Folder | None, Depends(_tokenizers)]
Project = Annotated[str, Query(min_length=1, max_length=100, description="The project; its name has no NUL.")]
Id = Annotated[
    str,
    Path(
        alias="id",
        description="Ours, or `ext:` and the client's own, percent-encoded.",
        examples=["ext:task-7/rollout-3"],
    ),
    AfterValidator(_decoded),
]
Span = Annotated[int, Path(ge=0, le=LARGEST)]
DEFAULT = DEFAULT_PROJECT


def known_only(request: Request) -> None:
    """Refuse query parameters that the route does not have, or that come twice: a mistyped filter must not filter
    nothing, and which of two values counts must not be a guess."""
    known = _query_names(request.scope["route"].dependant)
    given = [name for name, _ in request.query_params.multi_items()]
    for name, value in request.query_params.multi_items():
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise RefusedError(422, f"no query parameter {name[:100]!r} here; known: {has}", name[:100])
        if given.count(name) > 1:
            raise RefusedError(422, f"{name} is given more than once", name)
        if "\0" in value:
            raise RefusedError(422, f"{name} holds a NUL", name)


def _query_names(dependant: Dependant) -> set[str]:
    names = {field.alias for field in dependant.query_params}
    return names.union(*map(_query_names, dependant.dependencies))


async def asked(request: Request, intake: Intake, model: type[Asked]) -> Asked:
    """A small body, bounded, and stricter than JSON as Python reads it: no NaN, no text that is not Unicode."""
    async with intake.lease() as lease:
        body = await intake.received(request, lease, intake.limits.request)
    try:
        decoded: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(422, f"the body is no JSON: {error}" if body else "the body is empty", "body") from error
    try:
        return model.model_validate(decoded)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = dict(_field_and_fault(one) for one in found)
        detail = "; ".join(f"{name}: {fault}" for name, fault in list(told.items())[:5])
        raise RefusedError(422, detail, next(iter(told))) from error


def _field_and_fault(found: Mapping[str, Any]) -> tuple[str, str]:
    """A value of many types is told once what it may be, not once a type."""
    if found["loc"][:1] == ("parameters",) and len(found["loc"]) > 1:
        fault = "expected a finite number, text, true, false, null, or a list of these"
        return f"parameters.{found['loc'][1]}"[:300], fault
    return ".".join(map(str, found["loc"]))[:300] or "body", found["msg"]


async def _run_asked(request: Request, intake: IntakeDep) -> RunRequest:
    return await asked(request, intake, RunRequest)


RunAsked = Annotated[RunRequest, Depends(_run_asked)]
