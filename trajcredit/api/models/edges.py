"""The dependency graph and the evidence of its edges."""

from __future__ import annotations

from pydantic import FiniteFloat

from trajcredit.api.models.common import EdgeKind, Out

__all__ = ["EdgeColumns", "EdgeEvidence", "EdgeEvidenceList", "EdgeMatch"]


class EdgeColumns(Out):
    """The dependency graph: columns with one entry an edge, ordered by child, then parent."""

    parent: list[int]
    child: list[int]
    kind: list[EdgeKind]
    weight: list[FiniteFloat]
    rule: list[str]
    normalised: list[bool]
    """Whether a value stands written differently on the two sides."""


class EdgeMatch(Out):
    """One value on both sides: half-open character ranges into the texts of child and parent."""

    child_text: str
    child_start: int
    child_end: int
    parent_text: str
    parent_start: int
    parent_end: int


class EdgeEvidence(Out):
    """One edge with its reason."""

    parent: int
    child: int
    kind: EdgeKind
    weight: FiniteFloat
    rule: str
    why: str
    matches: list[EdgeMatch]
    sources: int
    """How many earlier spans could have been the source of its values: 1 where there was no choice."""


class EdgeEvidenceList(Out):
    """What a span is fed by and what it feeds."""

    fed_by: list[EdgeEvidence]
    feeds: list[EdgeEvidence]
