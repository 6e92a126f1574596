"""What a client still sends after it was refused: read and dropped for a while, else it would never see the answer.

A connection that is closed on bytes that were not read is reset, and the answer is lost with it.
"""

from __future__ import annotations

import anyio
from starlette.types import Receive, Scope

from trajcredit.api.identity import wholly_read

__all__ = ["linger"]

SECONDS = 5.0
MOST = 1 << 30
"""Bytes dropped."""


async def linger(scope: Scope, receive: Receive) -> None:
    """Read on until the request ends, the client leaves, or it takes too long."""
    dropped = 0
    with anyio.move_on_after(SECONDS):
        while not wholly_read(scope) and dropped < MOST:
            dropped += len((await receive()).get("body", b""))
