"""Objects that a program printed over several lines each, and the spans of the console exporter among them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import pairs
from tests.formats.spans import answer, call, kinds, result, said
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.formats.printed import printed_objects
from trajcredit.formats.split import Record, split
from trajcredit.model import Trajectory

A, B = '{\n    "a": 1\n}', '{\n    "b": {\n        "c": []\n    }\n}'


def records(text: str) -> list[tuple[int, Any]]:
    found = split("log", text.encode())
    assert found.shape == "lines"
    return [(one.number, json.loads(bytes(one.raw))) for one in found.records if isinstance(one, Record)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(f"{A}\n{B}\n", (1, 4), id="one after the other"),
        pytest.param(f"{A}\n\n\n{B}", (1, 6), id="blank lines between them"),
        pytest.param(f"{A}\n{B}\n".replace("\n", "\r\n"), (1, 4), id="line ends of Windows"),
        pytest.param(f"ready\n{A}\n{B}\nbye\n", (2, 5), id="other words around them"),
    ],
)
def test_each_object_is_a_record_by_its_line(text: str, lines: tuple[int, int]) -> None:
    assert records(text) == [(lines[0], {"a": 1}), (lines[1], {"b": {"c": []}})]


def test_what_was_printed_between_them_is_said_once() -> None:
    found = split("app.log", f"starting\n{A}\nworking\nstill\n{B}\n".encode())
    assert [str(slip) for slip in found.slips] == ["app.log: line 1: the first of 3 lines that are no JSON: left out"]
    assert not split("app.log", f"{A}\n{B}\n".encode()).slips


def test_an_object_that_is_cut_off_costs_no_other() -> None:
    printed = printed_objects(f"{A}\n{B[:-2]}\n{A}\n".encode())
    assert printed is not None
    assert [number for number, _ in printed.objects] == [1, 4, 8]
    found = split("log", f"{A}\n{B[:-2]}\n{A}\n".encode())
    assert [bytes(one.raw) for one in found.records if isinstance(one, Record)][::2] == [A.encode(), A.encode()]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(A[:-1], id="one that is cut off is one broken JSON text"),
        pytest.param('{\n  "a": 1,\n}', id="one that is broken too"),
        pytest.param("# Title\n\n" + "words " * 50 + f"\n\n{A}\n", id="a page that shows an object is prose"),
        pytest.param("\n}\n}\n", id="ends alone are nothing"),
    ],
)
def test_what_is_no_such_print(text: str) -> None:
    assert printed_objects(text.encode()) is None


# ---------------------------------------------------------------- the console exporter of OpenTelemetry


def span(number: int, parent: int | None, name: str, **attributes: Any) -> str:
    """A span as `ConsoleSpanExporter` prints it."""
    code = {"status_code": "ERROR", "description": "no such city"} if "tool" in name else {"status_code": "UNSET"}
    shown: dict[str, Any] = {
        "name": name,
        "context": {"trace_id": "0x" + "4f" * 16, "span_id": f"0x{number:016x}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None if parent is None else f"0x{parent:016x}",
        "start_time": f"2026-05-01T00:00:{number:02d}.000000Z",
        "end_time": f"2026-05-01T00:00:{number:02d}.500000Z",
        "status": code,
        "attributes": {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()},
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "app"}, "schema_url": ""},
    }
    return json.dumps(shown, indent=4) + "\n"


ASK = said("user", "Weather in Oslo?")
CALL, RESULT = call(("c1", "weather", {"city": "Oslo"})), result("c1", "no such city")
DUMP = [
    span(
        2,
        1,
        "chat m",
        operation__name="chat",
        input__messages=json.dumps([ASK]),
        output__messages=json.dumps([CALL]),
    ),
    span(3, 1, "execute_tool weather", operation__name="execute_tool", tool__name="weather", tool__call__id="c1"),
    span(
        4,
        1,
        "chat m",
        operation__name="chat",
        input__messages=json.dumps([ASK, CALL, RESULT]),
        output__messages=json.dumps([answer("I cannot say.")]),
    ),
    span(1, None, "invoke_agent a", operation__name="invoke_agent", agent__name="a"),
]
SPOKEN = [("user", "Weather in Oslo?"), ("tool_call", "weather"), ("tool_result", "no such city")]


def test_spans_printed_on_a_console_are_a_trace() -> None:
    [got] = read_bytes("".join(DUMP).encode(), "app.log")
    assert isinstance(got, Trajectory)
    assert got.source is not None
    assert (got.id, got.source.format, got.report) == ("4f" * 16, "otel_genai", [])
    assert kinds(got) == [*SPOKEN, ("assistant", "I cannot say.")]
    assert pairs(got) == [("weather", "no such city", True)]
    assert got.spans[1].started_at == "2026-05-01T00:00:02.000000Z"


def test_one_that_is_torn_is_named_and_the_rest_is_read() -> None:
    text = "Server started\n" + "".join(DUMP)
    words, torn, got = read_bytes(text[:-40].encode(), "app.log")
    assert (type(words), type(torn)) == (ParseError, ParseError)
    assert str(words) == "app.log: line 1: no JSON: left out"
    assert "truncated" in str(torn)
    assert isinstance(got, Trajectory)
    assert kinds(got)[:3] == SPOKEN
