"""Bytes -> records: which shape a log has, and what is kept of one that is broken."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.split import Record

ROW = {"messages": [{"role": "user", "content": 'quote " bracket ]} \\ end'}]}
ONE = json.dumps(ROW).encode()
PRETTY = json.dumps([ROW, ROW, ROW], indent=2).encode()
_any = msgspec.json.Decoder().decode


def rows(data: bytes) -> tuple[str, list[str]]:
    """The shape, and each record: `ok`, or the reason it is refused."""
    document = Document("a.log", data)
    found = []
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            decoded(document, record, _any)
            found.append("ok")
        except ParseError as error:
            found.append(str(error).split(": ", 1)[1])
    return document.shape, found


@pytest.mark.parametrize(
    ("data", "shape", "expected"),
    [
        pytest.param(ONE, "value", ["ok"], id="one object"),
        pytest.param(json.dumps(ROW, indent=2).encode(), "value", ["ok"], id="one object over many lines"),
        pytest.param(b"\xef\xbb\xbf" + ONE, "value", ["ok"], id="a byte order mark is stepped over"),
        pytest.param(PRETTY, "array", ["ok"] * 3, id="an array of objects"),
        pytest.param(b"[]", "array", [], id="an array of nothing"),
        pytest.param(ONE + b"\r\n\r\n" + ONE + b"\n", "lines", ["ok", "ok"], id="lines, blank ones skipped"),
        pytest.param(b"[" + ONE + b"]\n[" + ONE + b"]\n", "lines", ["ok", "ok"], id="lines that hold arrays"),
        pytest.param(b"", "other", [], id="nothing"),
        pytest.param(b"PK\x03\x04 and so on", "other", [], id="a zip"),
        pytest.param(b"event: a\ndata: {}\n\nevent: b\ndata: {}\n", "lines", ["ok", "ok"], id="server-sent events"),
    ],
)
def test_the_shape_of_a_log(data: bytes, shape: str, expected: list[str]) -> None:
    assert rows(data) == (shape, expected)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            ONE + b"\n" + ONE[:20] + b"\n" + ONE,
            ["ok", "line 2: not JSON: Input data was truncated", "ok"],
            id="one line of JSONL",
        ),
        pytest.param(
            ONE[:20] + b"\n" + ONE + b"\n" + ONE,
            ["line 1: not JSON: Input data was truncated", "ok", "ok"],
            id="the first line of JSONL",
        ),
        pytest.param(
            ONE + b"\n" + ONE + b"\n" + ONE[:9],
            ["ok", "ok", "line 3: not JSON: Input data was truncated"],
            id="a last line that was never finished",
        ),
        pytest.param(
            b'[{"a": 1}, {"b": tru}, {"c": 1}]',
            [
                "ok",
                "record 2: not JSON: JSON is malformed: invalid character (byte 7); "
                "it starts at byte 11, line 1 of the file",
                "ok",
            ],
            id="one element of an array",
        ),
        pytest.param(
            b'[{"a": 1},\n {"b": 2},\n {"c": "tex',
            [
                "ok",
                "ok",
                "record 3: the array is cut off at byte 23, line 3 of the file; nothing is read from there on",
            ],
            id="the end of an array, inside a text",
        ),
        pytest.param(
            b'[{"a": 1}, {"b": [2, {"c": 3',
            ["ok", "record 2: the array is cut off at byte 11, line 1 of the file; nothing is read from there on"],
            id="the end of an array, inside an object",
        ),
        pytest.param(
            b'[{"a": 1},',
            ["ok", "record 2: the array is cut off at byte 10, line 1 of the file; nothing is read from there on"],
            id="the end of an array, between two elements",
        ),
        pytest.param(
            b'[{"a": 1}] [{"b": 1}]',
            [
                "ok",
                "record 2: the array has ended, more follows at byte 11, line 1 of the file; "
                "nothing is read from there on",
            ],
            id="something after the array",
        ),
        pytest.param(ONE[:-1], ["not JSON: Input data was truncated"], id="the only object"),
        pytest.param(
            json.dumps(ROW, indent=2).encode()[:-3],
            ["not JSON: Input data was truncated"],
            id="the only object, over many lines: one error, not one a line",
        ),
    ],
)
def test_what_is_broken_is_said_and_the_rest_is_kept(data: bytes, expected: list[str]) -> None:
    assert rows(data)[1] == expected


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(b'{"a": "x\xff"}', "not UTF-8 at byte 8", id="bytes that are no UTF-8"),
        pytest.param(b'{"reward": NaN}', "NaN is not a finite number - at `$.reward`", id="NaN"),
        pytest.param(
            b'{"rewards": [0, 1, -Infinity]}', "-Infinity is not a finite number - at `$.rewards[2]`", id="infinity"
        ),
        pytest.param(b'{"reward": 1e400}', "Number out of range - at `$[...]`", id="a number beyond all floats"),
        pytest.param(b'{"a": ' + deep(1000) + b"}", "nested deeper than 100 levels", id="a thousand levels"),
        pytest.param(b'{"a": ' + deep(100_000) + b"}", "nested deeper than 100 levels", id="a hundred thousand levels"),
        pytest.param(b'{"a": "x\0y"}', "not JSON: JSON is malformed: invalid character (byte 8)", id="a raw NUL"),
    ],
)
@pytest.mark.parametrize("around", [b"%b", b'[{"a": 1}, %b, {"b": 2}]', b'{"a": 1}\n%b\n{"b": 2}\n'])
def test_a_refused_record_names_the_field_or_the_byte(record: bytes, reason: str, around: bytes) -> None:
    found = rows(around % record)[1]
    assert len(found) == (1 if around == b"%b" else 3)
    [refused] = [r for r in found if r != "ok"]
    assert refused.removeprefix("record 2: ").removeprefix("line 2: ").split("; it starts at")[0] == reason


@pytest.mark.parametrize(
    ("logged", "kept", "codes"),
    [
        pytest.param(rb'"cut \ud83d"', "cut \ufffd", ["sanitised"], id="the first half of a pair"),
        pytest.param(rb'"\uDE00 cut"', "\ufffd cut", ["sanitised"], id="the second half of a pair"),
        pytest.param(rb'"\ud83d\ude00"', "\U0001f600", [], id="a whole pair stays"),
        pytest.param(rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600", ["sanitised"], id="half a pair before a whole one"),
        pytest.param(rb'"a\u0000b"', "a\u2400b", ["sanitised"], id="NUL"),
        pytest.param(rb'"\\u0000 \\ud83d"', r"\u0000 \ud83d", [], id="JSON text inside JSON text is left alone"),
    ],
)
def test_characters_no_database_holds_are_replaced_and_noted(logged: bytes, kept: str, codes: list[str]) -> None:
    document = Document("a.log", b'{"big": 123456789012345678901234567890, "text": ' + logged + b"}")
    record = document.records[0]
    assert isinstance(record, Record)
    value, notes = decoded(document, record, _any)
    assert value == {"big": 123456789012345678901234567890, "text": kept}
    assert [note.code for note in notes] == codes


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        pytest.param(ONE, {"messages"}, id="an object"),
        pytest.param(PRETTY, {"messages"}, id="the first of an array"),
        pytest.param(b"[" + PRETTY + b"]", {"messages"}, id="the first of the first array"),
        pytest.param(b'{"tor\n{"a": 1}\n{"b": 1}', {"a"}, id="the first line that is whole"),
        pytest.param(rb'{"half": "\ud83d"}', {"half"}, id="an object that must be mended"),
        pytest.param(b"[1, 2]", set(), id="no object at all"),
    ],
)
def test_readers_sniff_at_the_keys_of_the_first_object(data: bytes, keys: set[str]) -> None:
    assert Document("a.log", data).keys == keys


def test_a_log_is_seen_from_each_of_its_objects_on() -> None:
    document = Document("a.log", b'{"a": 1}\nbroken\n5\n[{"b": 1}]\n{"c": 1}\n')
    views = list(document.views())
    assert [view.keys for view in views] == [{"a"}, {"b"}, {"c"}]
    assert [[seen.is_list for seen in view.head] for view in views] == [[False, True, False], [True, False], [False]]
    assert all(view.records is document.records for view in views)
    assert [view.keys for view in Document("a.log", b"prose").views()] == [set()]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("a", {"b": [1]}, id="a value"),
        pytest.param("z", None, id="an absent key"),
        pytest.param("bad", None, id="a value that cannot be decoded"),
    ],
)
def test_a_reader_may_look_at_one_value(key: str, value: Any) -> None:
    assert Document("a.log", b'{"a": {"b": [1]}, "bad": "\xff"}').peek(key) == value


@pytest.mark.parametrize(
    ("name", "data", "dataset", "called"),
    [
        pytest.param("runs/7/a.json", PRETTY, "runs/7/a.json", "runs/7/a.json#1", id="a file of several is a data set"),
        pytest.param("runs/7/a.json", ONE, "runs/7", "runs/7/a.json", id="a file of one lies in the set of its folder"),
        pytest.param("a.json", ONE, None, "a.json", id="a file of one in no folder has no set"),
    ],
)
def test_what_a_trajectory_without_names_is_called(name: str, data: bytes, dataset: str | None, called: str) -> None:
    document = Document(name, data)
    record = document.records[0]
    assert isinstance(record, Record)
    assert (document.dataset_of(record), document.name_of(record)) == (dataset, called)
    assert document.name_of(None) == name
    assert Document(name, data, "mine").dataset_of(record) == "mine"


def test_what_is_known_of_the_bytes_is_found_out_once_for_all_views() -> None:
    class Bytes(bytes):
        looks = 0

        def rfind(self, *what: Any) -> int:
            Bytes.looks += 1
            return super().rfind(*what)

    document = Document("a.json", Bytes(b"[" + b", ".join([ONE] * 50) + b"]"))
    for record in document.records:
        assert isinstance(record, Record)
        view = document.inside([record.raw])
        [inner] = view.records
        assert isinstance(inner, Record)
        assert decoded(view, inner, _any)[1] == []
        assert view.origin_of("x", None) == document.origin_of("x", None)
    assert Bytes.looks == 1
