"""Spans in the envelopes of OpenTelemetry -> one flat list: OTLP as JSON or protobuf, and plain exported spans.

Spans of one trace come in any order and over several batches; log records that belong to a span stand among its
events. Whoever builds trajectories from them needs to know nothing of the envelope.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.split import Bytes

__all__ = [
    "ENVELOPES",
    "Happening",
    "TraceSpan",
    "from_json",
    "from_protobuf",
    "hexadecimal",
    "iso",
    "joined",
    "nanoseconds",
]

ENVELOPES = frozenset({"resourceSpans", "resource_spans", "resourceLogs", "resource_logs"})
"""Keys of the object that OTLP as JSON consists of."""

NUL = "\u2400"
"""What stands for U+0000, which no database holds; in JSON whoever decodes the record has seen to it."""


class Happening(msgspec.Struct, gc=False):
    """An event of a span, or a log record that names it."""

    name: str
    attributes: dict[str, Any]
    body: Any = None
    time: int | None = None


class TraceSpan(msgspec.Struct, gc=False):
    """One span of a trace, ids in hexadecimal as far as they are known, times in nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int | None
    end: int | None
    attributes: dict[str, Any]
    events: list[Happening]
    failed: bool | None = None
    """What the span's status says: null where it says nothing."""
    status: str | None = None
    """What went wrong, in words."""
    at: int = 0
    """Position in the log."""


# ---------------------------------------------------------------- OTLP as JSON


class _Value(msgspec.Struct, gc=False, rename="camel"):
    """A tagged value; some writers leave the tag of an integer as a number."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    array_value: _Values | None = None
    kvlist_value: _Pairs | None = None
    bytes_value: str | None = None


class _Values(msgspec.Struct, gc=False):
    values: list[_Value] = []


class _Pair(msgspec.Struct, gc=False):
    key: str
    value: _Value | None = None


class _Pairs(msgspec.Struct, gc=False):
    values: list[_Pair] = []


class _Event(msgspec.Struct, gc=False, rename="camel"):
    name: str = ""
    time_unix_nano: int | str | None = None
    attributes: list[_Pair] = []


class _Status(msgspec.Struct, gc=False):
    code: int | str | None = None
    message: str | None = None


class _Span(msgspec.Struct, gc=False, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str | None = None
    name: str = ""
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[_Pair] = []
    events: list[_Event] = []
    status: _Status | None = None


class _Log(msgspec.Struct, gc=False, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    event_name: str | None = None
    time_unix_nano: int | str | None = None
    observed_time_unix_nano: int | str | None = None
    body: _Value | None = None
    attributes: list[_Pair] = []


class _Scope(msgspec.Struct, gc=False, rename="camel"):
    spans: list[msgspec.Raw] = []
    log_records: list[msgspec.Raw] = []


class _Resource(msgspec.Struct, gc=False, rename="camel"):
    scope_spans: list[_Scope] = []
    instrumentation_library_spans: list[_Scope] = []
    scope_logs: list[_Scope] = []


class _Envelope(msgspec.Struct, gc=False, rename="camel"):
    resource_spans: list[_Resource] = []
    resource_logs: list[_Resource] = []


_envelope = msgspec.json.Decoder(_Envelope)
_span = msgspec.json.Decoder(_Span)
_log = msgspec.json.Decoder(_Log)
_any = msgspec.json.Decoder()


def from_json(data: Bytes) -> tuple[list[TraceSpan], list[str]]:
    """The spans of one OTLP object, and what is wrong with those that break its form."""
    head = bytes(memoryview(data)[:4096])
    if b'"resource_spans"' in head or b'"resource_logs"' in head:
        data = msgspec.json.encode(_camel(_any.decode(data)))
    envelope = _envelope.decode(data)
    scopes = [scope for r in envelope.resource_spans for scope in (*r.scope_spans, *r.instrumentation_library_spans)]
    logs = [scope for r in envelope.resource_logs for scope in r.scope_logs]
    found: list[TraceSpan] = []
    broken: list[str] = []
    for number, raw in enumerate((raw for scope in scopes for raw in scope.spans), 1):
        try:
            found.append(_of_span(_span.decode(raw)))
        except msgspec.ValidationError as error:
            broken.append(f"span {number}: {error}")
    for number, raw in enumerate((raw for scope in logs for raw in scope.log_records), 1):
        try:
            if (log := _log.decode(raw)).span_id:
                found.append(_of_log(log))
        except msgspec.ValidationError as error:
            broken.append(f"log record {number}: {error}")
    return found, broken


def _of_span(span: _Span) -> TraceSpan:
    return TraceSpan(
        trace_id=hexadecimal(span.trace_id, 32),
        span_id=hexadecimal(span.span_id, 16),
        parent_id=hexadecimal(span.parent_span_id, 16) or None,
        name=span.name,
        start=nanoseconds(span.start_time_unix_nano),
        end=nanoseconds(span.end_time_unix_nano),
        attributes=_pairs(span.attributes),
        events=[Happening(e.name, _pairs(e.attributes), None, nanoseconds(e.time_unix_nano)) for e in span.events],
        failed=_failed(span.status.code if span.status else None),
        status=(span.status.message or None) if span.status else None,
    )


def _of_log(log: _Log) -> TraceSpan:
    """The part of a span that a log record tells."""
    attributes = _pairs(log.attributes)
    name = log.event_name or attributes.get("event.name")
    time = nanoseconds(log.time_unix_nano) or nanoseconds(log.observed_time_unix_nano)
    event = Happening(name if isinstance(name, str) else "", attributes, _plain(log.body), time)
    return told(hexadecimal(log.trace_id, 32), hexadecimal(log.span_id, 16), event)


def told(trace_id: str, span_id: str, event: Happening) -> TraceSpan:
    """A span of which only an event is known."""
    return TraceSpan(trace_id, span_id, None, "", None, None, {}, [event])


def _plain(value: _Value | None) -> Any:
    """A tagged value without its tag."""
    if value is None:
        return None
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return nanoseconds(value.int_value)
    if value.array_value is not None:
        return [_plain(item) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return _pairs(value.kvlist_value.values)
    return next((x for x in (value.bool_value, value.double_value, value.bytes_value) if x is not None), None)


def _pairs(pairs: list[_Pair]) -> dict[str, Any]:
    return {pair.key: _plain(pair.value) for pair in pairs}


_SNAKE = re.compile("_([a-z])")


def _camel(value: Any) -> Any:
    """Keys in lowerCamel, as the convention has them; some printers keep the names of the protobuf fields."""
    if isinstance(value, dict):
        return {_SNAKE.sub(lambda found: found[1].upper(), key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def hexadecimal(value: Any, length: int) -> str:
    """An id in hexadecimal; the generic printer of protobuf writes base64, told by its length."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if len(text) == -(-length // 6) * 4 and text.endswith("="):
        try:
            return base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            pass
    text = text.removeprefix("0x")
    text = text.lower() if len(text) == length else text
    return text if text.strip("0") else ""


def _failed(code: Any) -> bool | None:
    """2 or STATUS_CODE_ERROR: it failed; 1 or STATUS_CODE_OK: it did not."""
    word = str(code).rsplit("_", 1)[-1].upper()
    return {"2": True, "ERROR": True, "1": False, "OK": False}.get(word)


# ---------------------------------------------------------------- OTLP as protobuf


def from_protobuf(data: bytes) -> list[TraceSpan]:
    """The spans of an export request for traces or for logs; InputError where it is neither, or the library lacks."""
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise InputError(
            f"OTLP as protobuf needs the extra `otlp`: pip install 'trajcredit[otlp]' ({error})"
        ) from error
    for request, spans_of in ((ExportTraceServiceRequest(), _spans_of), (ExportLogsServiceRequest(), _logs_of)):
        try:
            request.ParseFromString(data)
        except DecodeError:
            continue
        if spans := list(spans_of(request)):
            return spans
    raise InputError("not OTLP: neither an export of traces nor one of logs, or it holds no span")


def _spans_of(request: Any) -> Iterator[TraceSpan]:
    for span in (s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans):
        if span.span_id:
            yield TraceSpan(
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex() or None,
                name=span.name.replace("\0", NUL),
                start=span.start_time_unix_nano or None,
                end=span.end_time_unix_nano or None,
                attributes=_of_pairs(span.attributes),
                events=[Happening(e.name, _of_pairs(e.attributes), None, e.time_unix_nano) for e in span.events],
                failed=_failed(span.status.code),
                status=span.status.message.replace("\0", NUL) or None,
            )


def _logs_of(request: Any) -> Iterator[TraceSpan]:
    for log in (x for r in request.resource_logs for scope in r.scope_logs for x in scope.log_records):
        if log.span_id:
            attributes = _of_pairs(log.attributes)
            name = log.event_name or attributes.get("event.name")
            time = log.time_unix_nano or log.observed_time_unix_nano or None
            event = Happening(name if isinstance(name, str) else "", attributes, _of_value(log.body), time)
            yield told(log.trace_id.hex(), log.span_id.hex(), event)


def _of_pairs(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key.replace("\0", NUL): _of_value(pair.value) for pair in pairs}


def _of_value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    inner = getattr(value, kind)
    if kind == "array_value":
        return [_of_value(item) for item in inner.values]
    if kind == "kvlist_value":
        return _of_pairs(inner.values)
    if kind == "string_value":
        return inner.replace("\0", NUL)
    return base64.b64encode(inner).decode() if kind == "bytes_value" else inner


# ---------------------------------------------------------------- times, batches


def nanoseconds(value: Any) -> int | None:
    """A whole number that may be written as text; null where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value == value and abs(value) < 2**62:
        return int(value)
    if isinstance(value, str) and len(value) < 20:
        try:
            return int(value)
        except ValueError:
            return None
    return None


def iso(time: int | None) -> str | None:
    """Nanoseconds since 1970 as ISO 8601 with microseconds; null where no clock says that."""
    if time is None or not 0 < time < 2**63:
        return None
    micros = time // 1000
    days, micros = divmod(micros, 86_400_000_000)
    seconds, micros = divmod(micros, 1_000_000)
    return f"{_date(days)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}Z"


@lru_cache(maxsize=1024)
def _date(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days)).isoformat()


def joined(spans: Iterable[TraceSpan]) -> dict[str, list[TraceSpan]]:
    """Trace id -> its spans, each once: what several batches or log records tell of one span is put together."""
    traces: dict[str, dict[str, TraceSpan]] = {}
    for at, span in enumerate(spans):
        span.at = at
        trace = traces.setdefault(span.trace_id, {})
        known = trace.get(span.span_id) if span.span_id else None
        if known is None:
            trace[span.span_id or f"({at})"] = span
        else:
            _merge(known, span)
    return {trace_id: list(trace.values()) for trace_id, trace in traces.items()}


def _merge(known: TraceSpan, more: TraceSpan) -> None:
    """Put what a second export of a span tells into the first."""
    known.attributes |= more.attributes
    known.events += [event for event in more.events if event not in known.events]
    for field in ("parent_id", "name", "start", "end", "failed", "status"):
        if getattr(known, field) in (None, ""):
            setattr(known, field, getattr(more, field))
