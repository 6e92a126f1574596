"""T04: a small body that stands for a large one is cut off early, whatever it says of itself."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator
from functools import cache

import pytest
import zstandard

from tests.api.speaking import Api, chat, lines
from tests.hostile.serving import Server, served
from trajcredit.api.intake import Limits
from trajcredit.store import open_store

ROUTES = ("/api/v1/trajectories", "/api/v1/rewards")
MOST_GROWTH = 200 << 20


@cache
def bomb(kind: str) -> tuple[bytes, dict[str, str]]:
    """A body of some hundred kB, and its headers."""
    zeros = bytes(1 << 20)
    packed = gzip.compress(zeros * 256, 9)
    match kind:
        case "gzip":
            return packed, {"Content-Encoding": "gzip"}
        case "gzip file":
            return packed, {}
        case "gzip in gzip":
            return gzip.compress(packed), {"Content-Encoding": "gzip"}
        case "gzip encoded twice":
            return gzip.compress(packed), {"Content-Encoding": "gzip, gzip"}
        case "forged trailer":  # it claims to hold 10 bytes
            return packed[:-4] + struct.pack("<I", 10), {}
        case "zstd":
            return zstandard.compress(zeros * 1024, 19), {"Content-Encoding": "zstd"}
        case "zstd file":
            return zstandard.compress(zeros * 1024, 19), {}
        case "zstd of runs":  # blocks of 4 bytes that stand for 128 kB each, in a frame that does not say its size
            block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + b" "
            return b"\x28\xb5\x2f\xfd\x00\x58" + block * 50_000, {}
        case "zstd with a huge window":
            return b"\x28\xb5\x2f\xfd\x00\xa8" + struct.pack("<I", 1 << 3 | 1)[:3] + b" ", {}
        case "multipart":
            head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.gz"\r\n\r\n'
            return head + packed + b"\r\n--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}
        case "many parts":  # each is within the limit, all together are not
            head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.gz"\r\n\r\n'
            parts = [head + gzip.compress(b"[" * (40 << 20)) + b"\r\n" for _ in range(3)]
            return b"".join(parts) + b"--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}
        case "empty members":
            return gzip.compress(b"") * 200_000, {}
    raise AssertionError(kind)


KINDS = (
    "gzip",
    "gzip file",
    "gzip in gzip",
    "gzip encoded twice",
    "forged trailer",
    "zstd",
    "zstd file",
    "zstd of runs",
    "zstd with a huge window",
    "multipart",
    "many parts",
    "empty members",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("t04") / "store.db") as found:
        found.ask("POST", ROUTES[0], lines(chat("warm")))
        yield found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "without its length"])
def test_a_bomb_is_cut_off(server: Server, kind: str, chunked: bool) -> None:
    body, headers = bomb(kind)
    before = server.forget_peak()
    sent = iter([body[n : n + 65536] for n in range(0, len(body), 65536)]) if chunked else body
    status, answer, _ = server.ask("POST", ROUTES[0], sent, headers)
    assert (status, b"detail" in answer) == (413, True), answer
    assert server.resident() - before <= MOST_GROWTH
    assert server.ask("GET", "/healthz")[0] == 200


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "part" not in kind])
def test_rewards_are_no_way_around_it(server: Server, kind: str) -> None:
    body, headers = bomb(kind)
    assert server.ask("POST", ROUTES[1], body, headers)[0] == 413


@pytest.mark.parametrize("path", [*ROUTES, "/api/v1/runs"])
def test_a_body_that_is_too_long_is_not_waited_for(server: Server, path: str) -> None:
    status, answer, _ = server.ask("POST", path, b"", {"Content-Length": str(1 << 40)})
    assert status == 413, answer


@pytest.mark.parametrize("path", [*ROUTES, "/api/v1/runs"])
def test_a_body_without_an_end_is_cut_off(server: Server, path: str) -> None:
    before = server.forget_peak()
    status, answer, headers = server.ask("POST", path, (b" " * (1 << 20) for _ in range(100)))
    assert (status, headers["connection"]) == (413, "close"), answer
    assert server.resident() - before <= MOST_GROWTH


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_what_is_just_within_the_limit_is_taken(sqlite_url: str, coding: str) -> None:
    log = lines(chat("a"))
    whole = log + b"\n" * ((1 << 20) - len(log))
    sent = gzip.compress if coding == "gzip" else zstandard.compress
    with open_store(sqlite_url) as store:
        api = Api(store, limits=Limits(body=1 << 20))
        assert api.upload(sent(whole))["created"] == 1
        assert api.upload(sent(whole + b"\n"), 413)["status"] == 413
        assert api.upload(whole)["duplicate"] == 1
        assert api.upload(whole + b"\n", 413)["status"] == 413
