"""Branches of one trace share what was sampled before they part: it is trained once, in the first that trains it.

A reader says where a branch parts, in its note `branched`: the trajectory that it leaves, and the last span they have
in common; or its `parent` says so, where the branch belongs to the outcome of that one too. Equal tokens say nothing:
answers that were sampled apart may be equal, and each is trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from trajcredit.arrays import BOOL, I64
from trajcredit.model import Span, SpawnedBy, Trajectory
from trajcredit.tokens import Aligned, TokenRow, checked

__all__ = ["CONTEXT", "UNKNOWN", "Branches", "left_by"]

CONTEXT = "tokens that an earlier branch of the trace trains are context here"
UNKNOWN = "what a branch shares is not said, or the branch that it leaves is not here: all of it is trained"

Origin: TypeAlias = tuple[str, int]
"""The first trajectory that has a span, and the span's index in it."""
Place: TypeAlias = tuple[int, int]
"""Which message a span is of, and which of that message's spans it is: alike in all branches that share the message."""


@dataclass(slots=True)
class _Met:
    messages: I64
    """Span -> its message; -1 where the log does not say which."""
    trained: BOOL
    """Span -> whether a row of this trajectory trains it, of spans that are no earlier branch's."""
    origins: dict[int, Origin] = field(default_factory=dict)
    """Of the spans that an earlier branch has."""


class Branches:
    """Remembers the trajectories of one export: nine bytes a span, for any may be left by a later one."""

    def __init__(self) -> None:
        self._met: dict[str, _Met] = {}

    def meet(self, trajectory: Trajectory) -> None:
        """The next trajectory of the export, also one that is left out: later branches may leave it."""
        met = _Met(_messages(trajectory.spans), np.zeros(len(trajectory.spans), dtype=bool))
        left = _link(trajectory)
        if left is not None and left.trajectory in self._met:
            met.origins = self._shared(met, left)
        self._met[trajectory.id] = met

    def own(self, trajectory: Trajectory, aligned: Aligned) -> Aligned:
        """The same, with mask 0 on what an earlier branch trains, and without rows that then train nothing:
        what is left is numbered anew, since whoever reads a file takes a gap for a lost row."""
        if not _is_branch(trajectory):
            return aligned
        left = _link(trajectory)
        known = left is not None and left.span is not None and left.trajectory in self._met
        notes = aligned.notes if known else (*aligned.notes, UNKNOWN)
        origins = self._met[trajectory.id].origins
        gone = {span for span, (name, there) in origins.items() if self._met[name].trained[there]}
        rows = tuple(_without(row, gone) for row in aligned.rows)
        if any(row is not before for row, before in zip(rows, aligned.rows, strict=True)):
            notes = (*notes, CONTEXT)
        kept = [row for row in rows if row.trained]
        return replace(aligned, rows=tuple(checked(replace(row, row=i)) for i, row in enumerate(kept)), notes=notes)

    def keep(self, trajectory: Trajectory, rows: Sequence[TokenRow]) -> None:
        """These rows are in the file: what they train, no later branch does."""
        origins = self._met[trajectory.id].origins
        for row in rows:
            for own in row.spans:
                name, span = origins.get(own.span, (trajectory.id, own.span))
                self._met[name].trained[span] = True

    def _shared(self, met: _Met, left: SpawnedBy) -> dict[int, Origin]:
        """The spans up to the last that is in both, by their messages."""
        other = self._met[left.trajectory]
        if left.span is None or not 0 <= left.span < len(other.messages) or other.messages[left.span] < 0:
            return {}
        last = int(other.messages[left.span])
        there = _places(other.messages, last)
        found: dict[int, Origin] = {}
        for place, span in _places(met.messages, last).items():
            if place in there:
                found[span] = other.origins.get(there[place], (left.trajectory, there[place]))
        return found


def left_by(trajectory: Trajectory) -> str | None:
    """The trajectory of the same trace that a branch leaves; None of what is no branch, or does not say."""
    left = _link(trajectory)
    return None if left is None else left.trajectory


def _is_branch(trajectory: Trajectory) -> bool:
    return any(note.code == "branched" for note in trajectory.report)


def _link(trajectory: Trajectory) -> SpawnedBy | None:
    """The branch that a branch leaves, and the last span they share."""
    branched = [note for note in trajectory.report if note.code == "branched"]
    named = [SpawnedBy(note.trajectory, note.span) for note in branched if note.trajectory is not None]
    return named[0] if named else trajectory.parent if branched else None


def _messages(spans: Sequence[Span]) -> I64:
    return np.array([-1 if span.message_index is None else span.message_index for span in spans], dtype=np.int64)


def _places(messages: I64, last: int) -> dict[Place, int]:
    """Where each span of the messages up to this one stands -> the span."""
    seen = Counter[int]()
    found: dict[Place, int] = {}
    for span, message in enumerate(messages.tolist()):
        if 0 <= message <= last:
            found[message, seen[message]] = span
            seen[message] += 1
    return found


def _without(row: TokenRow, gone: set[int]) -> TokenRow:
    """The row, not training these spans."""
    kept = tuple(own for own in row.spans if own.span not in gone)
    if len(kept) == len(row.spans):
        return row
    trained = np.zeros(len(row.response_ids), dtype=bool)
    for own in kept:
        trained[own.start : own.end] = True
    return replace(
        row,
        response_mask=trained.astype(np.uint8),
        advantages=np.where(trained, row.advantages, 0.0),
        logprobs=None if row.logprobs is None else np.where(trained, row.logprobs, 0.0),
        spans=kept,
    )
