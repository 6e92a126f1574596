"""Edges on their way to a graph: collected rule by rule, one edge a pair, the heaviest."""

from __future__ import annotations

from dataclasses import dataclass, field

from trajcredit.graph.evidence import RULE_CODES, RULES

__all__ = ["EdgeList"]

_STATED = frozenset((RULE_CODES["explicit"], RULE_CODES["override"]))


@dataclass(slots=True)
class EdgeList:
    """Edges of one trajectory, ends as positions in it.

    found    (child, parent) -> (weight, rule code)
    matches  the same -> the tokens that prove it, of the child and of the parent in turn
    details  the same -> what its sentence needs and no match shows
    """

    found: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)
    matches: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    details: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(
        self,
        parent: int,
        child: int,
        rule: str,
        matches: tuple[int, ...] = (),
        detail: str = "",
        weight: float | None = None,
    ) -> None:
        """Keep the edge unless one as heavy joins the pair already; `weight` where it is not that of the rule.

        What came later was not used, whatever a rule says: logs tell of failures after the call that follows them.
        """
        if parent >= child:
            return
        pair, code = (child, parent), RULE_CODES[rule]
        weight = RULES[code].weight if weight is None else weight
        known = self.found.get(pair)
        if known is not None:
            if known[0] >= weight or known[1] in _STATED:
                return
            self.matches.pop(pair, None)
            self.details.pop(pair, None)
        self.found[pair] = (weight, code)
        if matches:
            self.matches[pair] = matches
        if detail:
            self.details[pair] = detail

    def state(self, parent: int, child: int, rule: str, weight: float, detail: str) -> None:
        """Keep an edge that the log or a person states: no inferred one replaces it, however heavy."""
        pair = (child, parent)
        self.found.pop(pair, None)
        self.add(parent, child, rule, detail=detail, weight=weight)
