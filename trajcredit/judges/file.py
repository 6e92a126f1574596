"""Opinions from a file: rows that `trajcredit judge` wrote, or scores that someone else computed."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, TypeAlias, get_args

import msgspec
import numpy as np

from trajcredit.batching import Batch
from trajcredit.errors import InputError, ParseError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Basis, Case, Means, Scale, Verdict
from trajcredit.judges.columns import deltas, scores_after, with_verdicts
from trajcredit.judges.opinions import SCHEMA, Opinion, Refused, fitted, lines, read
from trajcredit.judges.simple import Simple, verdict_of
from trajcredit.judges.simple import read as read_simple
from trajcredit.model import Note
from trajcredit.registry import judges

__all__ = ["File", "Opinions", "load"]

Fitted: TypeAlias = "tuple[Case, Verdict] | str"

ROUNDING = 1e-9
"""How far sums of shares may be outside the scale."""
_log = logging.getLogger(__name__)

MOST_NAMED = 5
"""Rows that an error names; the others are counted."""
_MIXED = "its opinions are of several versions of the judge (model, prompt or fingerprint): they may not compare"


@dataclass(frozen=True, slots=True)
class Opinions:
    """What a file says: of one judge, on one scale, by trajectory."""

    file: str
    judge: str
    scale: Scale
    of: dict[str, tuple[Opinion, ...] | list[Simple]]
    """Whole opinions, of which one that could not be given may be followed by one that could; or scores of spans."""
    errors: tuple[ParseError, ...] = ()
    broken: Mapping[str, int | None] = field(default_factory=dict)
    """Trajectories that a row is about which could not be read, and its line: what it says of which span is unknown."""

    def fit(self, graph: SpanGraph, shared: frozenset[str] = frozenset()) -> Fitted:
        """What the file says of a trajectory, or why it is not judged; `shared` are ids that several logs had."""
        name = graph.trajectory.id
        if name in self.broken:
            return f"line {self.broken[name]} is about it, and cannot be read"
        rows = self.of.get(name)
        if not rows:
            return "there is no opinion of it"
        if name in shared and not all(isinstance(row, Opinion) and row.digest for row in rows):
            return f"several logs have the id {name!r}, and nothing in the file says which it means"
        if isinstance(rows, list):
            return verdict_of(rows, graph, self.scale)
        judged = [row for row in rows if row.missing is None]
        if len(judged) > 1:
            return "there are two opinions of it"
        return fitted(judged[0] if judged else rows[-1], graph)

    def on(self, batch: Batch) -> Batch:
        """The batch with the columns of `with_verdicts`, joined by the ids of trajectories.

        What does not fit is not judged, and notes say why; notes also name rows that are about nothing in the batch.
        InputError where the batch has no graphs, or no row is about anything in it.
        """
        if batch.graphs is None:
            raise InputError(f"{self.file}: opinions are joined by spans, and this batch was loaded without them")
        here, shared = set(batch.trajectory_ids), _shared(batch.graphs)
        unread = self.unread(here)
        cases, verdicts = list[Case](), list[Verdict | None]()
        for graph in batch.graphs:
            found = self.fit(graph, shared)
            case, verdict = (Case(graph, ()), Verdict((), 0.0, missing=found)) if isinstance(found, str) else found
            cases.append(case)
            verdicts.append(verdict)
        said = [Note("opinions", str(error)) for error in self.errors]
        if unread is not None:
            said.append(Note("opinions", unread))
        if len(self._bases(here)) > 1:
            said.append(Note("opinions", f"{self.file}: {_MIXED}"))
        filled = with_verdicts(batch, self.judge, self.scale, cases, verdicts)
        return replace(filled, notes=(*filled.notes, *said))

    def unread(self, here: set[str]) -> str | None:
        """Which opinions are of trajectories that are not here, in a sentence; InputError where all are."""
        unknown = [name for name in self.of if name not in here]
        if self.of and len(unknown) == len(self.of):
            raise InputError(f"{self.file}: no opinion is about a trajectory that was read; the first: {unknown[0]!r}")
        more = f", and {len(unknown) - 1} more" if unknown[1:] else ""
        return f"{self.file}: opinions of what was not read: {unknown[0]!r}{more}" if unknown else None

    def _bases(self, here: set[str]) -> set[tuple[str | None, ...]]:
        """What opinions of these trajectories rest on."""
        rows = (row for name, rows in self.of.items() if name in here for row in rows if isinstance(row, Opinion))
        return {(row.model, row.prompt_version, row.fingerprint) for row in rows if row.missing is None}


def load(path: Path, scale: Scale | None = None) -> Opinions:
    """The opinions of a file; rows that cannot be read are among its `errors`.

    `scale` is that of rows which do not say it; none = credit. InputError where the file cannot be read, holds several
    judges or scales, or no row at all.
    """
    rows: list[Opinion | Simple | ParseError]
    if _holds_opinions(path):
        said, rows = scale, list(read(path))
    else:
        said, rows = read_simple(path, scale)  # type: ignore[assignment]  # a list of fewer kinds of rows
    errors = tuple(row for row in rows if isinstance(row, ParseError))
    good = [row for row in rows if not isinstance(row, ParseError)]
    if not good:
        raise errors[0] if errors else InputError(f"{path}: no opinions in it")
    whole, single = defaultdict[str, list[Opinion]](list), defaultdict[str, list[Simple]](list)
    for row in good:
        if isinstance(row, Simple):
            single[row.trajectory_id].append(row)
        else:
            whole[row.trajectory_id].append(row)
    broken = {one.trajectory_id: one.line for one in errors if isinstance(one, Refused) and one.trajectory_id}
    if single:
        return Opinions(path.name, path.name, said or "credit", dict(single), errors, broken)
    opinions = [row for rows in whole.values() for row in rows]
    for what, found in (("judges", {one.judge for one in opinions}), ("scales", {one.scale for one in opinions})):
        if len(found) > 1:
            raise InputError(f"{path}: opinions of several {what}: {', '.join(sorted(found))}; expected one")
    judge, own = opinions[0].judge, opinions[0].scale
    if scale is not None and scale != own:
        raise InputError(f"{path}: its scores are on the scale {own}, not {scale}: ask for scale={own}")
    return Opinions(path.name, judge, own, {name: tuple(rows) for name, rows in whole.items()}, errors, broken)


@judges.register("file")
@dataclass(frozen=True, slots=True)
class File:
    """Opinions of a file: rows that `trajcredit judge` wrote, or scores that someone else computed.

    They are joined by the ids of trajectories and by spans. Of a segment of several actions each has its equal share.
    docs/judges_files.md has both shapes of rows.
    """

    path: str = ""
    """The file: lines of JSON, or CSV."""
    scale: Scale = "credit"
    """Of rows that do not say it: `credit`, -1..1, or `state`, 0..1."""

    segments: ClassVar[str] = "action"
    local: ClassVar[bool] = False
    reads_files: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """InputError names a parameter that does not fit."""
        if self.scale not in get_args(Scale):
            raise InputError(f"judge file: scale must be {' or '.join(get_args(Scale))}, found {self.scale!r}")

    def basis(self, means: Means) -> Basis:
        """The bytes of the file."""
        try:
            return Basis(sha256(self._path().read_bytes() + self.scale.encode()).hexdigest()[:12])
        except OSError as error:
            raise InputError(f"cannot read the opinions {self.path}: {error.strerror or error}") from error

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        """What the file says of each.

        InputError where it is on another scale than this judge, a row is none, or none is about any of them.
        """
        found = load(self._path(), self.scale)
        if found.errors:  # a verdict has no place to say that some of what the file holds was left out
            more = f"; and {len(found.errors) - MOST_NAMED} more" if len(found.errors) > MOST_NAMED else ""
            raise InputError("; ".join(map(str, found.errors[:MOST_NAMED])) + more)
        every = list(cases)
        shared = _shared([case.graph for case in every])
        unread = found.unread({case.graph.trajectory.id for case in every})
        if unread is not None:
            _log.warning("%s", unread)
        for case in every:
            if means.stopped():
                return
            yield _on_actions(case, found.fit(case.graph, shared), self.scale)

    def _path(self) -> Path:
        if not self.path:
            raise InputError("judge file: path= names the file")
        return Path(self.path)


def _on_actions(case: Case, found: Fitted, scale: Scale) -> Verdict:
    """The verdict for segments of one action each."""
    if isinstance(found, str):
        return Verdict((None,) * len(case.segments), 0.0, missing=found)
    own, verdict = found
    if own.segments == case.segments:
        return verdict
    after, did, why = scores_after(own, verdict, scale), dict[int, float](), dict[int, str]()
    for k, (one, moved) in enumerate(zip(own.segments, deltas(verdict, scale), strict=True)):
        did.update(dict.fromkeys(one.actions, moved / len(one.actions)))
        why[one.actions[-1]] = verdict.reasons[k] if verdict.reasons else ""
    actions = [segment.actions[0] for segment in case.segments]
    known = [not np.isnan(after[i]) for i in actions]
    if scale == "state":
        if np.nanmin(after, initial=0.0) < -ROUNDING or np.nanmax(after, initial=1.0) > 1.0 + ROUNDING:
            why_not = "its segments lie within one another, and the shares of their actions are no states from 0 to 1"
            return Verdict((None,) * len(case.segments), 0.0, missing=why_not)
        after = np.clip(after, 0.0, 1.0)
    scores = [float(after[i]) if scale == "state" else did.get(i, 0.0) for i in actions]
    return replace(
        verdict,
        scores=tuple(score if there else None for score, there in zip(scores, known, strict=True)),
        reasons=tuple(why.get(i, "") for i in actions) if any(why.values()) else (),
    )


def _holds_opinions(path: Path) -> bool:
    """Whether the first line that is an object has their schema, or another one and no score of a span."""
    for _, line in lines(path):
        try:
            row = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            return row.get("schema") == SCHEMA or ("schema" in row and "score" not in row)
    return False


def _shared(graphs: Sequence[SpanGraph]) -> frozenset[str]:
    """Ids that several logs had: reading leaves the first as it is, and gives the others a number."""
    return frozenset(
        graph.trajectory.id.rpartition("#")[0]
        for graph in graphs
        if any(note.code == "duplicate-id" for note in graph.trajectory.report)
    )
