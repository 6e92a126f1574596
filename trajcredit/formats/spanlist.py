"""Spans as programs export them without an envelope: lists, JSONL, data frames -> the flat list of OTLP's spans."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trajcredit.formats.otlp import Happening, TraceSpan, nanoseconds

__all__ = ["instant", "is_span", "of_object"]

SPAN_IDS = ("span_id", "spanId", "context.span_id")
TRACE_IDS = ("trace_id", "traceId", "context.trace_id")
PARENTS = ("parent_span_id", "parentSpanId", "parent_id", "parentId")
STARTS = ("start_time_unix_nano", "startTimeUnixNano", "start_time", "startTime")
ENDS = ("end_time_unix_nano", "endTimeUnixNano", "end_time", "endTime")
EVENTS = ("events", "span_events")
OF_FRAME = "attributes."
"""Before the names of attributes, where each is a column."""


def is_span(fields: Mapping[str, Any]) -> bool:
    """Whether an object with these keys is a span."""
    keys = fields.keys()
    has_id = not keys.isdisjoint((*SPAN_IDS, "context"))
    return has_id and ("attributes" in keys or any(key.startswith(OF_FRAME) for key in keys))


def of_object(value: dict[str, Any]) -> TraceSpan:
    """The span that an object is; ids keep the form they have."""
    context = value.get("context")
    ids = context if isinstance(context, dict) else {}
    attributes = _attributes(value.get("attributes"))
    columns = {key.removeprefix(OF_FRAME): item for key, item in value.items() if key.startswith(OF_FRAME)}
    attributes |= {key: item for key, item in columns.items() if item is not None}
    kind = value.get("span_kind")
    if isinstance(kind, str) and kind.isupper() and "_" not in kind:  # Phoenix keeps OpenInference's kind outside
        attributes.setdefault("openinference.span.kind", kind)
    status = value.get("status")
    code, message = value.get("status_code"), value.get("status_message")
    if isinstance(status, dict):
        code = status.get("code", status.get("status_code"))
        message = status.get("message", status.get("description"))
    elif isinstance(status, str):
        code = status
    return TraceSpan(
        trace_id=_id(_first(value, TRACE_IDS) or ids.get("trace_id") or ids.get("traceId")),
        span_id=_id(_first(value, SPAN_IDS) or ids.get("span_id") or ids.get("spanId")),
        parent_id=_id(_first(value, PARENTS)) or None,
        name=value["name"] if isinstance(value.get("name"), str) else "",
        start=_clock(value, STARTS),
        end=_clock(value, ENDS),
        attributes=attributes,
        events=[event for event in map(_event, _list(_first(value, EVENTS))) if event is not None],
        failed=_failed(code),
        status=message if isinstance(message, str) and message else None,
    )


def _clock(value: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    """The first time there is; a key that says nanoseconds is taken at its word."""
    for key in keys:
        if (found := value.get(key)) is not None:
            return nanoseconds(found) if "nano" in key.lower() else instant(found)
    return None


def instant(value: Any) -> int | None:
    """A time as nanoseconds since 1970: ISO 8601, or an epoch in seconds, milli-, micro- or nanoseconds."""
    if isinstance(value, str) and not value.isdigit():
        try:
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
            since = time - datetime(1970, 1, 1, tzinfo=UTC)
        except (ValueError, OverflowError):
            return None
        return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
    if isinstance(value, float):
        scale = _scale(value)
        return int(value * scale) if scale is not None else None
    number = nanoseconds(value)
    scale = None if number is None else _scale(number)
    return None if number is None or scale is None else number * scale


def _scale(number: float) -> int | None:
    """The nanoseconds of a unit in which the number would be a time."""
    for most, scale in SCALES:
        if abs(number) < most:
            return scale
    return None


SCALES = ((1e11, 10**9), (1e14, 10**6), (1e16, 10**3), (2.0**63, 1))
"""Numbers below -> nanoseconds a unit: seconds until the year 5138, then milliseconds, and so forth."""


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes by name; some writers list them as pairs, and data frames nest those of a list."""
    if isinstance(value, dict):
        flat: dict[str, Any] = {}
        for key, inner in value.items():
            _flatten(str(key), inner, flat, 0)
        return flat
    pairs = [item for item in _list(value) if isinstance(item, dict) and isinstance(item.get("key"), str)]
    return {item["key"]: _untagged(item.get("value")) for item in pairs}


def _flatten(key: str, value: Any, flat: dict[str, Any], depth: int) -> None:
    """Nested objects as dotted keys, up to where a value is a message itself."""
    if isinstance(value, dict) and value and depth < 8 and _is_namespace(key):
        for inner, item in value.items():
            _flatten(f"{key}.{inner}", item, flat, depth + 1)
    else:
        flat[key] = value


def _is_namespace(key: str) -> bool:
    return key.split(".")[0] in NAMESPACES


NAMESPACES = ("gen_ai", "llm", "openinference", "input", "output", "tool", "tool_call", "session", "agent")


def _untagged(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        tag, inner = next(iter(value.items()))
        if tag == "intValue":
            return nanoseconds(inner)
        if tag in ("stringValue", "boolValue", "doubleValue"):
            return inner
    return value


def _event(value: Any) -> Happening | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    time = instant(_first(value, ("time_unix_nano", "timeUnixNano", "timestamp", "time")))
    return Happening(value["name"], _attributes(value.get("attributes")), value.get("body"), time)


def _failed(code: Any) -> bool | None:
    word = str(code).rsplit("_", 1)[-1].rsplit(".", 1)[-1].upper()
    return {"2": True, "ERROR": True, "1": False, "OK": False}.get(word)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if (found := value.get(key)) is not None:
            return found
    return None


def _id(value: Any) -> str:
    return value.removeprefix("0x") if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
