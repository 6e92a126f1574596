"""Every error as an RFC 9457 problem document: what is wrong, where, and what to do; never a traceback."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trajcredit.api.identity import request_id
from trajcredit.api.lingering import linger
from trajcredit.errors import InputError, JudgeError, NotFoundError, ParseError, StoreError, TrajcreditError
from trajcredit.service.opening import StoreFullError

__all__ = [
    "MEDIA_TYPE",
    "Place",
    "ProblemAnswer",
    "RefusedError",
    "install",
    "invalid",
    "place_of",
    "problem",
    "trace",
]

MEDIA_TYPE = "application/problem+json"
LONGEST_DETAIL = 2000
SHOWN_ERRORS = 5
RETRY_AFTER = "5"
"""Seconds: as long as the store lets a writer wait, halved."""
CUT_OFF = frozenset({408, 413, 503})
"""Answers that may come before the whole request was read."""
BYTE = re.compile(r"\bbyte (\d+)")
_log = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request that is answered with this status."""

    def __init__(
        self, status: int, detail: str, field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field, self.headers = status, detail, field, headers or {}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is wrong."""

    field: str | None = None
    file: str | None = None
    line: int | None = None
    byte: int | None = None


class ProblemAnswer(Response):
    """A problem document. What of the request was not read yet is read and dropped, so that the client sees this."""

    media_type = MEDIA_TYPE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.status_code not in CUT_OFF:
            await super().__call__(scope, receive, send)
            return
        self.headers["Connection"] = "close"
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await linger(scope, receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def problem(
    request: Request,
    status: int,
    detail: str,
    place: Place | None = None,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> ProblemAnswer:
    """The answer; `more` are members beyond those of every problem."""
    at = place or Place()
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _shown(detail),
        "field": at.field,
        "file": at.file,
        "line": at.line,
        "byte": at.byte,
        "instance": request_id(request.scope),
    }
    return ProblemAnswer(msgspec.json.encode(body | dict(more or {})), status, dict(headers or {}))


def place_of(reason: str, file: str | None, line: int | None) -> Place:
    """Where a record broke: a byte counts from the start of the body, so only where the record is all of it."""
    found = BYTE.search(reason) if line is None else None
    return Place(file=file or None, line=line, byte=int(found[1]) if found else None)


def install(app: FastAPI) -> None:
    """Let the app answer its errors so."""
    handlers: dict[Any, Any] = {
        HTTPException: _of_http,
        RequestValidationError: _of_validation,
        RefusedError: _of_refusal,
        TrajcreditError: _of_ours,
        ClientDisconnect: _of_disconnect,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _of_http(request: Request, error: HTTPException) -> Response:
    details = {
        404: f"nothing is served at {request.url.path}",
        405: f"{request.url.path} does not take {request.method}",
    }
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(request.app.state.methods(request.scope)))
    return problem(request, error.status_code, details.get(error.status_code, error.detail), headers=headers)


def _of_validation(request: Request, error: RequestValidationError) -> Response:
    return invalid(request, error.errors())


def invalid(request: Request, found: Sequence[Mapping[str, Any]]) -> Response:
    """What pydantic found wrong; the values themselves are not repeated."""
    told = [(".".join(map(str, one["loc"][1:] or one["loc"])), one["msg"]) for one in found]
    detail = "; ".join(f"{name}: {message}" for name, message in told[:SHOWN_ERRORS])
    more = f"; and {len(told) - SHOWN_ERRORS} more" if len(told) > SHOWN_ERRORS else ""
    return problem(request, 422, detail + more, Place(field=told[0][0]))


def _of_refusal(request: Request, error: RefusedError) -> Response:
    return problem(request, error.status, error.detail, Place(field=error.field), error.headers)


def _of_disconnect(request: Request, error: ClientDisconnect) -> Response:
    return Response(status_code=400)  # nobody is there to read it


def _of_ours(request: Request, error: TrajcreditError) -> Response:
    match error:
        case NotFoundError():
            return problem(request, 404, str(error))
        case ParseError():
            return problem(request, 422, error.reason, place_of(error.reason, error.file, error.line))
        case InputError():
            return problem(request, 422, str(error))
        case StoreFullError():
            _told(request, error)
            return problem(request, 507, "no space is left for the database; nothing more of this was stored")
        case StoreError():
            _told(request, error)
            detail = "the database is busy or away: what was answered before is kept, sending this again is safe"
            return problem(request, 503, detail, headers={"Retry-After": RETRY_AFTER})
        case JudgeError():
            return problem(request, 502, str(error))
    raise error


def _told(request: Request, error: Exception) -> None:
    _log.error("request %s: %s", request_id(request.scope), error)


def trace(error: BaseException) -> str:
    """Where an error and those that led to it were raised, and of what kind they are: one line for the log.

    In the message, as handlers that write a line for each record leave its traceback out. What errors say is not in
    it: that may quote the request, or how to reach the database.
    """
    told: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        frames = [f"{f.filename}:{f.lineno} in {f.name}" for f in traceback.extract_tb(cause.__traceback__)]
        kind = f"{type(cause).__module__}.{type(cause).__qualname__}".removeprefix("builtins.")
        told.append(f"{kind}; Traceback (most recent call last): {' > '.join(frames)}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; caused by ".join(told)


def _shown(detail: str) -> str:
    """Short, and text that any reader of JSON takes."""
    return detail[:LONGEST_DETAIL].encode("utf-8", "replace").decode()
