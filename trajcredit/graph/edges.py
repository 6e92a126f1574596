"""Edges on their way to a graph: collected rule by rule, then one edge a pair in CSR order."""

from __future__ import annotations

from dataclasses import dataclass, field

from trajcredit.graph.evidence import RULE_CODES

__all__ = ["EdgeList"]

Range = tuple[int, int, int, int]
"""child start, child end, parent start, parent end."""


@dataclass(slots=True)
class EdgeList:
    """Edges of one trajectory in the order they were found; `add` keeps the heaviest of a pair."""

    found: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)
    """(child, parent) -> (weight, rule code)."""
    matches: dict[tuple[int, int], list[Range]] = field(default_factory=dict)
    details: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(
        self, parent: int, child: int, rule: str, weight: float, matches: list[Range] | None = None, detail: str = ""
    ) -> None:
        """Keep the edge unless a heavier one joins the pair already; of equals the first stays."""
        pair = (child, parent)
        known = self.found.get(pair)
        if known is not None and known[0] >= weight:
            return
        self.found[pair] = (weight, RULE_CODES[rule])
        self.matches.pop(pair, None)
        self.details.pop(pair, None)
        if matches:
            self.matches[pair] = matches
        if detail:
            self.details[pair] = detail

    def parents(self, child: int, at_least: float = 0.0) -> list[int]:
        """Parents of a span found so far, of edges at least that heavy."""
        return [p for (c, p), (weight, _) in self.found.items() if c == child and weight >= at_least]
