"""What files do to their runs: copies, cuts, odd line ends, and bytes that are no log at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from tests.formats.test_reading import ROW, row, said
from trajcredit.errors import ParseError
from trajcredit.formats import read, read_bytes, split
from trajcredit.model import Trajectory


def test_equal_runs_without_an_id_are_two_rollouts_as_rows_and_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (("rows.jsonl", ROW + b"\n" + ROW), ("a/1.json", ROW), ("a/2.json", ROW)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    for path, names in (("rows.jsonl", ["rows.jsonl#1", "rows.jsonl#2"]), ("a", ["1.json", "2.json"])):
        found = [item for item in read(path) if isinstance(item, Trajectory)]
        assert [t.id for t in found] == names
        [note] = [note for t in found for note in t.report]
        assert (note.code, found[1].report) == ("twin", [note])
        assert note.message == f"holds the same bytes as {names[0]!r}, and has no id: a rollout of its own"


def test_equal_runs_that_give_their_id_are_one_as_rows_and_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (("rows.jsonl", row("x", "a") + b"\n" + row("x", "a")), ("1.json", ROW), ("2.json", ROW)):
        (tmp_path / name).write_bytes(data if name == "rows.jsonl" else row("x", "a"))
    assert said(read("rows.jsonl")) == [
        "x",
        "! rows.jsonl: record 2: trajectory 'x' repeats record 1 of rows.jsonl: read once",
    ]
    assert said(read(["1.json", "2.json"])) == ["x", "! 2.json: holds the same bytes as 1.json: read once"]


def test_the_rows_before_a_cut_are_read_and_the_cut_is_an_error(tmp_path: Path) -> None:
    rows = b"".join(row(f"r{n}", os.urandom(300).hex()) + b"\n" for n in range(20))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(rows)[:-2000])
    *read_ones, torn, cut = read(tmp_path / "a.jsonl.gz")
    assert [item.id for item in read_ones if isinstance(item, Trajectory)] == [f"r{n}" for n in range(len(read_ones))]
    assert 5 < len(read_ones) < 20
    assert [type(torn), type(cut)] == [ParseError, ParseError]
    assert str(torn) == f"{tmp_path}/a.jsonl.gz: line {len(read_ones) + 1}: not JSON: Input data was truncated"
    assert "the compressed file is damaged or cut off: it ends inside a gzip member; read up to byte" in str(cut)


def test_an_error_names_its_place_once() -> None:
    assert str(ParseError("line 2: not JSON", "a.jsonl", 2)) == "a.jsonl: line 2: not JSON"
    assert str(ParseError("record 2: not JSON", "a.json", 2)) == "a.json: record 2: not JSON"
    assert str(ParseError("line 20: not JSON", "a.json", 2)) == "a.json:2: line 20: not JSON"
    assert str(ParseError("not JSON", "a.json")) == "a.json: not JSON"
    assert str(ParseError("not JSON")) == "not JSON"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ROW + b"\r" + ROW + b"\r", 2, id="lines that end in a carriage return"),
        pytest.param(ROW + b"\r\n" + ROW + b"\r\n", 2, id="and in both"),
        pytest.param(b"  " + ROW + b"\n\t" + ROW, 2, id="lines that are indented"),
        pytest.param(b"\xef\xbb\xbf" + ROW + b"\n" + ROW, 2, id="a byte order mark"),
        pytest.param(ROW + b"\n" + ROW + b"}}} garbage", 1, id="garbage behind the last one"),
        pytest.param(ROW + b"\n" + ROW + b"\0\0\0", 1, id="zeros behind the last one"),
        pytest.param(b"// made by hand\n" + ROW + b"\n" + ROW, 2, id="a comment"),
    ],
)
def test_lines_however_they_are_written(data: bytes, expected: int) -> None:
    found = list(read_bytes(data, "a.jsonl"))
    assert sum(isinstance(item, Trajectory) for item in found) == expected
    assert all(item.line for item in found if isinstance(item, ParseError))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(ROW.decode().encode("utf-16-le"), "it is text as UTF-16 or UTF-32: expected UTF-8", id="UTF-16"),
        pytest.param(ROW.decode().encode("utf-32"), "text as UTF-16 or UTF-32: expected UTF-8", id="UTF-32"),
        pytest.param(b'{"' + b"k" * 10_000 + b'": 1}', "its objects have the keys " + "k" * 60, id="a long key"),
        pytest.param(b"{\n" * 40_000, "it has 40,000 lines of 2 bytes or so: no log is cut that small", id="brackets"),
        pytest.param(b"{}\n" * 40_000, "it has 40,000 lines of 3 bytes or so", id="empty objects"),
        pytest.param(b"[" * 200_000, "record 1: nested deeper than 100 levels at byte 50000", id="open brackets"),
    ],
)
def test_what_is_no_log_says_so_at_once(data: bytes, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "MANY", 10_000)
    monkeypatch.setattr(split, "MOST_OPEN", 50_000)
    [error] = read_bytes(data, "a.log")
    assert isinstance(error, ParseError)
    assert error.reason.startswith(f"no known format: {reason}")
    assert len(error.reason) < 200
