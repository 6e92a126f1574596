"""Which fitted pool a trajectory belongs to: that of the tools most like its own, as in batching."""

from __future__ import annotations

from collections.abc import Sequence

from trajcredit.graph import SpanGraph

__all__ = ["NOWHERE", "Tools", "home_of", "tools_of"]

NOWHERE = -1
ALIKE = 0.5
"""Overlap (Jaccard) that two sets of tools must exceed to be of one pool; `batching` pools by the same."""

Tools = tuple[frozenset[str], bool]
"""The tools of a trajectory, and whether its log declares them; else those used where it was made."""


def tools_of(graphs: Sequence[SpanGraph]) -> list[Tools]:
    """Of each: the tools declared; else those that any of the same data set and role used, as in batching."""
    used: dict[tuple[object, ...], set[str]] = {}
    own: list[frozenset[str]] = []
    for graph in graphs:
        one = graph.trajectory
        declared = frozenset(tool.name for tool in one.tools)
        own.append(declared)
        if not declared:
            names = (span.name for span in one.spans if span.kind == "tool_call" and span.name is not None)
            used.setdefault((one.project, one.dataset, one.role), set()).update(names)
    known = {place: frozenset(names) for place, names in used.items()}
    places = ((t.project, t.dataset, t.role) for t in (graph.trajectory for graph in graphs))
    return [(names, True) if names else (known[place], False) for names, place in zip(own, places, strict=True)]


def home_of(tools: Tools, pools: Sequence[Sequence[frozenset[str]]]) -> int:
    """The pool that has this set of tools, else the one with the set most like it; NOWHERE where none is alike.

    Of tools that are not declared only those used are known: they are of the pool whose tools hold most of them, more
    than half, and among such of the one with the set most like them.
    """
    names, declared = tools
    best, home = (0.0, 0.0), NOWHERE
    for number, sets in enumerate(pools):
        for known in sets:
            if known == names:
                return number
            both = len(names & known)
            alike = both / max(len(names | known), 1)
            held = alike if declared else both / max(len(names), 1)
            if held > ALIKE and (held, alike) > best:
                best, home = (held, alike), number
    return home
