"""Branches of one trace share what was sampled before they part: it is trained once, in the first that trains it.

A reader says where a branch parts: its `parent` is the branch that it leaves, and the last span they have in common.
Equal tokens say nothing: answers that were sampled apart may be equal, and each is trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trajcredit.model import Span, Trajectory
from trajcredit.tokens import Aligned, TokenRow, checked

__all__ = ["CONTEXT", "UNKNOWN", "Branches", "left_by"]

CONTEXT = "tokens that an earlier branch of the trace trains are context here"
UNKNOWN = "what a branch shares is not said, or the branch that it leaves is not here: all of it is trained"

Origin: TypeAlias = tuple[str, int]
"""The first trajectory that has a span, and the span's index in it."""
Place: TypeAlias = tuple[int | None, int]
"""Which message a span is of, and which of that message's spans it is: alike in all branches that share the message."""


@dataclass(frozen=True, slots=True)
class _Met:
    places: dict[Place, int]
    """Place -> span."""
    origins: dict[int, Origin]
    """Of the spans that an earlier branch has."""


class Branches:
    """Remembers one trace; its trajectories come one after the other."""

    def __init__(self) -> None:
        self._met: dict[str, _Met] = {}
        self._trained: set[Origin] = set()

    def meet(self, trajectory: Trajectory) -> None:
        """The next trajectory of the export, also one that is left out: later branches may leave it."""
        left = self._left_by(trajectory)
        if left is None:
            self._met, self._trained = {}, set()
        origins = {} if left is None else self._shared(trajectory, left)
        self._met[trajectory.id] = _Met(_places(trajectory.spans), origins)

    def own(self, trajectory: Trajectory, aligned: Aligned) -> Aligned:
        """The same, with mask 0 on what an earlier branch trains, and without rows that then train nothing:
        what is left is numbered anew, since whoever reads a file takes a gap for a lost row."""
        if trajectory.parent is None or left_by(trajectory) is None:
            return aligned
        origins = self._met[trajectory.id].origins
        known = self._left_by(trajectory) is not None and trajectory.parent.span is not None
        notes = aligned.notes if known else (*aligned.notes, UNKNOWN)
        gone = {span for span, origin in origins.items() if origin in self._trained}
        rows = tuple(_without(row, gone) for row in aligned.rows)
        if any(row is not before for row, before in zip(rows, aligned.rows, strict=True)):
            notes = (*notes, CONTEXT)
        kept = [row for row in rows if row.trained]
        return replace(aligned, rows=tuple(checked(replace(row, row=i)) for i, row in enumerate(kept)), notes=notes)

    def keep(self, trajectory: Trajectory, rows: Sequence[TokenRow]) -> None:
        """These rows are in the file: what they train, no later branch does."""
        origins = self._met[trajectory.id].origins
        for row in rows:
            self._trained |= {origins.get(own.span, (trajectory.id, own.span)) for own in row.spans}

    def _left_by(self, trajectory: Trajectory) -> str | None:
        """The branch of this trace that a trajectory leaves."""
        left = left_by(trajectory)
        return left if left in self._met else None

    def _shared(self, trajectory: Trajectory, left: str) -> dict[int, Origin]:
        """The spans up to the last that is in both, by their messages."""
        assert trajectory.parent is not None
        other = self._met[left]
        last = next((place for place, span in other.places.items() if span == trajectory.parent.span), None)
        if last is None or last[0] is None:
            return {}
        found: dict[int, Origin] = {}
        for place, span in _places(trajectory.spans).items():
            twin = other.places.get(place)
            if twin is not None and place[0] is not None and place[0] <= last[0]:
                found[span] = other.origins.get(twin, (left, twin))
        return found


def left_by(trajectory: Trajectory) -> str | None:
    """The trajectory of the same trace that a branch leaves; None of what is no branch."""
    branched = any(note.code == "branched" for note in trajectory.report)
    return trajectory.parent.trajectory if branched and trajectory.parent is not None else None


def _places(spans: Sequence[Span]) -> dict[Place, int]:
    seen = Counter[int | None]()
    found: dict[Place, int] = {}
    for i, span in enumerate(spans):
        found[span.message_index, seen[span.message_index]] = i
        seen[span.message_index] += 1
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
