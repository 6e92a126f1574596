"""How many spans could have been the source of a value: where there were several, an edge is one choice of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcredit.graph import Match
from trajcredit.model import ACTION_KINDS, Trajectory, body

__all__ = ["Sources"]

LONG = 200
"""Characters from which on a value is looked for as it is: it is no part of a longer word, and patterns are slow."""


class Sources:
    """The observations of one trajectory, which is where values come from: an agent's own spans only repeat them."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._shown = [(i, body(span)) for i, span in enumerate(trajectory.spans) if span.kind not in ACTION_KINDS]
        self._known: dict[str, frozenset[int]] = {}

    def of(self, parent: int, child: int, matches: Sequence[Match]) -> int:
        """Spans before `child` that hold every matched value, as it is written on either side; the parent is one.

        Without a value there was no choice: 1.
        """
        if not matches:
            return 1
        holding = [self._holding(match.child_text) | self._holding(match.parent_text) for match in matches]
        return len({parent} | {span for span in frozenset.intersection(*holding) if span < child})

    def _holding(self, value: str) -> frozenset[int]:
        """Observations in which the value stands as a whole word."""
        if value not in self._known:
            held = [(span, text) for span, text in self._shown if value in text]
            if len(value) < LONG:
                word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
                held = [(span, text) for span, text in held if word.search(text)]
            self._known[value] = frozenset(span for span, _ in held)
        return self._known[value]
