"""Opinions as rows: what a judge said of one trajectory, written and read again, a line of JSON each."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from trajcredit.batching import Finding
from trajcredit.errors import InputError, ParseError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Basis, Case, Scale, Segment, Verdict
from trajcredit.model import ACTION_KINDS, Trajectory, body

__all__ = [
    "SCHEMA",
    "Fault",
    "Judged",
    "Opinion",
    "Refused",
    "decoded",
    "digest",
    "encoded",
    "fitted",
    "lines",
    "named",
    "opened",
    "opinion",
    "read",
    "wrong",
]

SCHEMA = "trajcredit.opinion/1"
RANGE: dict[Scale, tuple[float, float]] = {"state": (0.0, 1.0), "credit": (-1.0, 1.0)}


class Judged(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is said of one segment; positions in its trajectory."""

    actions: list[int]
    spans: list[int]
    score: float | None = None
    reason: str = ""


class Fault(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One finding; `span` is a position in the trajectory."""

    span: int
    rule: str
    reason: str
    severity: float


class Opinion(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="schema",
    tag=SCHEMA,
):
    """A row: one judge on one trajectory.

    `digest` is of the spans that were judged: where it is another one now, the opinion is of something else. `missing`
    says why the trajectory could not be judged to the end; no score counts then.
    """

    trajectory_id: str
    digest: str | None = None
    judge: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    scale: Scale
    model: str | None = None
    prompt_version: str | None = None
    fingerprint: str | None = None
    start: float = 0.0
    segments: list[Judged] = []
    findings: list[Fault] = []
    missing: str | None = None


_decoder = msgspec.json.Decoder(Opinion)


class Refused(ParseError):  # noqa: N818 - a row, named as the others are
    """A row that is none; its trajectory, where that can be told."""

    def __init__(self, reason: str, file: str, line: int, trajectory_id: str | None) -> None:
        super().__init__(reason, file, line)
        self.trajectory_id = trajectory_id


def digest(trajectory: Trajectory) -> str:
    """What a judge reads of a trajectory, as a hash (32 hex): rewards that come later change nothing of it."""
    spans = [(s.kind, s.turn, s.agent, s.name, body(s), s.result_of, s.error) for s in trajectory.spans]
    tools = sorted((one.name, msgspec.json.encode(one, order="sorted")) for one in trajectory.tools)
    return sha256(msgspec.json.encode((spans, tools))).hexdigest()[:32]


def opinion(judge: str, scale: Scale, basis: Basis, case: Case, verdict: Verdict) -> Opinion:
    """The row of a verdict."""
    trajectory = case.graph.trajectory
    reasons = verdict.reasons or ("",) * len(case.segments)
    judged = verdict.missing is None
    return Opinion(
        trajectory_id=trajectory.id,
        digest=digest(trajectory),
        judge=judge,
        scale=scale,
        model=basis.model,
        prompt_version=basis.prompt_version,
        fingerprint=basis.fingerprint,
        start=verdict.start if judged else 0.0,
        segments=[
            Judged(list(segment.actions), list(segment.spans), score, reason)
            for segment, score, reason in zip(case.segments, verdict.scores, reasons, strict=True)
        ]
        if judged
        else [],
        findings=[Fault(one.span, one.rule, one.reason, one.severity) for one in verdict.findings] if judged else [],
        missing=verdict.missing,
    )


def encoded(row: Opinion) -> bytes:
    """One line of JSON, without the line feed."""
    return msgspec.json.encode(row)


def decoded(line: bytes) -> Opinion:
    """The row of a line; InputError names the field that does not belong."""
    try:
        row = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"expected a row of {SCHEMA}: {error}") from error
    found = wrong(row.scale, row.start, [one.score for one in row.segments], [one.severity for one in row.findings])
    if found is not None:
        raise InputError(found)
    return row


def read(path: Path) -> Iterator[Opinion | Refused]:
    """The rows of a file, an error in the place of a line that is none."""
    for number, line in lines(path):
        try:
            yield decoded(line)
        except InputError as error:
            yield Refused(str(error), str(path), number, named(line))


def named(line: bytes) -> str | None:
    """The trajectory of a row that is none, where it can be told."""
    try:
        row = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        return None
    name = row.get("trajectory_id") if isinstance(row, dict) else None
    return name if isinstance(name, str) else None


def fitted(row: Opinion, graph: SpanGraph) -> tuple[Case, Verdict] | str:
    """The row as a case and its verdict, or why it is not about this trajectory as it is."""
    spans = graph.trajectory.spans
    if row.digest is not None and row.digest != digest(graph.trajectory):
        return "the trajectory is not the one that was judged: its spans have changed"
    if row.missing is not None:
        return row.missing
    segments, taken = list[Segment](), set[int]()
    for one in row.segments:
        if not one.actions or sorted({*one.spans}) != one.spans or not {*one.actions} <= {*one.spans}:
            return "a segment needs actions, and spans in ascending order that contain them"
        if one.spans[0] < 0 or one.spans[-1] >= len(spans):
            return f"it speaks of span {one.spans[-1]}, and there are {len(spans)} spans"
        if any(spans[i].kind not in ACTION_KINDS for i in one.actions):
            return f"it scores span {one.actions[0]}, which is no action"
        if taken & {*one.spans}:
            return "a span is in two segments"
        taken |= {*one.spans}
        segments.append(Segment(tuple(one.actions), tuple(one.spans)))
    if any(not 0 <= one.span < len(spans) for one in row.findings):
        return "it finds a fault at a span that is not there"
    order = sorted(range(len(segments)), key=lambda k: segments[k].actions[-1])
    found = tuple(Finding(one.span, one.rule, one.reason, one.severity) for one in row.findings)
    reasons = tuple(row.segments[k].reason for k in order)
    verdict = Verdict(tuple(row.segments[k].score for k in order), row.start, reasons if any(reasons) else (), found)
    return Case(graph, tuple(segments[k] for k in order)), verdict


def wrong(scale: Scale, start: float, scores: Sequence[object], severities: Sequence[float]) -> str | None:
    """Which number of an opinion is out of range, and what was expected; null where none is."""
    low, high = RANGE[scale]
    for k, score in enumerate(scores):
        if score is not None and not (isinstance(score, int | float) and low <= score <= high):  # NaN is in no range
            return f"segments.{k}.score: expected a number from {low:g} to {high:g}, found {score!r}"
    if not (isfinite(start) and 0 <= start <= (1 if scale == "state" else 0)):
        return f"start: expected a number from 0 to 1, and 0 on the scale credit; found {start!r}"
    for k, severity in enumerate(severities):
        if not 0 <= severity <= 1:
            return f"findings.{k}.severity: expected a number from 0 to 1, found {severity!r}"
    return None


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each line that is not empty, a byte order mark left out; InputError as `opened`."""
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(BOM_UTF8) if number == 1 else line
            if text.strip():
                yield number, text


def opened(path: Path) -> BinaryIO:
    """The file, to be read; InputError where it cannot be."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read the opinions {path}: {error.strerror or error}") from error
