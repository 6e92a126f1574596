"""T21 over HTTP: the same upload from many clients at once, after a cut connection, with and without a key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.speaking import chat, lines
from tests.hostile.serving import Server, served

AT_ONCE = 16
PATH = "/api/v1/trajectories"
LOG = lines(*(chat(f"t{n}", n % 2) for n in range(5)))


@pytest.fixture
def server(url: str) -> Iterator[Server]:
    with served(url) as found:
        yield found


def total(server: Server) -> int:
    return int(json.loads(server.ask("GET", PATH)[1])["total"])


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "one"}], ids=["without a key", "with a key"])
def test_sixteen_equal_uploads_at_once_are_stored_once(server: Server, key: dict[str, str]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: server.ask("POST", PATH, LOG, key), range(AT_ONCE)))
    assert {status for status, _, _ in answers} == {200}
    items = [json.loads(body)["items"] for _, body, _ in answers]
    for same in zip(*items, strict=True):
        assert len({item["id"] for item in same}) == 1
        if not key:
            assert Counter(item["status"] for item in same) == {"created": 1, "duplicate": AT_ONCE - 1}
    assert total(server) == 5


def test_an_upload_whose_connection_was_cut_is_sent_again(server: Server) -> None:
    with server.socket() as line:
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(LOG)}\r\n\r\n"
        line.sendall(head.encode() + LOG[: len(LOG) // 2])
    assert total(server) == 0
    status, body, _ = server.ask("POST", PATH, LOG)
    assert (status, json.loads(body)["created"]) == (200, 5)


def test_an_upload_whose_answer_was_lost_is_sent_again(server: Server) -> None:
    with server.socket() as line:
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(LOG)}\r\n\r\n"
        line.sendall(head.encode() + LOG)
    status, body, _ = server.ask("POST", PATH, LOG)
    answer = json.loads(body)
    assert (status, answer["created"] + answer["duplicate"]) == (200, 5)
    assert total(server) == 5
