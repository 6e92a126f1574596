"""Branches of one trace share what was sampled before they part: it is trained once, in the first of them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from trajcredit.model import Trajectory
from trajcredit.tokens import Aligned, TokenRow, checked

__all__ = ["CONTEXT", "Branches"]

CONTEXT = "tokens that an earlier branch of the trace trains are context here"
_BRANCH = re.compile(r":branch-\d+$")


class Branches:
    """Keeps the rows of the trace that is being written; its trajectories come one after the other."""

    def __init__(self) -> None:
        self._trace = ""
        self._seen: list[TokenRow] = []

    def own(self, trajectory: Trajectory, aligned: Aligned) -> Aligned:
        """The same, with mask 0 on what an earlier branch trains, and without rows that then train nothing."""
        branch = any(note.code == "branched" for note in trajectory.report)
        trace = _BRANCH.sub("", trajectory.id) if branch else trajectory.id
        if trace != self._trace:
            self._trace, self._seen = trace, []
        rows = aligned.rows
        for earlier in self._seen:
            rows = tuple(_without(row, earlier) for row in rows)
        self._seen += aligned.rows
        if all(row is before for row, before in zip(rows, aligned.rows, strict=True)):
            return aligned
        kept = tuple(checked(row) for row in rows if row.trained)
        return replace(aligned, rows=kept, notes=(*aligned.notes, CONTEXT))


def _without(row: TokenRow, earlier: TokenRow) -> TokenRow:
    """The row, not training the spans that `earlier` trains whole at the same place of the same beginning.

    Whole spans only: answers sampled apart may begin alike, and each trains all of its own.
    """
    ours, theirs = row.token_ids, earlier.token_ids
    n = min(len(ours), len(theirs))
    differ = np.flatnonzero(ours[:n] != theirs[:n])
    shared = int(differ[0]) if len(differ) else n
    first, begins = len(earlier.prompt_ids), len(row.prompt_ids)
    known = {(first + own.start, first + own.end) for own in earlier.spans if first + own.end <= shared}
    kept = tuple(own for own in row.spans if (begins + own.start, begins + own.end) not in known)
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
