"""How far a run is, told over a real socket; and what a stream does when it may not go on."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.speaking import Api, chat, lines
from tests.hostile.serving import Server, served
from trajcredit.api.routes import run_events
from trajcredit.api.streams import Streams
from trajcredit.errors import StoreError
from trajcredit.service import running
from trajcredit.store import Store, open_store, runs

LOG = lines(chat("a", 1.0), chat("b", 0.0))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with served(tmp_path / "store.db") as found:
        found.ask("POST", "/api/v1/trajectories", LOG)
        yield found


def parsed(stream: bytes) -> list[tuple[str, Any]]:
    """The events of a stream, in order: name and data."""
    blocks = [block.split("\n") for block in stream.decode().split("\n\n")]
    fields = [dict(line.split(": ", 1) for line in block if not line.startswith(":") and line) for block in blocks]
    return [(one["event"], json.loads(one["data"])) for one in fields if "event" in one]


@contextmanager
def listening(server: Server, run: str) -> Iterator[socket.socket]:
    """A connection that has asked for the events of a run."""
    with server.socket() as line:
        line.sendall(f"GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield line


def until(line: socket.socket, wanted: bytes) -> bytes:
    got = b""
    while wanted not in got:
        more = line.recv(4096)
        assert more, f"{got!r} ended without {wanted!r}"
        got += more
    return got


def test_a_run_is_told_from_its_queue_to_its_end(server: Server) -> None:
    run = json.loads(server.ask("POST", "/api/v1/runs", b'{"attributor": "dag"}')[1])
    status, body, headers = server.ask("GET", f"/api/v1/runs/{run['id']}/events")
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert headers["cache-control"] == "no-store"
    assert body.startswith(b"retry: ")
    told = parsed(body)
    assert told[0][0] == "state"
    assert {name for name, _ in told} <= {"state", "progress"}
    assert all(one["id"] == run["id"] for _, one in told)
    assert told[-1] == ("state", json.loads(server.ask("GET", f"/api/v1/runs/{run['id']}")[1]))
    assert (told[-1][1]["state"], told[-1][1]["done"]) == ("done", 2)


def test_of_a_run_that_ended_the_end_is_told_at_once(server: Server) -> None:
    run = json.loads(server.ask("POST", "/api/v1/runs", b'{"attributor": "grpo"}')[1])["id"]
    server.ask("GET", f"/api/v1/runs/{run}/events")
    [(name, told)] = parsed(server.ask("GET", "/api/v1/runs/grpo/events")[1])
    assert (name, told["state"], told["id"]) == ("state", "done", run)
    status, body, headers = server.ask("GET", "/api/v1/runs/nobody/events")
    assert (status, headers["content-type"]) == (404, "application/problem+json")
    assert "no run 'nobody'" in json.loads(body)["detail"]


def waiting(database: Path) -> str:
    """A run that nobody works on: it is said to run, and this test is the one that runs it."""
    with open_store(str(database)) as store:
        run = running.ask(store, "default", "dag", {}, running.Wanted())
        with store.write() as conn:
            assert runs.start(conn, run.id) is not None
        return run.id


def test_a_server_that_is_told_to_stop_ends_its_streams(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    with served(database) as server:
        server.ask("POST", "/api/v1/trajectories", LOG)
        run = waiting(database)
        with listening(server, run) as line:
            until(line, b"event: state")
            stopped = threading.Thread(target=server.stop)
            stopped.start()
            assert until(line, b"0\r\n\r\n").endswith(b"0\r\n\r\n"), "the answer is whole, not cut off"
            stopped.join()
        assert server.process.returncode == 0


def test_listeners_that_go_away_leave_nothing_behind(tmp_path: Path) -> None:
    """More of them than there may be at once, one after the other."""
    database = tmp_path / "store.db"
    with served(database) as server:
        server.ask("POST", "/api/v1/trajectories", LOG)
        run = waiting(database)
        held = []
        for _ in range(100):
            line = server.socket()
            line.sendall(f"GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            held.append(line)
        for line in held:
            until(line, b"event: state")
        status, body, headers = server.ask("GET", f"/api/v1/runs/{run}/events")
        assert (status, "100 streams" in json.loads(body)["detail"]) == (503, True)
        assert headers["retry-after"]
        for line in held:
            line.close()
        give_up = time.monotonic() + 30
        while True:
            with listening(server, run) as line:
                if line.recv(4096).startswith(b"HTTP/1.1 200"):
                    break
            assert time.monotonic() < give_up
            time.sleep(0.1)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "POLL", 0.001)


def told(store: Store, run: str, streams: Streams | None = None) -> bytes:
    """All that a stream says of a run, by whoever asks now."""

    async def listen() -> bytes:
        view = running.find(store, "default", run)
        return b"".join([part async for part in run_events.events(store, "default", view, streams or Streams())])

    return asyncio.run(listen())


@pytest.mark.usefixtures("fast")
def test_progress_is_told_as_it_is_made(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.upload(LOG)
    run = api.ask("POST", "/runs", 202, json={"attributor": "dag"})["id"]

    def moved(store: Store, project: str, ref: str) -> running.RunView:
        with store.write() as conn:
            now = next(steps)
            now(conn)
        return found(store, project, ref)

    found = running.find
    steps = iter(
        [
            lambda conn: runs.start(conn, run),
            lambda conn: runs.read_inputs(conn, run, 2, 0, "verifier"),
            lambda conn: None,
            lambda conn: runs.progress(conn, run, 1),
            lambda conn: runs.progress(conn, run, 2),
            lambda conn: runs.finish(conn, run),
        ]
    )
    view = found(api.store, "default", run)
    monkeypatch.setattr(running, "find", moved)

    async def listen() -> bytes:
        parts = run_events.events(api.store, "default", view, Streams())
        return b"".join([part async for part in parts])

    events = [(name, one["state"], one["done"], one["total"]) for name, one in parsed(asyncio.run(listen()))]
    assert events == [
        ("state", "queued", 0, 0),
        ("state", "running", 0, 0),
        ("progress", "running", 0, 2),
        ("progress", "running", 1, 2),
        ("progress", "running", 2, 2),
        ("state", "done", 2, 2),
    ]


@pytest.mark.usefixtures("fast")
def test_a_stream_is_kept_alive_and_ends_after_a_while(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "HEARTBEAT", 0.02)
    monkeypatch.setattr(run_events, "LONGEST", 0.1)
    api.upload(LOG)
    said = told(api.store, api.ask("POST", "/runs", 202, json={"attributor": "dag"})["id"])
    assert [name for name, _ in parsed(said)] == ["state"]
    assert run_events.ALIVE in said


@pytest.mark.usefixtures("fast")
def test_a_database_that_goes_away_is_told(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.upload(LOG)
    run = api.ask("POST", "/runs", 202, json={"attributor": "dag"})["id"]
    view = running.find(api.store, "default", run)

    def gone(*given: object) -> None:
        raise StoreError("the password is hunter2")

    monkeypatch.setattr(running, "find", gone)

    async def listen() -> bytes:
        return b"".join([part async for part in run_events.events(api.store, "default", view, Streams())])

    names = parsed(asyncio.run(listen()))
    assert [name for name, _ in names] == ["state", "problem"]
    assert "hunter2" not in json.dumps(names)
