"""Limits on all bodies together: what is held is counted, what is too much is sent away, what is silent is dropped."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from tests.api.speaking import Api, chat, lines
from trajcredit.api.intake import Intake, Limits
from trajcredit.api.problems import RefusedError
from trajcredit.store import open_store

LIMITS = Limits(body=100, in_flight=150, silence=0.05)


def request(*messages: Message, length: int | None = None) -> Request:
    """A request whose messages come at once; after the last one nothing comes any more."""
    waiting = list(messages)

    async def receive() -> Message:
        if waiting:
            return waiting.pop(0)
        await asyncio.sleep(60)
        raise AssertionError("nobody waits that long")

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)


def piece(size: int, more: bool = True) -> Message:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def received(intake: Intake, asked: Request) -> bytes:
    async def work() -> bytes:
        async with intake.lease() as lease:
            return await intake.received(asked, lease, intake.limits.body)

    return asyncio.run(work())


def refused(intake: Intake, asked: Request) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        received(intake, asked)
    return caught.value


@pytest.mark.parametrize("length", [None, 100])
def test_a_body_comes_whole_and_is_given_back(length: int | None) -> None:
    intake = Intake(LIMITS)
    for _ in range(3):
        asked = request(piece(60), piece(0), piece(40, more=False), length=length)
        assert received(intake, asked) == b"x" * 100


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param(request(piece(60), piece(41, more=False)), 413, id="too long"),
        pytest.param(request(length=101), 413, id="says that it will be too long"),
        pytest.param(request(piece(60)), 408, id="goes silent"),
        pytest.param(request(piece(60), piece(40), piece(1, more=False), length=100), 413, id="longer than it says"),
    ],
)
def test_a_body_is_refused_and_given_back(asked: Request, status: int) -> None:
    intake = Intake(LIMITS)
    assert refused(intake, asked).status == status
    intake.hold(LIMITS.in_flight)  # all of it is free


def test_a_client_that_leaves_gives_back_what_it_held() -> None:
    intake = Intake(LIMITS)
    with pytest.raises(ClientDisconnect):
        received(intake, request(piece(60), {"type": "http.disconnect"}))
    intake.hold(LIMITS.in_flight)


@pytest.mark.parametrize("length", [None, 100])
def test_beyond_what_all_may_hold_a_client_is_told_to_come_again(length: int | None) -> None:
    intake = Intake(LIMITS)
    intake.hold(60)
    error = refused(intake, request(piece(100, more=False), length=length))
    assert (error.status, error.headers["Retry-After"]) == (503, "5")
    intake.hold(-60)
    assert len(received(intake, request(piece(100, more=False), length=length))) == 100


def test_what_a_body_decodes_to_counts_too(sqlite_url: str) -> None:
    log = lines(chat("a")) + b"\n" * 50_000
    with open_store(sqlite_url) as store:
        api = Api(store, limits=Limits(body=100_000, in_flight=40_000))
        answer: Any = api.upload(gzip.compress(log), 503)
        assert "moment" in answer["detail"]
        assert api.upload(lines(chat("a")))["created"] == 1
