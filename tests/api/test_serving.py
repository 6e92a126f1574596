"""The server as a process: it tells where it is, works on runs, bounds slow and greedy clients, and stops cleanly."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.speaking import Api, chat, lines
from tests.hostile.serving import Server, served
from trajcredit.api.serving import serve
from trajcredit.errors import InputError, StoreError
from trajcredit.store import open_store
from trajcredit.store.checking import check

LOG = lines(chat("a", 1.0), chat("b", 0.0))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with served(tmp_path / "store.db") as found:
        yield found


def test_a_run_is_worked_on(server: Server) -> None:
    server.ask("POST", "/api/v1/trajectories", LOG)
    status, body, _ = server.ask("POST", "/api/v1/runs", b'{"attributor": "dag"}')
    assert status == 202
    run = json.loads(body)
    until = time.monotonic() + 60
    while run["state"] in ("queued", "running") and time.monotonic() < until:
        time.sleep(0.05)
        run = json.loads(server.ask("GET", f"/api/v1/runs/{run['id']}")[1])
    assert (run["state"], run["done"], run["error"]) == ("done", 2, None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_even_while_a_client_does_not(tmp_path: Path, number: signal.Signals) -> None:
    database = tmp_path / "store.db"
    with served(database) as server, server.socket() as slow:
        slow.sendall(b"POST /api/v1/trajectories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        server.ask("POST", "/api/v1/trajectories", LOG)
        assert server.stop(number) == 0
    with open_store(str(database)) as store, store.read() as conn:
        assert check(conn).problems == ()


def test_other_requests_are_answered_while_bodies_trickle_in(server: Server) -> None:
    head = b"POST /api/v1/trajectories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    slow = [server.socket() for _ in range(50)]
    for line in slow:
        line.sendall(head + b"{")
    assert server.ask("POST", "/api/v1/trajectories", LOG)[0] == 200
    assert server.ask("GET", "/healthz")[0] == 200
    for line in slow:
        line.close()
    assert json.loads(server.ask("GET", "/api/v1/trajectories")[1])["total"] == 2


def test_a_client_that_leaves_during_an_export_leaves_no_transaction(server: Server, tmp_path: Path) -> None:
    server.ask("POST", "/api/v1/trajectories", lines(*(chat(f"t{n}", n % 2) for n in range(500))))
    server.ask("POST", "/api/v1/runs", b'{"attributor": "dag"}')
    until = time.monotonic() + 60
    while json.loads(server.ask("GET", "/api/v1/runs")[1])["items"][0]["state"] != "done":
        assert time.monotonic() < until
        time.sleep(0.05)
    with server.socket() as line:
        line.sendall(b"GET /api/v1/runs/dag/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")
    status, body, _ = server.ask("GET", "/api/v1/runs/dag/export")
    assert (status, body.count(b"\n")) == (200, 2000)
    assert server.ask("POST", "/api/v1/trajectories", LOG)[0] == 200


def test_what_breaks_is_in_the_log_with_its_place_but_not_what_was_sent(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In the text of one record, of one line: the command line prints no more of a record than that."""

    def failing(*given: object) -> None:
        try:
            raise KeyError("sent in private")
        except KeyError as error:
            raise ValueError(f"sent in private: {given}") from error

    monkeypatch.setattr("trajcredit.api.routes.uploads.ingest", failing)
    answer = api.ask("POST", "/trajectories", 500, content=LOG)
    assert answer["detail"] == f"internal error; the server's log has more under {answer['instance']}"
    [told] = [record.getMessage() for record in caplog.records if answer["instance"] in record.getMessage()]
    assert "ValueError; Traceback" in told
    assert "caused by KeyError; Traceback" in told
    assert f"{Path(__file__)}:" in told
    assert "in failing" in told
    assert "private" not in caplog.text
    assert "\n" not in told


def test_hosts_that_others_reach_are_refused(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(InputError, match="other machines"):
            serve(str(tmp_path / "store.db"), host, 0, print)
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken_is_told(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"127.0.0.1:{server.port}"):
        serve(str(tmp_path / "other.db"), "127.0.0.1", server.port, print)


def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        serve(str(tmp_path / "nowhere" / "store.db"), "127.0.0.1", 0, print)
