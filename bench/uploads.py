"""Uploads of about 95 kB through the ASGI interface of one process: ours against a FastAPI route with a pydantic body.

    python bench/uploads.py            no network, some seconds

Three routes get the same bodies in turn: `POST /api/v1/trajectories`, which reads, builds graphs, stores and commits
before it answers; a route that takes raw bytes and decodes them to our typed records; and one whose body is a pydantic
model, which stores nothing. No socket is between, so that what is compared is the work and not the network.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import pipeline
import store as storing
import straightforward
from fastapi import FastAPI, Request
from measuring import Measure, timed
from starlette.responses import Response

from trajcredit.api.app import create_app
from trajcredit.formats import Document, Record, decoded
from trajcredit.formats.tau_bench import decode_row

__all__ = ["ingested"]

RUNS, AT_ONCE = 6, 10


def plain() -> FastAPI:
    """The route with a pydantic body and the one with raw bytes; neither stores anything."""
    app = FastAPI()

    async def modelled(rows: list[straightforward.Row]) -> dict[str, int]:
        return {"created": len(rows)}

    async def typed(request: Request) -> Response:
        document = Document("log.json", await request.body(), siblings=pipeline.SOURCE.siblings)
        for record in document.records:
            assert isinstance(record, Record)
            decoded(document, record, decode_row)
        return Response(b'{"created": 6}', media_type="application/json")

    app.post("/modelled")(modelled)
    app.post("/typed")(typed)
    return app


async def post(app: Any, path: str, body: bytes) -> int:
    """The status of one request, answered in full."""
    told: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return told.pop() if told else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    headers = {"host": "localhost", "content-type": "application/json", "content-length": str(len(body))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "state": {},
    }
    await app(scope, receive, send)
    return int(answers[0]["status"])


def bodies() -> Iterator[bytes]:
    """Logs of RUNS runs, no two with the same ids."""
    rows = pipeline.made_up(RUNS)
    for number in count():
        for k, row in enumerate(rows):
            row["task_id"] = number * RUNS + k
        yield json.dumps(rows).encode()


def ingested() -> Iterator[Measure]:
    """Requests of each route in turn."""
    with storing.new_sqlite() as store, closing(asyncio.new_event_loop()) as loop:
        app, other, made = create_app(store), plain(), bodies()

        def posts(app: Any, path: str, sent: Callable[[], list[bytes]]) -> Callable[[], None]:
            async def work() -> None:
                for body in sent():
                    assert await post(app, path, body) in (200, 201), path

            return lambda: loop.run_until_complete(work())

        same = [next(made) for _ in range(AT_ONCE)]
        fresh = [[next(made) for _ in range(AT_ONCE)] for _ in range(8)]
        took = timed(
            {
                "pydantic": posts(other, "/modelled", lambda: same),
                "typed": posts(other, "/typed", lambda: same),
                "stored": posts(app, "/api/v1/trajectories", fresh.pop),
            }
        )
    size = f"{len(same[0]) / 1000:.0f} kB"
    yield Measure(
        f"typed records of {size} against a pydantic body", took["pydantic"] / took["typed"], "higher", "x", 2
    )
    name = f"upload of {size} read, graphed and stored, against a pydantic body that stores nothing"
    yield Measure(name, took["pydantic"] / took["stored"], "higher", "x", 0.9)


def main() -> None:
    """Print both."""
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    for found in ingested():
        print(f"{found.name:<88} {found.value:6.2f} x   goal {found.budget}")


if __name__ == "__main__":
    main()
