"""Tools that settings name, held against those that logs have: a misspelt one would change nothing without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher

from trajcredit.model import Trajectory

__all__ = ["tools_of", "unknown_tools"]

NEAREST = 3
"""Names that are offered for one that is not there."""
COMPARED = 200
"""Characters of a name that are compared: each pair costs their product."""


def tools_of(trajectories: Iterable[Trajectory]) -> set[str]:
    """Every tool that some trajectory declares or calls."""
    found: set[str] = set()
    for trajectory in trajectories:
        found.update(tool.name for tool in trajectory.tools)
        found.update(span.name for span in trajectory.spans if span.kind == "tool_call" and span.name is not None)
    return found


def unknown_tools(named: Iterable[str], there: Collection[str], where: str) -> Iterator[str]:
    """A sentence for each named tool that is not there, with the nearest that are. `where`: `the logs read`."""
    for name in named:
        if name not in there:
            nearest = ", ".join(map(repr, _nearest(name, there)))
            said = f"nearest: {nearest}" if nearest else "they have no tools"
            yield f"no tool {name!r} in {where}, so what settings say of it has no effect; {said}"


def _nearest(name: str, there: Collection[str]) -> list[str]:
    """Those written most alike, letters of either case being the same; of equally near ones the first by name."""
    asked = name[:COMPARED].lower()

    def unlike(known: str) -> tuple[float, str]:
        return -SequenceMatcher(None, known[:COMPARED].lower(), asked, autojunk=False).ratio(), known

    return sorted(there, key=unlike)[:NEAREST]
