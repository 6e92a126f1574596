"""What a SpanGraph has beyond the columns that scoring reads: matches, rules, details, and why a call writes.

one array of m words     number of matches of every edge (i64)
one array of 4q words    child start, child end, parent start, parent end of every match (i64)
m bytes                  rule
the rest                 JSON: details, write basis where there is one, notes
"""

from __future__ import annotations

import msgspec
import numpy as np

from trajcredit.arrays import offsets_of
from trajcredit.batching import Columns
from trajcredit.graph import SpanGraph
from trajcredit.model import Note, Trajectory

__all__ = ["graph_of", "packed_evidence", "write_basis"]


class _Words(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    details: dict[int, str] = {}
    basis: dict[int, str] = {}
    notes: tuple[Note, ...] = ()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Words).decode


def packed_evidence(graph: SpanGraph) -> bytes:
    """One block of arrays and words. `graph_of` gives an equal graph back."""
    words = _Words(graph.details, {i: basis for i, basis in enumerate(graph.write_basis) if basis}, graph.notes)
    counts = np.diff(graph.match_offsets).astype("<i8", copy=False)
    matches = graph.matches.astype("<i8", copy=False)
    return b"".join((counts.tobytes(), matches.tobytes(), graph.rule.tobytes(), _encode(words)))


def write_basis(evidence: bytes, n: int, m: int) -> tuple[str, ...]:
    """What told of each of n spans that it writes or does not; m: the edges of their graph."""
    words = _decode(evidence[_words_at(evidence, m) :])
    return tuple(words.basis.get(i, "") for i in range(n))


def graph_of(trajectory: Trajectory, columns: Columns, t: int, evidence: bytes) -> SpanGraph:
    """The graph of a trajectory, the t-th of a batch, from its document, its columns and its evidence."""
    first, last = columns.span_offsets[t : t + 2].tolist()
    parent_offsets = columns.parent_offsets[first : last + 1]
    edges = slice(int(parent_offsets[0]), int(parent_offsets[-1]))
    m = edges.stop - edges.start
    match_offsets = offsets_of(np.frombuffer(evidence, dtype="<i8", count=m))
    q = int(match_offsets[-1])
    rules = 8 * (m + 4 * q)
    words = _decode(evidence[rules + m :])
    matches = np.frombuffer(evidence, dtype="<i8", offset=8 * m, count=4 * q)
    return SpanGraph(
        trajectory=trajectory,
        parent_offsets=parent_offsets - edges.start,
        parents=columns.parents[edges] - first,
        weight=columns.parent_weight[edges],
        kind=columns.parent_kind[edges],
        rule=np.frombuffer(evidence, dtype=np.uint8, offset=rules, count=m).copy(),
        match_offsets=match_offsets,
        matches=matches.reshape(-1, 4).astype(np.int64),
        details=words.details,
        is_write=columns.is_write[first:last],
        write_basis=tuple(words.basis.get(i, "") for i in range(last - first)),
        is_error=columns.is_error[first:last],
        notes=words.notes,
    )


def _words_at(evidence: bytes, m: int) -> int:
    """Where the JSON begins."""
    matches = int(np.frombuffer(evidence, dtype="<i8", count=m).sum())
    return 9 * m + 32 * matches
