"""Values that hurt, at every few places of every log: a clear error or a sound trajectory, never a crash."""

from __future__ import annotations

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.formats.hostile import HOSTILE, damaged, deep, places
from tests.formats.neighbours import JSON_LOGS, format_of, lines, values
from trajcredit.errors import ParseError
from trajcredit.formats import read, read_bytes
from trajcredit.formats.repair import MAX_DEPTH, TOO_DEEP, too_deep
from trajcredit.model import Trajectory, check, decode, encode

EVERY = 29
"""Of the places of a log one in so many is tried here; all of them were when this was written."""
HALF_OR_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")


def sound(item: Trajectory | ParseError) -> None:
    """An error has words that any terminal and database can hold; so has a trajectory, and it comes back equal."""
    if isinstance(item, ParseError):
        assert item.reason
        assert "\0" not in str(item)
        str(item).encode()
        return
    check(item)
    line = encode(item)
    assert decode(line) == item
    assert not HALF_OR_NUL.search(line)
    assert not any(too_deep(span.arguments) for span in item.spans)
    assert not any(too_deep(tool.parameters) for tool in item.tools)


@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
def test_no_value_hurts_wherever_it_stands(path: Path) -> None:
    every = list(places(values(path)))
    for place in every[:: max(1, min(EVERY, len(every) // 4))]:
        for hostile in HOSTILE.values():
            for item in read_bytes(damaged(path, place, hostile), "a.log", format=format_of(path)):
                sound(item)


@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 100_000])
def test_a_record_that_nests_too_deep_is_an_error_that_says_so_or_nothing_deep_is_kept(path: Path, levels: int) -> None:
    rows = values(path)
    assert rows is not None
    found = list(read_bytes(damaged(path, (0,), deep(levels)), "a.log", format=format_of(path)))
    for item in found:
        sound(item)
    assert any(isinstance(item, ParseError) for item in found)


SPANS = ("openinference", "otel_genai")
"""A record of theirs is a whole trace, whose spans drop what they hold too deep and nobody looks at."""


@pytest.mark.parametrize("path", JSON_LOGS, ids=lambda path: path.name)
def test_a_key_that_nobody_looks_at_may_nest_no_deeper_either(path: Path) -> None:
    def read(levels: int) -> list[Trajectory | ParseError]:
        rows = values(path)
        assert rows is not None
        for row in rows:
            if isinstance(row, dict):
                row["of nobody"] = json.loads(deep(levels))
        return list(read_bytes(lines(rows), "a.log", format=format_of(path)))

    if format_of(path) == "trajcredit":
        assert all("unknown field `of nobody`" in str(item) for item in read(1))
        return
    few, most, more = read(1), read(MAX_DEPTH - 1), read(MAX_DEPTH + 1)
    assert [type(item) for item in most] == [type(item) for item in few]
    assert any(isinstance(item, Trajectory) for item in most)
    if format_of(path) not in SPANS:
        refused = [item for item in more if isinstance(item, ParseError) and TOO_DEEP in item.reason]
        rows = [row for row in values(path) or () if isinstance(row, dict)]
        assert len(refused) == len(rows)


def test_a_deep_row_costs_no_other_and_its_line_is_named() -> None:
    good = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}'
    bad = good[:-3] + b', "x": ' + deep(MAX_DEPTH + 1) + b"}]}"
    found = list(read_bytes(b"\n".join([good, bad, good.replace(b"Hi", b"He")]), "a.jsonl"))
    assert [str(item) for item in found if isinstance(item, ParseError)] == [
        f"a.jsonl: line 2: {TOO_DEEP}",
    ]
    assert sum(isinstance(item, Trajectory) for item in found) == 2


def test_a_file_may_nest_no_deeper_than_an_upload(tmp_path: Path) -> None:
    messages = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]'
    (tmp_path / "a.json").write_bytes(messages + b', "x": ' + deep(MAX_DEPTH + 1) + b"}")
    for found in (read(tmp_path / "a.json"), read_bytes((tmp_path / "a.json").read_bytes(), "a.json")):
        [refused] = found
        assert isinstance(refused, ParseError)
        assert refused.reason == TOO_DEEP


def archive(members: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return file.getvalue()


HEADER = b'{"version": 2, "status": "success", "eval": {"task": "t", "run_id": "r"}, "plan": {}}'
SAMPLE = b'{"id": 1, "epoch": 1, "input": "hi", "target": "", "messages": [{"role": "user", "content": "hi"}]}'


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        pytest.param({"a.txt": b"hello"}, "no known format", id="any other zip"),
        pytest.param({"header.json": HEADER, "samples/1.json": deep(1000)}, "not JSON|object", id="a deep sample"),
        pytest.param({"header.json": deep(100_000)}, "header", id="a deep header"),
        pytest.param({"header.json": HEADER, "samples/1.json": SAMPLE[:40]}, "not JSON", id="a torn sample"),
        pytest.param({"header.json": HEADER, "samples/1.json": b" " * (3 << 20)}, "more than", id="a bomb"),
        pytest.param({"header.json": HEADER, "../samples/1.json": SAMPLE}, "nothing in it", id="a name that climbs"),
    ],
)
def test_archives_that_are_refused(members: dict[str, bytes], wanted: str) -> None:
    found = list(read_bytes(archive(members), "a.eval", limit=1 << 20))
    [error] = found
    assert isinstance(error, ParseError), found
    assert re.search(wanted, error.reason), error.reason


def test_what_is_packed_is_looked_at_as_it_is_unpacked() -> None:
    """The bytes of an archive say nothing of what is in it."""
    nul = SAMPLE.replace(b'"content": "hi"', b'"content": "h\\u0000i"')
    more = SAMPLE.replace(b'"id": 1', b'"id": 2, "x": ' + deep(MAX_DEPTH + 1))
    packed = archive({"header.json": HEADER, "samples/1.json": nul, "samples/2.json": more})
    mended, error = read_bytes(packed, "a.eval")
    assert isinstance(mended, Trajectory)
    assert isinstance(error, ParseError)
    assert mended.spans[0].text == "h\u2400i"
    assert "sanitised" in [note.code for note in mended.report]
    assert error.reason == f"record 2: {TOO_DEEP}"


def test_text_that_hides_a_deep_value_in_arguments_stays_text() -> None:
    call: Any = {"function": {"name": "f", "arguments": deep(1000).decode()}}
    row = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    [found] = read_bytes(msgspec.json.encode(row), "a.json")
    assert isinstance(found, Trajectory)
    assert (found.spans[0].arguments, found.spans[0].arguments_raw) == (None, deep(1000).decode())
    assert [note.code for note in found.report] == ["deep-arguments", "unanswered-call"]
