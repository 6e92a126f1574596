"""What people say of edges, put into a graph that was derived: a pure step, after every rule has spoken."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import I64, offsets_of
from trajcredit.errors import GraphError
from trajcredit.graph.evidence import EDGE_KINDS, RULE_CODES
from trajcredit.graph.spangraph import SpanGraph
from trajcredit.model import Edge

__all__ = ["KIND", "Override", "Rewired", "check_ends", "rewired", "stated", "with_overrides"]

KIND = EDGE_KINDS.index("override")
RULE = RULE_CODES["override"]


@dataclass(frozen=True, slots=True)
class Override:
    """A person's word on the edge of one pair of spans: it stands with this weight, or, at weight 0, is not used."""

    parent: int
    child: int
    weight: float = 1.0
    reason: str = ""

    @property
    def stands(self) -> bool:
        """Whether there is an edge; else whatever was derived for the pair is left out."""
        return self.weight > 0


@dataclass(frozen=True, slots=True, eq=False)
class Rewired:
    """Edges of n spans after overrides.

    parent_offsets  i64[n+1]
    parents         i64[m]  ascending within a child
    source          i64[m]  position among the edges before; -1-k for the k-th of `added`
    added           the overrides that stand
    """

    parent_offsets: I64
    parents: I64
    source: I64
    added: tuple[Override, ...]

    def column(self, before: npt.NDArray[Any], given: Sequence[float]) -> npt.NDArray[Any]:
        """A column of the edges: what it was where the edge was there, what is given for each of `added`."""
        both = np.concatenate([before, np.array(given, dtype=before.dtype)])
        return both[np.where(self.source < 0, len(before) - 1 - self.source, self.source)]


def check_ends(parent: int, child: int, n_spans: int) -> None:
    """GraphError unless both spans exist and the parent is the earlier one."""
    name = f"edge s{parent} -> s{child}"
    for end, span in (("parent", parent), ("child", child)):
        if not 0 <= span < n_spans:
            has = f"spans s0 to s{n_spans - 1}" if n_spans else "no spans"
            raise GraphError(f"{name}: no {end} s{span}; the trajectory has {has}")
    if parent >= child:
        raise GraphError(f"{name}: the parent must be an earlier span than its child")


def stated(edges: Iterable[Edge]) -> list[Override]:
    """The overrides among the edges that a trajectory brings along."""
    return [Override(e.parent, e.child, e.weight, e.evidence or "") for e in edges if e.kind == "override"]


def rewired(parent_offsets: I64, parents: I64, given: Iterable[Override]) -> Rewired:
    """Edges in CSR form with overrides in force; of several of one pair the last counts. Ends have been checked."""
    newest = {(one.child, one.parent): one for one in given}
    degree, gone = np.diff(parent_offsets), np.zeros(len(parents), dtype=bool)
    places: list[int] = []
    added: list[Override] = []
    for (child, parent), one in sorted(newest.items()):
        first, last = parent_offsets[child : child + 2].tolist()
        place = first + int(parents[first:last].searchsorted(parent))
        derived = place < last and int(parents[place]) == parent
        if derived:
            gone[place] = True
        if one.stands:
            places.append(place)
            added.append(one)
        degree[child] += one.stands - derived
    source = np.where(gone, len(parents), np.arange(len(parents), dtype=np.int64))
    source = np.insert(source, places, [-1 - k for k in range(len(added))]) if places else source
    source = source[source != len(parents)]
    ends = np.concatenate([parents, np.array([one.parent for one in added], dtype=np.int64)])
    return Rewired(
        offsets_of(degree), ends[np.where(source < 0, len(parents) - 1 - source, source)], source, tuple(added)
    )


def with_overrides(graph: SpanGraph, given: Iterable[Override]) -> SpanGraph:
    """The graph with overrides in force; the one that was derived stays as it is.

    An override that stands takes the place of what was derived for its pair; all other edges keep their evidence.
    GraphError where one points nowhere or not forward.
    """
    given = tuple(given)
    for one in given:
        check_ends(one.parent, one.child, len(graph.trajectory.spans))
    if not given:
        return graph
    new = rewired(graph.parent_offsets, graph.parents, given)
    kept = new.source[new.source >= 0]
    counts = np.zeros(len(new.source), dtype=np.int64)
    counts[new.source >= 0] = np.diff(graph.match_offsets)[kept]
    pieces = [graph.matches[graph.match_offsets[e] : graph.match_offsets[e + 1]] for e in kept.tolist()]
    reasons = [one.reason for one in new.added]
    details = ((at, reasons[-1 - e] if e < 0 else graph.details.get(e)) for at, e in enumerate(new.source.tolist()))
    return dataclasses.replace(
        graph,
        parent_offsets=new.parent_offsets,
        parents=new.parents,
        weight=new.column(graph.weight, [one.weight for one in new.added]),
        kind=new.column(graph.kind, [KIND] * len(new.added)),
        rule=new.column(graph.rule, [RULE] * len(new.added)),
        match_offsets=offsets_of(counts),
        matches=np.concatenate([np.empty((0, 4), dtype=np.int64), *pieces]),
        details={at: detail for at, detail in details if detail},
    )
