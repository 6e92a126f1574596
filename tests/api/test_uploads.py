"""POST /trajectories: every form a log comes in, and what its sender is told."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.api.speaking import LOGS, Api, chat, lines
from trajcredit.errors import StoreError
from trajcredit.store import StoreFullError

LOG = lines(chat("a", 1.0), chat("b", 0.0))
BROKEN = b'{"trajectory_id": "c", "messages": [}\n'


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def statuses(answer: dict[str, Any]) -> list[str]:
    return [item["status"] for item in answer["items"]]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(LOG, {}, id="as it is"),
        pytest.param(LOG, {"Content-Type": "application/x-ndjson", "Content-Encoding": "identity"}, id="identity"),
        pytest.param(gzip.compress(LOG), {}, id="a gzip file"),
        pytest.param(zstd(LOG), {}, id="a zstd file"),
        pytest.param(gzip.compress(LOG[:100]) + gzip.compress(LOG[100:]) + b"\0" * 512, {}, id="gzip members, padded"),
        pytest.param(zstd(LOG[:100]) + zstd(LOG[100:]), {}, id="two zstd frames"),
        pytest.param(gzip.compress(LOG), {"Content-Encoding": "gzip"}, id="encoded as gzip"),
        pytest.param(zstd(LOG), {"Content-Encoding": "ZSTD"}, id="encoded as zstd"),
        pytest.param(
            zstd(gzip.compress(LOG)), {"Content-Encoding": "x-gzip, zstd"}, id="encoded twice, last one outside"
        ),
        pytest.param(gzip.compress(zstd(LOG)), {"Content-Encoding": "gzip"}, id="a zstd file, encoded as gzip"),
    ],
)
def test_a_log_comes_in_any_encoding(api: Api, body: bytes, headers: dict[str, str]) -> None:
    answer = api.ask("POST", "/trajectories", content=body, headers=headers, params={"name": "runs.jsonl"})
    assert [(item["status"], item["external_id"], item["file"], item["line"]) for item in answer["items"]] == [
        ("created", "a", "runs.jsonl", 1),
        ("created", "b", "runs.jsonl", 2),
    ]
    assert answer["created"] == 2
    assert api.get("/trajectories")["total"] == 2


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.json*")), ids=lambda path: path.name)
def test_every_log_there_is_a_reader_for_can_be_sent(api: Api, path: Path) -> None:
    answer = api.upload(path.read_bytes(), name=path.name)
    assert answer["created"] > 0
    assert {item["file"] for item in answer["items"]} == {path.name}


def test_files_come_as_multipart_by_any_field_name(api: Api) -> None:
    files = [
        ("whatever", ("../../etc/a.jsonl", lines(chat("a")), "text/plain")),
        ("other", ("b.jsonl.gz", gzip.compress(lines(chat("b"))), "application/gzip")),
        ("empty", ("", b"", "application/octet-stream")),
    ]
    answer = api.ask("POST", "/trajectories", files=files)
    assert [(item["external_id"], item["file"]) for item in answer["items"]] == [("a", "a.jsonl"), ("b", "b.jsonl.gz")]


@pytest.mark.parametrize(
    ("content_type", "body", "status", "says"),
    [
        pytest.param("multipart/form-data", b"--x\r\n", 422, "boundary", id="no boundary"),
        pytest.param("multipart/form-data; boundary=x", b"nonsense", 422, "broken", id="no multipart"),
        pytest.param(
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n{}',
            422,
            "cut off",
            id="cut off",
        ),
        pytest.param("multipart/form-data; boundary=x", b"--x--\r\n", 422, "no file", id="no file"),
        pytest.param(
            "multipart/form-data; boundary=x",
            b"--x\r\n" + b"A: b\r\n" * 100 + b"\r\n1\r\n--x--\r\n",
            422,
            "broken",
            id="too many headers",
        ),
        pytest.param(
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; filename="a"\r\n\r\n1\r\n' * 1001 + b"--x--\r\n",
            413,
            "parts",
            id="too many parts",
        ),
    ],
)
def test_multipart_that_is_none(api: Api, content_type: str, body: bytes, status: int, says: str) -> None:
    answer = api.ask("POST", "/trajectories", status, content=body, headers={"Content-Type": content_type})
    assert says in answer["detail"]


def test_parts_are_named_by_their_files_alone(api: Api) -> None:
    files = {"a": ("a.jsonl", LOG)}
    assert api.ask("POST", "/trajectories", 422, files=files, params={"name": "b"})["field"] == "name"


@pytest.mark.parametrize(
    ("body", "headers", "field"),
    [
        pytest.param(LOG, {"Content-Encoding": "br"}, "Content-Encoding", id="brotli"),
        pytest.param(
            LOG, {"Content-Encoding": "gzip, gzip, gzip, gzip, gzip"}, "Content-Encoding", id="five times over"
        ),
        pytest.param(b"PK\x03\x04" + bytes(100), {}, None, id="zip"),
        pytest.param(gzip.compress(bytes(257) + b"ustar" + bytes(250)), {}, None, id="tar.gz"),
        pytest.param(b"\x80\x04\x95" + bytes(10), {}, None, id="pickle"),
        pytest.param(b"\xfd7zXZ\0" + bytes(10), {}, None, id="xz"),
    ],
)
def test_what_is_no_log_is_refused(api: Api, body: bytes, headers: dict[str, str], field: str | None) -> None:
    answer = api.ask("POST", "/trajectories", 415, content=body, headers=headers)
    assert answer["field"] == field


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(gzip.compress(LOG)[:-6], {}, id="a gzip file that is cut off"),
        pytest.param(zstd(LOG)[:-6], {}, id="a zstd file that is cut off"),
        pytest.param(gzip.compress(LOG) + b"rest", {}, id="more behind the gzip data"),
        pytest.param(LOG, {"Content-Encoding": "gzip"}, id="it says gzip and is none"),
        pytest.param(LOG, {"Content-Encoding": "zstd"}, id="it says zstd and is none"),
    ],
)
def test_what_is_damaged_is_refused(api: Api, body: bytes, headers: dict[str, str]) -> None:
    api.ask("POST", "/trajectories", 422, content=body, headers=headers)
    assert api.get("/trajectories")["total"] == 0


def test_the_same_again_is_a_duplicate(api: Api) -> None:
    first, second = api.upload(LOG), api.upload(LOG)
    assert statuses(second) == ["duplicate", "duplicate"]
    assert [item["id"] for item in second["items"]] == [item["id"] for item in first["items"]]


def test_a_record_that_is_broken_costs_no_other(api: Api) -> None:
    answer = api.upload(LOG + BROKEN + lines(chat("d")))
    assert statuses(answer) == ["created", "created", "rejected", "created"]
    assert answer["items"][2]["line"] == 3
    assert "byte" in answer["items"][2]["reason"]


def test_where_nothing_can_be_read_the_problem_says_what_and_where(api: Api) -> None:
    answer = api.upload(BROKEN, 422, name="log.json")
    assert (answer["file"], answer["rejected"], statuses(answer)) == ("log.json", 1, ["rejected"])
    assert answer["byte"] == BROKEN.index(b"}")
    assert answer["detail"] == answer["items"][0]["reason"]


@pytest.mark.parametrize("body", [b"", b"\n \n", b"hello", b"[]", b"{}", b"\xff\xfe\0"])
def test_what_holds_nothing_is_refused(api: Api, body: bytes) -> None:
    assert api.upload(body, 422)["created"] == 0


def test_other_content_under_a_known_id_is_a_conflict_unless_it_is_to_replace(api: Api) -> None:
    [old] = api.upload(lines(chat("a")))["items"]
    other = lines(chat("a", said="Another."))
    answer = api.upload(other, 409)
    assert (answer["conflict"], statuses(answer), answer["items"][0]["id"]) == (1, ["conflict"], old["id"])
    assert statuses(api.upload(other + lines(chat("b")))) == ["conflict", "created"]
    [new] = api.upload(other, replace=True)["items"]
    assert (new["status"], new["id"] != old["id"]) == ("replaced", True)


def test_a_key_gives_the_same_answer_again(api: Api) -> None:
    key = {"Idempotency-Key": "k1"}
    first = api.ask("POST", "/trajectories", content=LOG, headers=key)
    assert first["created"] == 2
    assert api.ask("POST", "/trajectories", content=LOG, headers=key) == first
    answer = api.ask("POST", "/trajectories", 422, content=lines(chat("c")), headers=key)
    assert "k1" in answer["detail"]
    assert api.ask("POST", "/trajectories", 422, content=LOG, headers={"Idempotency-Key": "k" * 201})["field"]


def test_a_format_may_be_named(api: Api) -> None:
    assert api.upload(LOG, format="openai_chat")["created"] == 2
    answer = api.upload(LOG, 422, format="yaml")
    assert answer["field"] == "format"
    assert "openai_chat" in answer["detail"]


def test_projects_do_not_see_each_other(api: Api) -> None:
    api.upload(LOG, project="one")
    assert statuses(api.upload(LOG, project="two")) == ["created", "created"]
    assert api.get("/trajectories", project="three")["total"] == 0
    [row] = api.upload(lines(chat("z")), project="one")["items"]
    assert api.get(f"/trajectories/{row['id']}", 404, project="two")["status"] == 404


@pytest.mark.parametrize(
    ("error", "status"),
    [
        pytest.param(StoreFullError("/secret/place: no space left"), 507, id="the disk is full"),
        pytest.param(StoreError("postgresql://user@secret: locked"), 503, id="the database is busy"),
        pytest.param(ValueError("secret text of the log"), 500, id="a bug"),
    ],
)
def test_what_the_server_could_not_do_is_told_without_secrets(
    api: Api, error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*given: object) -> None:
        raise error

    monkeypatch.setattr("trajcredit.api.routes.uploads.ingest", failing)
    response = api.send("POST", "/trajectories", content=LOG)
    assert response.status_code == status
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert ("Retry-After" in response.headers) == (status == 503)
    assert response.json()["instance"] in caplog.text
