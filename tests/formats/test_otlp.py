"""The envelopes of OpenTelemetry -> spans; no bytes make them crash."""

from __future__ import annotations

import base64
import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.spans import kinds, only, read_all
from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats import read_bytes
from trajcredit.formats.otlp import from_json, from_protobuf, iso, joined
from trajcredit.formats.spanlist import instant, of_object
from trajcredit.model import Trajectory, check

DATA = Path(__file__).parents[1] / "data"
EXPORT = (DATA / "otel_genai_export.pb").read_bytes()
LINES = (DATA / "otel_genai.jsonl").read_bytes().splitlines()
EVENTS = (DATA / "otel_genai_events.jsonl").read_bytes().splitlines()


def test_protobuf_says_what_json_says() -> None:
    assert (from_protobuf(EXPORT), []) == from_json(LINES[0])


def test_logs_in_protobuf_say_what_logs_in_json_say() -> None:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = json_format.ParseDict(based(json.loads(EVENTS[0])), ExportLogsServiceRequest())
    assert (from_protobuf(request.SerializeToString()), []) == from_json(EVENTS[0])


def based(value: Any) -> Any:
    """Ids in base64, as the generic printer of protobuf writes them."""
    if isinstance(value, list):
        return [based(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ids else based(v) for k, v in value.items()}


def snaked(value: Any) -> Any:
    """The names of the protobuf fields, as some printers keep them."""
    if isinstance(value, list):
        return [snaked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in k): snaked(v) for k, v in value.items()}


def old(value: Any) -> Any:
    return json.loads(json.dumps(value).replace('"scopeSpans"', '"instrumentationLibrarySpans"'))


def named(value: Any) -> Any:
    """Enums by name."""
    text = json.dumps(value).replace('"code": 2', '"code": "STATUS_CODE_ERROR"')
    return json.loads(text.replace('"code": 1', '"code": "STATUS_CODE_OK"'))


@pytest.mark.parametrize("written", [based, snaked, old, named])
@pytest.mark.parametrize("line", LINES, ids=["first", "second"])
def test_the_ways_of_writing_otlp_make_no_difference(written: Any, line: bytes) -> None:
    assert from_json(json.dumps(written(json.loads(line))).encode()) == from_json(line)


def test_batches_in_any_order_are_one_trace_each_span_once() -> None:
    found, wanted = read_all(b"\n".join([LINES[1], LINES[0], LINES[1]])), read_all(b"\n".join(LINES))
    assert [(t.id, kinds(t), t.parent) for t in found] == [(t.id, kinds(t), t.parent) for t in wanted]


def test_what_two_exports_tell_of_a_span_is_put_together() -> None:
    first = {"trace_id": "t", "span_id": "s", "name": "chat", "attributes": {"a": 1}, "start_time": 5}
    second = {"trace_id": "t", "span_id": "s", "attributes": {"b": 2}, "end_time": 6, "parent_id": "p"}
    [[span]] = joined([of_object(first), of_object(second)]).values()
    assert (span.attributes, span.start, span.end, span.parent_id) == ({"a": 1, "b": 2}, 5 * 10**9, 6 * 10**9, "p")


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        ("2026-05-01T00:00:00Z", "2026-05-01T00:00:00.000000Z"),
        ("2026-05-01T02:00:00.25+02:00", "2026-05-01T00:00:00.250000Z"),
        ("2026-05-01T00:00:00", "2026-05-01T00:00:00.000000Z"),
        (1777593600, "2026-05-01T00:00:00.000000Z"),
        (1777593600.5, "2026-05-01T00:00:00.500000Z"),
        (1777593600000, "2026-05-01T00:00:00.000000Z"),
        (1777593600000000000, "2026-05-01T00:00:00.000000Z"),
        ("1777593600000000000", "2026-05-01T00:00:00.000000Z"),
        ("yesterday", None),
        (None, None),
        (True, None),
        (-5, None),
    ],
)
def test_times_in_every_form(logged: Any, wanted: str | None) -> None:
    assert iso(instant(logged)) == wanted


def test_without_the_library_protobuf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith(("google.protobuf", "opentelemetry.proto")):
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    [found] = read_bytes(EXPORT, "log.pb")
    assert isinstance(found, ParseError)
    assert "pip install 'trajcredit[otlp]'" in found.reason
    assert kinds(read_all(LINES[0])[0])  # JSON needs none


def test_nul_in_protobuf_is_replaced() -> None:
    data = EXPORT.replace(b"execute_tool", b"execute\0tool").replace(b"list_rooms", b"list\0rooms")
    spans = from_protobuf(data)
    assert "\0" not in repr([(s.name, s.attributes) for s in spans])
    assert spans[0].name == "execute\u2400tool list\u2400rooms"


def test_other_bytes_are_no_export() -> None:
    with pytest.raises(InputError, match="neither an export of traces nor one of logs"):
        from_protobuf(b"\x0a\x02\x08\x01")


@given(cut=st.integers(0, len(EXPORT)), at=st.integers(0, len(EXPORT)), new=st.binary(max_size=6))
def test_damaged_protobuf_is_an_error_or_a_trace(cut: int, at: int, new: bytes) -> None:
    data = (EXPORT[:at] + new + EXPORT[at + len(new) :])[:cut]
    for format in ("otel_genai", None):
        for item in read_bytes(data, "a.log", format=format):
            if isinstance(item, Trajectory):
                check(item)
            else:
                assert item.reason


def test_a_span_that_breaks_the_form_costs_no_other() -> None:
    data = json.loads(LINES[1])
    data["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = 5
    error, trajectory = read_bytes(json.dumps(data).encode(), "log.json")
    assert isinstance(error, ParseError)
    assert error.reason == "span 1: Expected `str`, got `int` - at `$.name`"
    assert isinstance(trajectory, Trajectory)
    assert trajectory.spans[-1].text == "Oak is closed on Monday; nothing was booked."


def test_a_plain_list_of_spans_is_one_of_them_too() -> None:
    spans = [
        {
            "context": {"trace_id": "0xab", "span_id": f"0x{n}", "trace_state": "[]"},
            "parent_id": None,
            "name": "chat",
            "start_time": "2026-05-01T00:00:00.000001Z",
            "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": "Hi."},
        }
        for n in (1, 2)
    ]
    trajectory = only(spans)
    assert (trajectory.id, kinds(trajectory)) == ("ab", [("assistant", "Hi."), ("assistant", "Hi.")])


def test_log_records_without_a_trace_are_no_log_and_it_says_so() -> None:
    records = [{"eventName": "page_view", "timeUnixNano": "1", "attributes": []}]
    data = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()
    [found] = read_bytes(data, "events.json")
    assert isinstance(found, SkippedFile)
    assert found.reason == "no log: no span in it is a request to a model, a tool or an agent"
