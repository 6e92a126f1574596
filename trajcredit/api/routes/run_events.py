"""How far a run is, told as it goes on: server-sent events."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
import msgspec
from anyio.to_thread import run_sync
from fastapi import APIRouter, Response
from starlette.responses import StreamingResponse

from trajcredit.api.parameters import DEFAULT, Id, Project, StoreDep, StreamsDep
from trajcredit.api.streams import Streams
from trajcredit.errors import TrajcreditError
from trajcredit.service import running
from trajcredit.service.opening import Store

__all__ = ["router"]

router = APIRouter()
POLL = 0.5
"""Seconds between two looks at the database: whoever works on the run may be another process."""
HEARTBEAT = 15.0
"""Seconds of silence after which something is sent, so that nobody in between takes the line for dead."""
LONGEST = 600.0
"""Seconds after which a stream ends though the run goes on; browsers come again by themselves."""
MEDIA_TYPE = "text/event-stream"
BEGIN = b"retry: 1000\n\n"
ALIVE = b": alive\n\n"
_log = logging.getLogger(__name__)


@router.get(
    "/runs/{id}/events",
    response_class=StreamingResponse,
    responses={200: {"description": "Events until it ends", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def run_events(store: StoreDep, streams: StreamsDep, ref: Id, project: Project = DEFAULT) -> Response:
    """A `state` event first and whenever the run's state changes, a `progress` event whenever more of it is done, each
    with the run as GET /runs/{id} gives it; the stream ends with the run."""
    streams.check()
    run = await run_sync(running.find, store, project, ref)
    return StreamingResponse(
        events(store, project, run, streams), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"}
    )


async def events(store: Store, project: str, run: running.RunView, streams: Streams) -> AsyncIterator[bytes]:
    """The events of a run from what it is now. No transaction is open while nothing is read."""
    said: running.RunView | None = None
    began = spoke = anyio.current_time()
    with streams.counted():
        yield BEGIN
        while True:
            now = anyio.current_time()
            if run != said:
                yield event("progress" if said is not None and said.state == run.state else "state", run)
                said, spoke = run, now
            elif now - spoke >= HEARTBEAT:
                yield ALIVE
                spoke = now
            if run.state in running.ENDED or streams.stopping or now - began >= LONGEST:
                return
            await anyio.sleep(POLL)
            try:
                run = await run_sync(running.find, store, project, run.id)
            except TrajcreditError as error:  # the status has been sent, so it is told as an event
                _log.error("the events of run %s end: %s", run.id, error)
                yield event("problem", {"detail": "the run cannot be looked at now: ask GET /runs/{id}"})
                return


def event(name: str, data: Any) -> bytes:
    """One event; JSON has no line feed."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
