"""Around every request: its id, who may ask (T28), the headers every answer has, and what happens when code breaks."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trajcredit.api.identity import begin, request_id
from trajcredit.api.problems import problem, trace

__all__ = ["LOOPBACK", "Guard"]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SCHEMES = ("http", "https")
READS = frozenset({"GET", "HEAD", "OPTIONS"})
HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^\[\]:/@\s]+)(?::\d{1,5})?")
_log = logging.getLogger(__name__)


class Guard:
    """Lets through what comes from this machine or by a name that is ours, and nothing that another site sends."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        receive = begin(scope, receive)
        answering = False

        async def answered(message: Message) -> None:
            nonlocal answering
            if message["type"] == "http.response.start":
                answering = True
                _complete(MutableHeaders(scope=message), request_id(scope))
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _problem(scope, receive, answered, *refusal)
            return
        try:
            await self._app(scope, receive, answered)
        except ClientDisconnect:
            return
        except Exception as error:  # the boundary of the server: what it did not foresee is told in its log only
            _log.error("request %s: %s %r failed: %s", request_id(scope), scope["method"], scope["path"], trace(error))
            if answering:
                raise
            detail = f"internal error; the server's log has more under {request_id(scope)}"
            await _problem(scope, receive, answered, 500, detail)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason, where the request is not for us or not from us.

        Ports are not compared with the one we listen on: whoever comes through a tunnel uses another, and a name that
        an attacker rebinds to us stays his name.
        """
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        parsed = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if parsed is None:
            return 400, "expected one Host header with a name and perhaps a port"
        if parsed["name"].lower() not in self._hosts:
            return 403, f"this server does not go by the name {parsed['name'][:100]!r}: start it with that name allowed"
        if scope["method"] in READS:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if origin is None and site not in ("same-origin", "none"):
            return 403, "another site sent this: only this server's own pages may change something"
        if origin is not None and origin.lower() not in [f"{scheme}://{hosts[0].lower()}" for scheme in SCHEMES]:
            return 403, f"the page at {origin[:100]!r} sent this: only this server's own pages may change something"
        return None


def _complete(headers: MutableHeaders, request: str) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    headers["X-Request-Id"] = request
    headers.setdefault("Cache-Control", "no-store")


async def _problem(scope: Scope, receive: Receive, send: Send, status: int, detail: str) -> None:
    await problem(Request(scope), status, detail)(scope, receive, send)
