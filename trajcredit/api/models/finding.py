"""Text found in a trajectory."""

from __future__ import annotations

from trajcredit.api.models.common import Out

__all__ = ["FoundOut"]


class FoundOut(Out):
    """Where a text stands. `span` and `start` have one entry a hit, `spans` and `counts` one a span that has hits."""

    q: str
    length: int
    """Characters of a hit."""
    span: list[int]
    start: list[int | None]
    """The first character of the hit in its span's text, counted from 0; null: it is in the name of the tool."""
    spans: list[int]
    counts: list[int]
    total: int
    """All hits in the spans searched; only the first 5,000 have a place above."""
    next: int | None
    """The first span that was not searched, because it took too long; null where all were."""
