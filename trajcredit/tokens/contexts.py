"""Where the context of a trajectory began anew: after a compaction the policy no longer sees what came before."""

from __future__ import annotations

import re

from trajcredit.model import Trajectory

__all__ = ["restarts"]

CODES = frozenset({"context-rewritten", "rewritten-context"})
"""Notes by which readers say so."""
HEAD = 300
"""Characters of a summary in which it says what it is."""

_SAID = re.compile(
    r"compact|condens|summar|continued from a previous|were forgotten|context was rewritten", re.IGNORECASE
)


def restarts(trajectory: Trajectory) -> frozenset[int]:
    """Spans at which the context began anew.

    Those that a reader's note says were asked in another context, and `meta` spans that say they are a compaction or
    summary. Other `meta` spans (errors, notices, roles nobody knows) are part of the context as it goes on.
    """
    noted = {note.span for note in trajectory.report if note.code in CODES and note.span is not None}
    said = {i for i, span in enumerate(trajectory.spans) if span.kind == "meta" and _SAID.search(span.text[:HEAD])}
    return frozenset(noted | said)
