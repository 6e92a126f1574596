"""Trajectory -> SpanGraph: which earlier span did this one use, and how do we know."""

from trajcredit.graph.build import CHUNK, build_graphs, characters, chunks
from trajcredit.graph.evidence import EDGE_KINDS, RULES, Evidence, Match
from trajcredit.graph.overrides import Override, with_overrides
from trajcredit.graph.spangraph import SpanGraph

__all__ = [
    "CHUNK",
    "EDGE_KINDS",
    "RULES",
    "Evidence",
    "Match",
    "Override",
    "SpanGraph",
    "build_graphs",
    "characters",
    "chunks",
    "with_overrides",
]
