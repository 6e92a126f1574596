"""Paths -> bytes: what a path may name, and what compression may do to it."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from trajcredit.errors import ParseError
from trajcredit.formats.sources import Source, expand, load, unpack

LOG = b'{"messages": []}\n' * 50


def names(*paths: str | Path) -> list[str]:
    return [found.name if isinstance(found, Source) else f"{found.file}: {found.reason}" for found in expand(paths)]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs, two of them deeper down, and what must not be read as one."""
    for name in ("logs/b.json", "logs/deep/a.json", "logs/deep/c.json.gz", "logs/.hidden.json", "logs/.git/d.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["logs/b.json"], ["logs/b.json"], id="a file is itself"),
        pytest.param(
            ["logs"],
            ["logs/b.json", "logs/deep/a.json", "logs/deep/c.json.gz"],
            id="a folder is all its files, sorted, hidden ones left out",
        ),
        pytest.param(["logs/*.json"], ["logs/b.json"], id="a pattern is what it matches"),
        pytest.param(["logs/**/*.json"], ["logs/b.json", "logs/deep/a.json"], id="two stars go down"),
        pytest.param(["logs/d*"], ["logs/deep/a.json", "logs/deep/c.json.gz"], id="a matched folder is walked"),
        pytest.param(["-"], ["stdin"], id="a dash is standard input"),
        pytest.param(
            ["nowhere.json", "logs/b.json"],
            ["nowhere.json: no such file or folder", "logs/b.json"],
            id="a missing file is said, the next one is read",
        ),
        pytest.param(["*.xml"], ["*.xml: no file matches this pattern"], id="a pattern that matches nothing is said"),
        pytest.param(["./logs//deep/../b.json"], ["logs/b.json"], id="the name is the tidy path"),
    ],
)
def test_what_paths_name(logs: Path, paths: list[str], expected: list[str]) -> None:
    assert names(*paths) == expected


def test_a_name_does_not_tell_where_the_machine_keeps_its_files(logs: Path) -> None:
    os.chdir(logs / "logs" / "deep")
    assert names("../b.json", "../../logs/b.json") == ["b.json", "logs/b.json"]
    assert names(logs / "logs" / "b.json") == [str(logs / "logs" / "b.json").lstrip("/")]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "run[1].json").write_bytes(LOG)
    assert names(tmp_path / "run[1].json") == [str(tmp_path / "run[1].json").lstrip("/")]


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(LOG, id="plain"),
        pytest.param(gzip.compress(LOG), id="gzip"),
        pytest.param(gzip.compress(LOG[:100]) + gzip.compress(LOG[100:]), id="gzip in two members"),
        pytest.param(zstandard.compress(LOG), id="zstd"),
        pytest.param(zstandard.compress(LOG[:100]) + zstandard.compress(LOG[100:]), id="zstd in two frames"),
    ],
)
def test_compression_is_told_by_the_first_bytes(packed: bytes) -> None:
    assert unpack(packed, "a.log") == LOG


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(gzip.compress(LOG)[:-9], id="gzip cut off"),
        pytest.param(gzip.compress(LOG)[:-6] + b"\0" * 6, id="gzip with a wrong checksum"),
        pytest.param(zstandard.compress(os.urandom(5000))[:-9], id="zstd cut off"),
        pytest.param(zstandard.compress(LOG)[:6] + b"\xff" * 20, id="zstd with garbage inside"),
        pytest.param(b"\x1f\x8b", id="two bytes of gzip"),
        pytest.param(b"\x28\xb5\x2f\xfd", id="four bytes of zstd"),
    ],
)
def test_a_damaged_archive_is_an_error_that_names_the_file(packed: bytes) -> None:
    with pytest.raises(ParseError, match=r"^a\.gz: the compressed file is damaged or cut off") as caught:
        unpack(packed, "a.gz")
    assert caught.value.file == "a.gz"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ParseError, match="decodes to more than"):
        unpack(pack(b"\0" * (4 << 20)), "bomb", limit=1 << 20)


def test_standard_input_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(LOG))))
    assert load(Source("stdin", None)) == LOG


def test_a_file_that_vanished_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"/gone\.json: cannot be read: No such file or directory"):
        load(Source("gone.json", tmp_path / "gone.json"))
