"""The dependency graph of one trajectory: parents of every span in CSR form, each edge with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U8
from trajcredit.graph.evidence import RULES, Evidence, Match, sentence
from trajcredit.model import Note, Trajectory, body

if TYPE_CHECKING:
    import networkx

__all__ = ["SpanGraph"]


@dataclass(frozen=True, slots=True, eq=False)
class SpanGraph:
    """Dependencies of one trajectory of n spans and m edges.

    parent_offsets  i64[n+1]  edges into span i are parent_offsets[i]:parent_offsets[i+1]
    parents         i64[m]    span positions, ascending within a child, all smaller than the child
    weight          f64[m]    confidence in (0, 1]; below 0.25 an edge is a candidate, not a claim
    kind            u8[m]     index into EDGE_KINDS
    rule            u8[m]     index into RULES: what made the edge
    match_offsets   i64[m+1]  values of edge e are matches[match_offsets[e]:match_offsets[e+1]]
    matches         i64[q,4]  child start, child end, parent start, parent end: characters of `model.body`
    details         edge -> what its sentence needs and no match shows ("the sum of subtotal over 12 results")
    is_write        bool[n]   calls that change state
    write_basis     n         what told so: declared, settings, verb, description, command, code,
                              acknowledgement or reply; ""
    is_error        bool[n]   results that failed, and the calls they answer
    notes           what the builder guessed or left out
    """

    trajectory: Trajectory
    parent_offsets: I64
    parents: I64
    weight: F64
    kind: U8
    rule: U8
    match_offsets: I64
    matches: I64
    details: dict[int, str]
    is_write: BOOL
    write_basis: tuple[str, ...]
    is_error: BOOL
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        """Number of edges."""
        return len(self.parents)

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """(edge, parent, child), ordered by child, then parent."""
        children = np.repeat(np.arange(len(self.parent_offsets) - 1), np.diff(self.parent_offsets))
        yield from zip(range(len(self)), self.parents.tolist(), children.tolist(), strict=True)

    def parents_of(self, span: int) -> I64:
        """Positions of the spans that `span` depends on, ascending."""
        return self.parents[self.parent_offsets[span] : self.parent_offsets[span + 1]]

    def evidence(self, edge: int) -> Evidence:
        """Rule, sentence and matched values of one edge."""
        child = int(np.searchsorted(self.parent_offsets, edge, side="right")) - 1
        child_body, parent_body = (body(self.trajectory.spans[i]) for i in (child, int(self.parents[edge])))
        found = tuple(
            Match(child_body[a:b], (a, b), parent_body[c:d], (c, d))
            for a, b, c, d in self.matches[self.match_offsets[edge] : self.match_offsets[edge + 1]].tolist()
        )
        rule = RULES[self.rule[edge]]
        return Evidence(rule.name, sentence(rule, found, self.details.get(edge)), found)

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """The same graph for networkx: nodes are span positions, edges run from parent to child."""
        from trajcredit.graph.render import to_networkx

        return to_networkx(self)
