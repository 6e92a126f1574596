"""The web interface: one page, and the files it loads."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from trajcredit.api.problems import RefusedError

__all__ = ["WEB", "router"]

router = APIRouter(include_in_schema=False)
WEB = Path(__file__).parents[2] / "web"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
HASHED = re.compile(r".*-[A-Za-z0-9_-]{8}\.[a-z0-9]+")
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
MISSING = "The web interface was not built. It needs Node 20.19 or newer: install that, then trajcredit again."


@router.api_route("/", methods=["GET", "HEAD"])
@router.api_route("/p/{path:path}", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """The page, which reads its own address; where it was not built, why and what to do."""
    web: Path = request.app.state.web
    if (web / "index.html").is_file():
        return FileResponse(web / "index.html", headers={"Cache-Control": ASK_AGAIN})
    told = web / "missing.txt"
    text = told.read_text(encoding="utf-8") if told.is_file() else MISSING
    return PlainTextResponse(text + "\nThe API works without it: /api/v1/openapi.json\n", 503)


@router.api_route("/assets/{name}", methods=["GET", "HEAD"])
def asset(request: Request, name: str) -> Response:
    """A file of the page; those with a hash in their name never change."""
    file: Path = request.app.state.web / "assets" / name
    if not NAME.fullmatch(name) or not file.is_file():
        raise RefusedError(404, f"no asset {name[:100]!r}")
    return FileResponse(file, headers={"Cache-Control": FOREVER if HASHED.fullmatch(name) else ASK_AGAIN})
