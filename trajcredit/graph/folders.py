"""A call that names a folder which an earlier observation showed only as part of a longer path."""

from __future__ import annotations

from trajcredit.graph.calls import CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.evidence import CLAIM, RULES
from trajcredit.graph.values import Values
from trajcredit.kernels.walk import COMMON, FLOOR

__all__ = ["folder_edges"]

BITS = 2.2
"""Bits a character of a folder's last two names: those of a path (docs/edges.md)."""
MOST_PATHS = 256
"""Paths of one observation that are looked at: the first."""


def folder_edges(log: CallLog, first: int, values: Values, edges: EdgeList) -> None:
    """From the last observation that showed something in a folder to a call that names the folder itself.

    Only where nothing else of what the call says has a source: a path that is matched as a whole says more. A folder is
    told by its last two names. What the result's own call named is an echo, and a folder that many observations show is
    the place where the work is done.
    """
    spans = log.trajectory.spans
    bare = {call.span for call in log.calls if not _explained(edges, call.span)}
    if not bare:
        return
    shown: dict[str, tuple[int, int]] = {}
    observed = 0
    for i, span in enumerate(spans):
        if span.kind == "tool_call" and i in bare:
            for folder in _named(values, first + i):
                parent, holders = shown.get(folder, (i, 0))
                seen = parent < i and (spans[parent].kind == "user" or spans[parent].turn < span.turn)
                if seen and holders <= max(4.0, COMMON * observed):
                    edges.add(parent, i, "folder", detail=repr(folder))
        if span.kind not in ("user", "tool_result"):
            continue
        observed += 1
        own = set(_named(values, first + span.result_of)) if span.result_of is not None else set[str]()
        for path in dict.fromkeys(values.paths(first + i)[:MOST_PATHS]):
            folder = _ending(path.rsplit("/", 1)[0])
            if folder and folder not in own:
                shown[folder] = (i, shown[folder][1] + 1 if folder in shown else 1)


def _explained(edges: EdgeList, span: int) -> bool:
    """Whether a value or a state of something explains a call."""
    return any(r.weight >= CLAIM and RULES[r.rule].kind in ("value", "state") for r in edges.into[span].values())


def _named(values: Values, span: int) -> list[str]:
    """Folders that a call may name: the ends of its paths."""
    return [folder for folder in map(_ending, values.paths(span)[:MOST_PATHS]) if folder]


def _ending(path: str) -> str:
    """The last two names of a path; "" where there are fewer, or where they are too short to tell."""
    names = [name for name in path.split("/") if name]
    ending = "/".join(names[-2:])
    return ending if len(names) > 1 and BITS * len(ending) >= FLOOR else ""
