"""Bodies of requests, received and worked on within limits: bytes each, bytes of all together, seconds, threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from trajcredit.api.problems import RefusedError

__all__ = ["Intake", "Lease", "Limits"]

T = TypeVar("T")

LARGE = 4 << 20
"""Decoded bytes from which on a body is worked on one at a time, so that it does not hold up smaller ones."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, and all of them together, may take."""

    body: int = 64 << 20
    """Bytes of a body, as sent and decoded."""
    request: int = 1 << 20
    """Bytes of a body that is no log."""
    in_flight: int = 256 << 20
    """Bytes of all bodies in memory, as sent and decoded."""
    silence: float = 60.0
    """Seconds until the next bytes of a body must have come."""
    at_once: int = 4
    """Bodies that are decoded, and small ones that are stored, at the same time."""


class Lease:
    """The bytes that one request holds."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.held = 0

    def take(self, size: int) -> None:
        """Hold so many more; 503 where all together would be too many."""
        self._intake.hold(size)
        self.held += size


class Intake:
    """What a server takes in at the moment."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._held, self._lock = 0, Lock()
        self._decoders = ThreadPoolExecutor(limits.at_once, "decode")
        self._small = ThreadPoolExecutor(limits.at_once, "store")
        self._large = ThreadPoolExecutor(1, "store-large")

    def hold(self, size: int) -> None:
        """Count bytes that are in memory now, or (a negative size) no more."""
        with self._lock:
            if size > 0 and self._held + size > self.limits.in_flight:
                detail = "the server holds as many uploads as it can: send this again in a moment"
                raise RefusedError(503, detail, headers={"Retry-After": "5"})
            self._held += size

    @asynccontextmanager
    async def lease(self) -> AsyncIterator[Lease]:
        """Bytes that are given back at the end of the block."""
        lease = Lease(self)
        try:
            yield lease
        finally:
            self.hold(-lease.held)

    async def received(self, request: Request, lease: Lease, limit: int) -> bytes:
        """The body as sent: 413 beyond `limit` bytes, 408 where nothing comes for too long."""
        said = request.headers.get("content-length", "")
        promised = int(said) if said.isdecimal() and len(said) < 20 else 0
        if promised > limit:
            raise _too_large(limit)
        lease.take(promised)  # at once: many large bodies that all get half-way would help nobody
        body, size = BytesIO(), 0
        while True:
            message = await self._next(request)
            piece = message.get("body", b"")
            size += len(piece)
            if size > limit:
                raise _too_large(limit)
            if size > promised:
                lease.take(min(len(piece), size - promised))
            body.write(piece)
            if not message.get("more_body", False):
                return body.getvalue()

    async def decode(self, work: Callable[[], T]) -> T:
        """Run this in a thread, a few at a time."""
        return await asyncio.wrap_future(self._decoders.submit(work))

    async def store(self, size: int, work: Callable[[], T]) -> T:
        """Run this in a thread: large bodies one after the other, small ones a few at a time beside them."""
        pool = self._large if size >= LARGE else self._small
        return await asyncio.wrap_future(pool.submit(work))

    async def _next(self, request: Request) -> Message:
        try:
            with anyio.fail_after(self.limits.silence):
                message = await request.receive()
        except TimeoutError as error:
            detail = f"nothing came for {self.limits.silence:g} seconds: the body was dropped"
            raise RefusedError(408, detail) from error
        if message["type"] != "http.request":
            raise ClientDisconnect
        return message


def _too_large(limit: int) -> RefusedError:
    return RefusedError(413, f"the body has more than {limit:,} bytes: send it in several requests")
