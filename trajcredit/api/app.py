"""The app: routes of the API and of the web interface over one open database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from trajcredit import __version__
from trajcredit.api import problems
from trajcredit.api.examples import ANSWERS
from trajcredit.api.guard import LOOPBACK, Guard
from trajcredit.api.intake import Intake, Limits
from trajcredit.api.models import EdgeEditPreviewRequest, EdgeEditRequest, JudgingRequest, Problem, RunRequest
from trajcredit.api.parameters import known_only
from trajcredit.api.routes import API, SITE
from trajcredit.api.routes.site import WEB
from trajcredit.api.streams import Streams
from trajcredit.service.judge_runner import JudgeRunner
from trajcredit.service.opening import Store
from trajcredit.service.runner import Runner

__all__ = ["BASE", "bare", "create_app"]

BASE = "/api/v1"
READ: tuple[type[BaseModel], ...] = (RunRequest, JudgingRequest, EdgeEditRequest, EdgeEditPreviewRequest)
"""Models of bodies that we read ourselves."""
DEFAULT_ANSWER = {"model": Problem, "description": "What is wrong, where, and what to do"}


def create_app(
    store: Store,
    allowed_hosts: Iterable[str] = (),
    runner: Runner | None = None,
    limits: Limits | None = None,
    web: Path = WEB,
    tokenizers: Path | None = None,
    judges: JudgeRunner | None = None,
) -> FastAPI:
    """An app that answers under the names of this machine and under `allowed_hosts`, whatever the port.

    `runner` is told of new runs; who starts and stops it, and closes the store, is the caller. `tokenizers` is the
    folder of those that exports may name; `judges` is told of new judgings, and knows the models that they may ask.
    """
    app = bare()
    app.state.judges = judges
    app.state.store, app.state.runner, app.state.web, app.state.tokenizers = store, runner, web, tokenizers
    app.state.intake, app.state.streams = Intake(limits or Limits()), Streams()
    app.add_middleware(AsSent)
    app.add_middleware(Guard, hosts=(*LOOPBACK, *allowed_hosts))
    return app


def bare() -> FastAPI:
    """The routes without anything behind them: enough for the OpenAPI document."""
    app = _App(
        title="trajcredit",
        version=__version__,
        summary="Which call earned the reward: logs in, per-span credit out.",
        openapi_url=f"{BASE}/openapi.json",
        docs_url=None,  # pages that load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation,
        responses={"default": DEFAULT_ANSWER},
    )
    for router in API:
        app.include_router(router, prefix=BASE, dependencies=[Depends(known_only)])
    for router in SITE:
        app.include_router(router)
    app.state.methods = _methods
    problems.install(app)
    return app


class AsSent:
    """Lets routes of the API match the path as it was sent: an id may hold a slash, percent-encoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and raw.startswith(f"{BASE}/".encode()):
            scope = {**scope, "path": raw.decode("latin-1")}
        await self._app(scope, receive, send)


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The document, in which problems have their own media type, and bodies that we read ourselves a schema."""
        if self.openapi_schema is None:
            made = get_openapi(title=self.title, version=self.version, summary=self.summary, routes=self.routes)
            schemas = made["components"]["schemas"]
            for model in READ:
                schemas |= _schemas(model)
            for operation in (operation for path in made["paths"].values() for operation in path.values()):
                for answer in operation["responses"].values():
                    _as_problem(answer)
            for (path, method, status), example in ANSWERS.items():
                answer = made["paths"][BASE + path][method]["responses"][status]
                answer["content"]["application/json"]["example"] = example
            self.openapi_schema = made
        return self.openapi_schema


def _methods(scope: Scope) -> set[str]:
    """What may be done at the path of a request: the framework names what the first route of it takes."""
    whole = {"type": "http", "method": scope["method"], "path": scope["path"], "root_path": ""}
    inner = {**whole, "path": scope["path"].removeprefix(BASE)}
    return {
        method
        for routers, at in ((API, inner), (SITE, whole))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and route.matches(at)[0] is not Match.NONE
        for method in route.methods or ()
    }


def _schemas(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model by its name, and those of the models in it."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs", {}), model.__name__: schema}


def _as_problem(answer: dict[str, Any]) -> None:
    schemas = [kind["schema"] for kind in answer.get("content", {}).values() if "schema" in kind]
    if schemas and all(one.get("$ref", "").endswith("Problem") for one in schemas[0].get("anyOf", schemas[:1])):
        answer["content"] = {problems.MEDIA_TYPE: {"schema": schemas[0]}}


def _operation(route: APIRoute) -> str:
    return route.name
