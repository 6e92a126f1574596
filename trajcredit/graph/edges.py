"""Edges on their way to a graph: collected rule by rule, one edge a pair, the heaviest."""

from __future__ import annotations

from typing import NamedTuple

from trajcredit.graph.evidence import CLAIM, RULE_CODES, RULES

__all__ = ["EdgeList", "Reason"]

_STATED = RULE_CODES["explicit"]


class Reason(NamedTuple):
    """Why two spans are joined, and how surely."""

    weight: float
    rule: int
    """Its code: position in evidence.RULES."""
    matches: tuple[int, ...] = ()
    """The tokens that prove it, of the child and of the parent in turn."""
    detail: str = ""
    """What its sentence needs and no match shows."""


_DATA = frozenset(code for code, rule in enumerate(RULES) if rule.kind in ("value", "state"))
_CONTROL = frozenset(code for code, rule in enumerate(RULES) if rule.kind == "control")
_BARE = {rule.name: Reason(rule.weight, code) for code, rule in enumerate(RULES)}
"""What most edges are: a rule at its own weight."""


class EdgeList:
    """Edges of one trajectory of n spans, ends as positions in it.

    into  n dicts: child -> parent -> reason. Edges of one child lie together: those of a long log would otherwise be
          looked for all over one large table.
    """

    __slots__ = ("into",)

    def __init__(self, n_spans: int) -> None:
        self.into: list[dict[int, Reason]] = [{} for _ in range(n_spans)]

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

        A control edge takes no claimed value or state away, however heavy: that something passed says more than order.
        What came later was not used, whatever a rule says: logs tell of failures after the call that follows them.
        """
        if parent >= child:
            return
        reason = _BARE[rule]
        if matches or detail or weight is not None:
            reason = Reason(reason.weight if weight is None else weight, reason.rule, matches, detail)
        known = self.into[child].get(parent)
        if known is not None and known.rule in _DATA and known.weight >= CLAIM and reason.rule in _CONTROL:
            return
        if known is None or (known.weight < reason.weight and known.rule != _STATED):
            self.into[child][parent] = reason

    def state(self, parent: int, child: int, rule: str, weight: float, detail: str) -> None:
        """Keep an edge that the log states: no inferred one replaces it, however heavy."""
        self.into[child].pop(parent, None)
        self.add(parent, child, rule, detail=detail, weight=weight)
