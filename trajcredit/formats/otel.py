"""Documents of OpenTelemetry spans, whatever their envelope -> trajectories: what the readers of its dialects share.

| note | says |
| --- | --- |
| `twin-spans` | spans that differ in nothing but their id were logged twice: read once |
| `joined-files` | spans of a trace lie in several files of the folder: they are read together |
| `other-traces` | traces in the same log hold no agent's work: left out |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.dialects import is_known, step_of
from trajcredit.formats.document import Document, parsed
from trajcredit.formats.episodes import trajectories_of
from trajcredit.formats.otel_folder import spread
from trajcredit.formats.otlp import ENVELOPES, TraceSpan, from_json, from_protobuf, joined
from trajcredit.formats.repeated import Reading
from trajcredit.formats.spanlist import is_span, of_object
from trajcredit.formats.split import Bytes
from trajcredit.formats.steps import Trace
from trajcredit.model import Note, Trajectory

__all__ = ["holds", "is_export", "read_spans", "told", "trace_of"]

LISTS = ("spans", "data")
"""Keys that some writers put around a list of spans."""
WORDS = (b"openinference.span.kind", b"gen_ai.", b"traceloop.", b"ai.operationId")
"""Beginnings of attributes by which a list of spans is known as that of an agent."""
LENGTH_DELIMITED = 0x0A
"""The first byte of an export request in protobuf: its first field, with a length."""

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, Any])
_list = msgspec.json.Decoder(list[dict[str, Any]])
_sorted = msgspec.json.Encoder(order="sorted")


def is_export(document: Document) -> bool:
    """Whether the document is an envelope of OTLP, or its objects are spans."""
    if document.first is None:
        return document.shape == "other" and _is_protobuf(document.data)
    if document.keys & ENVELOPES or is_span(document.first.fields):
        return "rollout_id" not in document.keys  # those of Agent Lightning have a reader of their own
    key = next((key for key in LISTS if key in document.keys), None)
    inner = document.peek(key) if key is not None else None
    return isinstance(inner, list) and bool(inner) and isinstance(inner[0], dict) and is_span(inner[0])


def holds(document: Document, *words: bytes) -> bool:
    """Whether any of the words stands in the bytes of the document."""
    return any(word in document.data for word in words)


def _is_protobuf(data: bytes) -> bool:
    """Whether the bytes are fields 1 with a length each, to the last byte, as an export request is."""
    at = 0
    while at < len(data):
        if data[at] != LENGTH_DELIMITED:
            return False
        length = shift = 0
        while True:
            at += 1
            if at >= len(data) or shift > 35:
                return False
            length |= (data[at] & 0x7F) << shift
            shift += 7
            if data[at] < 0x80:
                break
        at += 1 + length
    return at == len(data) and at > 0


def read_spans(document: Document, format: str) -> Iterator[Trajectory | ParseError]:
    """The trajectories of all traces in a document, whose spans may lie in any order, in several records and files."""
    try:
        spans, notes, errors = _with_log_records(document, document)
    except SkippedFile as error:
        yield error
        return
    broken = bool(errors)
    yield from errors
    where = spread(document, {span.trace_id for span in spans if span.trace_id and not _is_told(span)}, _traces_in)
    for name, traces in sorted(where.more.items()):
        file = document.beside(name)
        more, others, _ = _with_log_records(file, document) if file is not None else NOTHING  # its errors come with it
        spans += [span for span in more if span.trace_id in traces]
        notes += others
    if where.more:
        files = ", ".join(sorted(where.more))
        notes.append(Note("joined-files", f"spans of its traces lie in {files} too: read together"))
    if where.unread:
        files = ", ".join(where.unread)
        notes.append(Note("companion-missing", f"not looked at for more spans, damaged or too large: {files}"))
    if where.elsewhere:
        spans = [span for span in spans if span.trace_id not in where.elsewhere]
        files, count = ", ".join(sorted(set(where.elsewhere.values()))), len(where.elsewhere)
        what = f"{count} trace{'s'[: count > 1]} of it began in {files}"
        yield SkippedFile(f"{what}: read with that", document.place)
        if not spans:
            return
    yield from _of_traces(document, format, spans, notes, broken)


Found: TypeAlias = tuple[list[TraceSpan], list[Note], list[ParseError]]
NOTHING: Found = ([], [], [])


def _with_log_records(document: Document, folder: Document) -> Found:
    """The spans of a file, with the log records in the file beside it; SkippedFile where it is these itself.

    `folder` is the document, or another of the same folder that knows what lies around it.
    """
    spans, notes, errors = _all_spans(document)
    try:
        beside = folder.beside(*_companions(document.name)) if spans else None
    except ParseError as error:
        return spans, notes, [*errors, error]
    if beside is None or not is_export(beside):
        return spans, notes, errors
    others, more, further = _all_spans(beside)
    if all(map(_is_told, spans)) and not all(map(_is_told, others)):
        raise SkippedFile(f"its log records belong to the spans in {beside.name}: read with those", document.place)
    if all(map(_is_told, others)):
        return spans + others, notes + more, errors + further
    return spans, notes, errors + further


def _traces_in(document: Document) -> frozenset[str]:
    """The traces that a file has spans of, if a reader of spans takes it."""
    known = document.keys & ENVELOPES or document.shape == "other" or holds(document, *WORDS)
    if not known or not is_export(document):
        return frozenset()
    spans, _, _ = _all_spans(document)
    return frozenset(span.trace_id for span in spans if not _is_told(span))


def _companions(name: str) -> Iterator[str]:
    """What a file may be called that has the log records of these spans, or the spans of these log records."""
    file = PurePosixPath(name).name
    for spans, logs in (("traces", "logs"), ("trace", "log"), ("spans", "logs")):
        for word, other in ((spans, logs), (logs, spans)):
            if word in file:
                yield file.replace(word, other)


def _is_told(span: TraceSpan) -> bool:
    """Whether only log records tell of a span."""
    return not span.name and span.start is None


def _all_spans(document: Document) -> Found:
    """The spans of every record, what was mended in them, and what could not be read."""
    spans: list[TraceSpan] = []
    notes: list[Note] = []
    errors: list[ParseError] = []
    if document.shape == "other":
        try:
            spans = from_protobuf(document.data)
        except InputError as error:
            errors.append(document.error(str(error)))
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            (found, broken), mended = parsed(document, record, _spans_of)
            spans += found
            errors += [document.error(reason, record) for reason in broken]
            notes += mended
        except ParseError as error:
            errors.append(error)
    return spans, notes, errors


def _spans_of(data: Bytes) -> tuple[list[TraceSpan], list[str]]:
    """The spans of one record, and what is wrong with those that are none."""
    if bytes(memoryview(data)[:64]).lstrip().startswith(b"["):
        return [of_object(value) for value in _list.decode(data)], []
    fields = _fields.decode(data)
    if fields.keys() & ENVELOPES:
        return from_json(data)
    key = next((key for key in LISTS if key in fields and not is_span(fields)), None)
    if key is not None:
        return [of_object(value) for value in _list.decode(fields[key])], []
    if not is_span(fields):
        raise msgspec.ValidationError("Object is no span: `span_id` and `attributes` are expected")
    return [of_object(_object.decode(data))], []


def _of_traces(
    document: Document, format: str, spans: list[TraceSpan], notes: list[Note], broken: bool
) -> Iterator[Trajectory | ParseError]:
    traces = joined(spans)
    known = {name: trace for name, trace in traces.items() if any(map(is_known, trace))}
    if not known and (traces or not broken):  # else it was said what is wrong
        yield SkippedFile("no log: no span in it is a request to a model, a tool or an agent", document.place)
    if 0 < len(known) < len(traces):
        others = len(traces) - len(known)
        notes.append(Note("other-traces", f"{others} traces hold no request to a model, no tool and no agent"))
    reading = Reading()
    named = ((name or document.name, partial(trace_of, name or document.name, t, reading)) for name, t in known.items())
    yield from told(document, format, named, len(known), notes)


def told(
    document: Document, format: str, traces: Iterable[tuple[str, Callable[[], Trace]]], count: int, notes: list[Note]
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of so many traces, or errors in their places; the notes on the log go to the first.

    Their data set is their own, else the file where it holds several traces, else its folder.
    """
    origin = document.origin_of(format, None)
    rest = notes
    for name, build in traces:
        try:
            found = trajectories_of(build())
        except InputError as error:
            yield document.error(f"trace {name}: {error}")
            continue
        for trajectory in found:
            dataset = trajectory.dataset or document.given_dataset
            if dataset is None:
                dataset = document.name if count > 1 else document.dataset_of(None)
            yield replace(trajectory, dataset=dataset, source=origin, report=[*rest, *trajectory.report])
            rest = []


def trace_of(name: str, spans: list[TraceSpan], reading: Reading) -> Trace:
    """The trace that spans make: each span a step."""
    spans, twins = _without_twins(spans)
    steps = [step_of(span, reading) for span in spans]
    said = [Note(code, sentence) for step in steps for code, sentence in step.notes]
    doubled = [Note("twin-spans", f"{twins} spans were logged twice under another id: read once")] if twins else []
    rewards = [reward for step in steps if step.kind in ("agent", "other") for reward in step.rewards]
    return Trace(id=name, steps=steps, rewards=rewards, notes=[*doubled, *said])


def _without_twins(spans: list[TraceSpan]) -> tuple[list[TraceSpan], int]:
    """The spans without those that differ from an earlier one in their id alone; children go to the one kept."""
    alike: dict[tuple[Any, ...], list[TraceSpan]] = {}
    for span in spans:
        if span.start is not None and span.end is not None and is_known(span):
            alike.setdefault((span.parent_id, span.name, span.start, span.end), []).append(span)
    same: dict[str, str] = {}
    for group in (group for group in alike.values() if len(group) > 1):
        first: dict[bytes, str] = {}
        for span in group:
            said = _sorted.encode((span.attributes, span.events))
            if (kept := first.setdefault(said, span.span_id)) != span.span_id:
                same[span.span_id] = kept
    kept_ones = [span for span in spans if span.span_id not in same]
    for span in kept_ones:
        span.parent_id = same.get(span.parent_id, span.parent_id) if span.parent_id is not None else None
    return kept_ones, len(same)
