"""Opinions as rows, a JSON object a trajectory and line: verdicts, written so that they are read back bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from trajcredit.batching import Finding
from trajcredit.errors import JudgeError, ParseError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Basis, Case, Scale, Segment, Verdict
from trajcredit.model import Trajectory

__all__ = ["RANGES", "SCHEMA", "Opinion", "digest", "read", "to_row"]

SCHEMA = "trajcredit.opinion/1"
RANGES: dict[Scale, tuple[float, float]] = {"state": (0.0, 1.0), "credit": (-1.0, 1.0)}
"""Scale -> the least and the largest score."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One row: what a judge said of one trajectory, of which nothing but the id and the digest is known here.

    digest  of the trajectory that was judged; null where the row has none
    file    where the row stands, with its line; for messages
    """

    trajectory_id: str
    judge: str
    scale: Scale
    segments: tuple[Segment, ...]
    verdict: Verdict
    basis: Basis
    digest: str | None
    file: str
    line: int

    @property
    def where(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}"


def digest(trajectory: Trajectory) -> str:
    """SHA-256 (hex) of what judges read of a trajectory, and of where its spans are: its spans and declared tools.

    Rewards, groups, tokens, times and usage are no part of it: a reward that comes later changes no opinion.
    """
    spans = [
        (s.kind, s.turn, s.text, s.agent, s.name, s.arguments, s.arguments_raw, s.result_of, s.error)
        for s in trajectory.spans
    ]
    return sha256(msgspec.json.encode((spans, trajectory.tools), order="deterministic")).hexdigest()


def to_row(
    of: SpanGraph | Trajectory, judge: str, scale: Scale, basis: Basis, case: Case, verdict: Verdict
) -> dict[str, Any]:
    """The row of one verdict. JudgeError where that is none: a score out of range, or not one a segment.

    A verdict that is `missing` has no segments, since no score of it counts.
    """
    trajectory = of.trajectory if isinstance(of, SpanGraph) else of
    fault = None if verdict.missing is not None else _fault(case.segments, verdict, scale, len(trajectory.spans))
    if fault is not None:
        raise JudgeError(f"judge {judge}: {trajectory.id!r}: {fault}")
    missing = verdict.missing is not None
    reasons = verdict.reasons or ("",) * len(case.segments)
    judged = () if missing else zip(case.segments, verdict.scores, reasons, strict=True)
    return {
        "schema": SCHEMA,
        "trajectory_id": trajectory.id,
        "digest": digest(trajectory),
        "judge": judge,
        "scale": scale,
        "model": basis.model,
        "prompt_version": basis.prompt_version,
        "fingerprint": basis.fingerprint,
        "start": None if missing else verdict.start,
        "segments": [
            {"actions": list(one.actions), "spans": list(one.spans), "score": score, "reason": reason}
            for one, score, reason in judged
        ],
        "findings": [
            {"span": one.span, "rule": one.rule, "reason": one.reason, "severity": one.severity}
            for one in (() if missing else verdict.findings)
        ],
        "missing": verdict.missing,
    }


def read(path: Path) -> Iterator[Opinion | ParseError]:
    """Every opinion of a file, an error in the place of a line that is none; the others go on.

    ParseError is raised where the file cannot be read at all.
    """
    shown = str(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if text.strip():
                    yield _read(text, shown, number)
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror or error}", shown) from error


class _Segment(msgspec.Struct, forbid_unknown_fields=True):
    actions: list[int]
    spans: list[int]
    score: float | None
    reason: str = ""


class _Finding(msgspec.Struct, forbid_unknown_fields=True):
    span: int
    rule: str
    reason: str
    severity: float


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    trajectory_id: str
    judge: str
    scale: Scale
    fingerprint: str
    segments: list[_Segment]
    start: float | None
    missing: str | None
    findings: list[_Finding] = []
    digest: str | None = None
    model: str | None = None
    prompt_version: str | None = None


class _Schema(msgspec.Struct):
    schema: str | None = None


_decode = msgspec.json.Decoder(_Row).decode
_schema = msgspec.json.Decoder(_Schema).decode


def _read(line: bytes, shown: str, number: int) -> Opinion | ParseError:
    try:
        schema = _schema(line).schema
        if schema != SCHEMA:
            found = "no `schema`" if schema is None else f"schema {schema!r}"
            return ParseError(f"{found}: expected {SCHEMA!r}", shown, number)
        row = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return ParseError(f"no opinion: {error}", shown, number)
    segments = tuple(Segment(tuple(one.actions), tuple(one.spans)) for one in row.segments)
    reasons = tuple(one.reason for one in row.segments)
    verdict = Verdict(
        scores=tuple(one.score for one in row.segments),
        start=0.0 if row.start is None else row.start,
        reasons=reasons if any(reasons) else (),
        findings=tuple(Finding(one.span, one.rule, one.reason, one.severity) for one in row.findings),
        missing=row.missing,
    )
    if row.missing is None:
        fault = "`start` is null: expected a number" if row.start is None else _fault(segments, verdict, row.scale)
        if fault is not None:
            return ParseError(f"{row.trajectory_id!r}: {fault}", shown, number)
    basis = Basis(row.fingerprint, row.model, row.prompt_version)
    return Opinion(row.trajectory_id, row.judge, row.scale, segments, verdict, basis, row.digest, shown, number)


def _fault(segments: Sequence[Segment], verdict: Verdict, scale: Scale, n_spans: int | None = None) -> str | None:
    """What is wrong with a verdict on these segments, of which field; null where nothing is."""
    low, high = RANGES[scale]
    if len(verdict.scores) != len(segments):
        return f"{len(verdict.scores)} scores of {len(segments)} segments"
    if verdict.reasons and len(verdict.reasons) != len(segments):
        return f"{len(verdict.reasons)} reasons of {len(segments)} segments"
    for k, score in enumerate(verdict.scores):
        if score is not None and not low <= score <= high:  # NaN is in no range
            return f"`segments[{k}].score` is {score:g}: expected {low:g} to {high:g} on the scale {scale!r}, or null"
    if not 0.0 <= verdict.start <= (1.0 if scale == "state" else 0.0):
        return f"`start` is {verdict.start:g}: expected {'0 to 1' if scale == 'state' else '0'} on the scale {scale!r}"
    for k, one in enumerate(verdict.findings):
        if one.span < 0 or (n_spans is not None and one.span >= n_spans):
            return f"`findings[{k}].span` is {one.span}: expected a position in the trajectory"
        if not 0.0 <= one.severity <= 1.0:
            return f"`findings[{k}].severity` is {one.severity:g}: expected 0 to 1"
    return _fault_of_segments(segments)


def _fault_of_segments(segments: Sequence[Segment]) -> str | None:
    taken: set[int] = set()
    last = -1
    for k, one in enumerate(segments):
        for name, places in (("actions", one.actions), ("spans", one.spans)):
            if not places or places[0] < 0 or any(a >= b for a, b in pairwise(places)):
                return f"`segments[{k}].{name}` is {list(places)}: expected ascending span positions, one at least"
        if not set(one.actions) <= set(one.spans):
            return f"`segments[{k}].actions` is {list(one.actions)}: expected some of its `spans` {list(one.spans)}"
        if one.actions[-1] <= last:
            return f"`segments[{k}]` ends before the one before it: expected the order of their last actions"
        if not taken.isdisjoint(one.spans):
            return f"`segments[{k}].spans` has {min(taken.intersection(one.spans))}, which is in another segment too"
        taken.update(one.spans)
        last = one.actions[-1]
    return None
