"""Bytes -> records where the bytes are broken: every element in its place, and what lies between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.formats.hostile import steps
from tests.formats.test_document import ONE, PRETTY, rows
from trajcredit.errors import ParseError
from trajcredit.formats import Document, Record, split

GOOD = b'{"a": "[x], {y}"}'
MALFORMED = "not JSON: JSON is malformed: "
CUT = "not JSON: Input data was truncated"


@pytest.mark.parametrize("between", [b", ", b",\n"])
@pytest.mark.parametrize(
    ("element", "reason"),
    [
        pytest.param(b"garbage", MALFORMED + "invalid character (byte 0)", id="a word"),
        pytest.param(b"nul", CUT, id="half a word"),
        pytest.param(b"NaN", "NaN is not a finite number - at `$`", id="NaN"),
        pytest.param(b"'text'", MALFORMED + "invalid character (byte 0)", id="a text in single quotes"),
        pytest.param(b"x " + GOOD, MALFORMED + "invalid character (byte 0)", id="a word before an object"),
        pytest.param(b"}", MALFORMED + "invalid character (byte 0)", id="a bracket nobody opened"),
        pytest.param(b'{"a": [1}', MALFORMED + "expected ',' or ']' (byte 8)", id="an inner bracket left open"),
        pytest.param(b'{"a" 1}', MALFORMED + "expected ':' (byte 5)", id="an object with a fault"),
    ],
)
def test_an_element_that_is_no_json_is_an_error_in_its_place_and_costs_no_other(
    element: bytes, reason: str, between: bytes
) -> None:
    line = 2 if between.endswith(b"\n") else 1
    error = f"record 2: {reason}; it starts at byte {len(GOOD) + 3}, line {line} of the file"
    document = Document("a.log", b"[" + between.join([GOOD, element, GOOD]) + b"]")
    assert rows(document.data) == ("array", ["ok", error, "ok"])
    assert [record.number for record in document.records if isinstance(record, Record)] == [1, 3]
    assert [record.line for record in document.records if isinstance(record, ParseError)] == [2]
    assert document.slips == []


@pytest.mark.parametrize(
    "torn", [b'{"a": [1, {"b": ', b'{"a": "te', b'"te', b'{"a": {"b": 1}', b'{"a": 1]', b'{"a": "te, x', b'{"a": 1 \\"']
)
def test_an_element_torn_at_the_end_of_its_line_costs_no_other(torn: bytes) -> None:
    for rest in ([torn + b",", GOOD], [torn, b"," + GOOD]):
        shape, found = rows(b"\n".join([b"[" + GOOD + b",", *rest]) + b"\n]\n")
        assert (shape, [row[:10] for row in found]) == ("array", ["ok", "record 2: ", "ok"])
        assert found[1].endswith(f"it starts at byte {len(GOOD) + 3}, line 2 of the file")


@pytest.mark.parametrize(
    "torn",
    [
        pytest.param(b'{"a": [1, {"b": ', id="torn inside"),
        pytest.param(b'{"a": {"b": 1}', id="a bracket left open"),
        pytest.param(b'{"a": 1]', id="closed by the wrong bracket"),
    ],
)
def test_an_element_torn_in_the_middle_of_a_line_says_that_the_rest_is_not_read(torn: bytes) -> None:
    at = f"byte {len(GOOD) + 3}, line 1 of the file"
    assert rows(b"[" + b", ".join([GOOD, torn, GOOD]) + b"]")[1] == [
        "ok",
        f"record 2: the array is cut off at {at}; nothing is read from there on",
    ]


def test_elements_over_many_lines_are_not_taken_for_lines() -> None:
    torn = PRETTY[: -len(PRETTY) // 4]
    found = rows(torn)[1]
    assert found[:2] == ["ok", "ok"]
    assert found[2].startswith("record 3: the array is cut off at byte")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("data", "records", "slips"),
    [
        pytest.param(
            b'[{"a": 1} {"b": 2}, {"c": 3}]',
            [1, 2, 3],
            ["2: record 2: no comma before it, at byte 10, line 1 of the file"],
            id="a missing comma",
        ),
        pytest.param(
            b'[\n{"a": 1}\n{"b": 2}\n[3]\n]',
            [1, 2, 3],
            [
                "2: record 2: no comma before it, at byte 11, line 3 of the file",
                "3: record 3: no comma before it, at byte 20, line 4 of the file",
            ],
            id="no commas at all",
        ),
        pytest.param(
            b'[{"a": 1} {"b": 2} {"c',
            [1, 2, "record 3: the array is cut off at byte 19, line 1 of the file; nothing is read from there on"],
            ["2: record 2: no comma before it, at byte 10, line 1 of the file"],
            id="a missing comma in a torn array",
        ),
        pytest.param(
            b'[{"a": 1} x, {"b": 2}]',
            [
                1,
                "record 2: not JSON: JSON is malformed: invalid character (byte 0); "
                "it starts at byte 10, line 1 of the file",
                3,
            ],
            ["2: record 2: no comma before it, at byte 10, line 1 of the file"],
            id="a word behind an object",
        ),
        pytest.param(
            b'[{"a": 1},, {"b": 2}]',
            [1, "record 2: nothing stands before the comma at byte 10, line 1 of the file", 3],
            [],
            id="a comma too many",
        ),
        pytest.param(
            b'\xef\xbb\xbf[{"a": 1},\n]',
            [1],
            ["None: no record between the last comma and the end of the array at byte 14, line 2 of the file"],
            id="a comma at the end; bytes are those of the file, its byte order mark too",
        ),
        pytest.param(
            b'[{"a": 1}, 5, {"half": "\\ud83d"} {"c": 3}]',
            [1, 2, 3, 4],
            ["4: record 4: no comma before it, at byte 33, line 1 of the file"],
            id="what is JSON, or can be mended, is left to the reader",
        ),
    ],
)
def test_what_is_wrong_between_the_elements_is_said_and_costs_none(
    data: bytes, records: list[int | str], slips: list[str]
) -> None:
    document = Document("a.log", data)
    assert [r.number if isinstance(r, Record) else r.reason for r in document.records] == records
    assert [f"{slip.line}: {slip.reason}" for slip in document.slips] == slips
    assert {slip.file for slip in document.slips} <= {"a.log"}


@pytest.mark.parametrize(
    ("data", "shape", "expected"),
    [
        pytest.param(b"[INFO] started\n[INFO] read {}\n", "other", [], id="a log with brackets is prose"),
        pytest.param(b"[ ] wash\n[x] dry\n", "other", [], id="so is a list of things to do"),
        pytest.param(b"# Notes\n\nA row is\n" + ONE[:20] + b"\n", "other", [], id="and a page about a log"),
        pytest.param(b"0.1\n", "other", [], id="and a number"),
        pytest.param(b"INFO a\n" * 3 + ONE + b"\n" + ONE, "lines", ["bad"] * 3 + ["ok"] * 2, id="a banner"),
        pytest.param(b"INFO a\n" * 3 + b'{"a":1}\n' * 3, "lines", ["bad"] * 3 + ["ok"] * 3, id="half of the lines"),
        pytest.param(b'[{"a": "te\n' + ONE + b"\n" + ONE, "lines", ["bad", "ok", "ok"], id="a torn list first"),
        pytest.param(b"[" + ONE + b"\n" + ONE + b"\n" + ONE + b"]", "array", ["ok"] * 3, id="an array without commas"),
        pytest.param(b"5\nnull\n" + ONE + b"\n" + ONE, "lines", ["ok"] * 4, id="numbers in front"),
    ],
)
def test_what_is_lines_and_what_is_prose(data: bytes, shape: str, expected: list[str]) -> None:
    found = rows(data)
    assert (found[0], [row if row == "ok" else "bad" for row in found[1]]) == (shape, expected)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(lambda n: b'[{}, "' + b'\\"' * n, id="a text of escaped quotes without an end"),
        pytest.param(lambda n: b'[{},\n{},\n "' + b'\\"' * n, id="the same in a line"),
        pytest.param(lambda n: b"[{} " * n + b"]" * n, id="brackets in brackets, no comma"),
        pytest.param(lambda n: b"[{}" + b"{[}" * n + b"]", id="brackets that do not match"),
        pytest.param(lambda n: b"[{} " + b"x {} " * n + b"]", id="words between objects"),
        pytest.param(lambda n: b"[{},\n" + b"x,\n" * n + b"{}]", id="errors, each with its line"),
    ],
)
def test_ten_times_the_hostile_bytes_take_less_than_twenty_times_the_work(
    hostile: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (_work(hostile(n), monkeypatch) for n in (300, 3000))
    assert small > 600
    assert large < 20 * small


def _work(data: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    """The lines that run until the records are there, and the bytes that decoders and patterns go over for them."""
    touched: list[int] = []
    with monkeypatch.context() as patch:
        for name in ("_value", "_elements"):
            patch.setattr(split, name, _Decoder(getattr(split, name), touched))
        for name in ("_TOKEN", "_TOKEN_OF_LINE", "_SOMETHING", "_OF_VALUES"):
            patch.setattr(split, name, _Pattern(getattr(split, name), touched))
        for name in ("mended", "why"):
            patch.setattr(split, name, _counted(getattr(split, name), touched))
        log, openers = _counting(bytes, touched), _counting(bytearray, touched)
        patch.setattr(split, "bytearray", openers, raising=False)
        lines = steps(lambda: Document("a.log", log(data)).records)
    assert touched
    return lines + sum(touched)


def _counted(work: Callable[..., Any], touched: list[int]) -> Callable[..., Any]:
    def call(data: bytes, *more: Any) -> Any:
        touched.append(len(data))
        return work(data, *more)

    return call


def _counting(kind: Any, touched: list[int]) -> Any:
    """Bytes that count what is copied of them, and what is gone over in them."""

    class Counting(kind):  # type: ignore[misc]
        def __getitem__(self, place: Any) -> Any:
            found = super().__getitem__(place)
            touched.append(len(found) if isinstance(place, slice) else 1)
            return found

        def count(self, what: bytes, start: int = 0, end: int | None = None) -> int:
            touched.append((len(self) if end is None else end) - start)
            return int(super().count(what, start, len(self) if end is None else end))

        def rindex(self, what: bytes) -> int:
            found = int(super().rindex(what))
            touched.append(len(self) - found)
            return found

    return Counting


class _Decoder:
    def __init__(self, real: Any, touched: list[int]) -> None:
        self.decode = _counted(real.decode, touched)


class _Pattern:
    """A pattern that counts the bytes it went over, once each: what it tries again is not seen here."""

    def __init__(self, real: re.Pattern[bytes], touched: list[int]) -> None:
        self._real, self._touched = real, touched

    def finditer(self, data: bytes) -> Iterator[re.Match[bytes]]:
        at = 0
        for found in self._real.finditer(data):
            self._touched.append(found.end() - at)
            at = found.end()
            yield found

    def search(self, data: bytes, start: int = 0, end: int | None = None) -> re.Match[bytes] | None:
        found = self._real.search(data, start, len(data) if end is None else end)
        self._touched.append((found.end() if found else len(data) if end is None else end) - start)
        return found

    def match(self, data: bytes) -> re.Match[bytes] | None:
        found = self._real.match(data)
        self._touched.append(found.end() if found else 1)
        return found


@pytest.mark.parametrize("start", [b'[{}, "', b'[{},\n{},\n "'])
def test_a_text_without_an_end_is_gone_over_once(start: bytes) -> None:
    """A pattern that tried every quote again would take days for these four megabytes, and the run its time out."""
    records = Document("a.log", start + b'\\"' * 2_000_000).records
    assert [isinstance(record, Record) for record in records] == [True] * (len(records) - 1) + [False]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b'data: {"a": 1}\n\ndata: {"b": 2}  \n\n', [(1, b'{"a": 1}'), (3, b'{"b": 2}')], id="data alone"),
        pytest.param(b'event: x\r\ndata: {"a": 1}\r\n\r\n', [(2, b'{"a": 1}')], id="named, with carriage returns"),
        pytest.param(b'data: {"a":\ndata: 1}\n\n', [(1, b'{"a":\n1}')], id="one event over two lines"),
        pytest.param(b'data:{"a": 1}\n: alive\nid: 4\n\n', [(1, b'{"a": 1}')], id="comments and ids"),
        pytest.param(b'data: {"a": 1}\n\ndata: [DONE]\n\n', [(1, b'{"a": 1}')], id="the end mark is no record"),
        pytest.param(b'data: {"a": 1}', [(1, b'{"a": 1}')], id="no blank line at the end"),
        pytest.param(b"data: \n\nevent: x\n\n", [], id="events without data"),
    ],
)
def test_server_sent_events_are_records_by_the_line_they_begin_in(
    data: bytes, expected: list[tuple[int, bytes]]
) -> None:
    document = Document("a.sse", data)
    assert document.shape == "lines"
    assert [(record.number, bytes(record.raw)) for record in document.records if isinstance(record, Record)] == expected
