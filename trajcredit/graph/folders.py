"""A call that names a folder, or a file, which no value explains: an observation showed it as part of a longer path, or
listed it after the agent had named it, or a call made it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcredit.graph.calls import Call, CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.evidence import CLAIM, RULES
from trajcredit.graph.values import Values
from trajcredit.kernels.walk import COMMON, FLOOR

__all__ = ["folder_edges"]

BITS = 2.2
"""Bits a character of a folder's last two names: those of a path (docs/edges.md)."""
MOST_PATHS = 256
"""Paths of one observation that are looked at: the first."""
DEEPEST = 2
"""Folders above a shown path that it shows: the nearest."""
MOST_LISTED = 20_000
"""Characters of an observation in which a listing is looked for."""
_LISTED = re.compile(r"(?<![^\s'\"])([A-Za-z_][\w.-]{2,63})/(?![^\s'\"])")
"""A name that ends in a slash, as a listing marks a folder."""


def folder_edges(log: CallLog, first: int, values: Values, edges: EdgeList) -> None:
    """From the last observation that showed a path, or something in a folder, to a call that names it.

    Only where nothing else of what the call says has a source: a path that is matched as a whole says more. A folder is
    told by its last two names. What the result's own call named is an echo, and a folder that many observations show is
    the place where the work is done. A name with a slash behind it is a folder in the answer that came just before.
    """
    spans = log.trajectory.spans
    bare = {call.span for call in log.calls if not _explained(edges, call.span)}
    if not bare:
        return
    shown: dict[str, tuple[int, int, bool]] = {}
    made: dict[str, int] = {}
    observed, last = 0, -1
    for i, span in enumerate(spans):
        if span.kind == "tool_call" and i in bare:
            for name in _named(values, first + i, log.by_span[i].commands):
                parent, holders, whole = shown.get(name, (i, 0, False))
                seen = parent < i and (spans[parent].kind == "user" or spans[parent].turn < span.turn)
                if seen and holders <= max(4.0, COMMON * observed):
                    edges.add(parent, i, "listed" if whole else "folder", detail=repr(name))
            if not edges.into[i]:
                _in_made(log.by_span[i], made, last, log, edges)
        call = log.by_span.get(i)
        if span.kind == "tool_result" and call is not None and call.is_effect and call.act.verb == "mkdir":
            made.update(dict.fromkeys(_operands(call.command), call.span))
        if span.kind not in ("user", "tool_result"):
            continue
        observed, last = observed + 1, i
        own = set(_shown(values, first + span.result_of)) if span.result_of is not None else set[str]()
        for name, depth in _shown(values, first + i).items():
            if name not in own:
                holders = shown[name][1] if name in shown else 0
                shown[name] = (i, holders + (depth < DEEPEST), depth == 0)


def _in_made(call: Call, made: dict[str, int], last: int, log: CallLog, edges: EdgeList) -> None:
    """From the call that made a folder, or the last observation where that lists it, to a call that names it."""
    spans = log.trajectory.spans
    seen = last >= 0 and (spans[last].kind == "user" or spans[last].turn < call.turn)
    listing = spans[last].text[:MOST_LISTED] if seen else ""
    listed = set(_LISTED.findall(listing)) if "/" in listing else set[str]()
    for word in re.findall(r"[\w./-]+", call.said) if made or listed else ():
        inside = [word[:at] for at in (*(m.start() for m in re.finditer("/", word)), len(word)) if at]
        maker = next((made[folder] for folder in inside if folder in made), None)
        if maker is not None and log.by_span[maker].turn < call.turn:
            edges.add(maker, call.span, "in_folder", detail=repr(word))
            return
        if inside and inside[0] in listed:
            edges.add(last, call.span, "listed", detail=repr(inside[0]))
            return


def _operands(command: str) -> list[str]:
    """What a command line of one program names: its words without options."""
    return [word.strip("'\"/") for word in command.split()[1:] if not word.startswith("-") and word.strip("'\"/")]


def _explained(edges: EdgeList, span: int) -> bool:
    """Whether a value or a state of something explains a call."""
    return any(r.weight >= CLAIM and RULES[r.rule].kind in ("value", "state") for r in edges.into[span].values())


def _named(values: Values, span: int, commands: bool = False) -> list[str]:
    """Paths that a call names, by their ends; of a command line not the folder it starts in."""
    return [name for name in map(_ending, values.paths(span, commands)[:MOST_PATHS]) if name]


def _shown(values: Values, span: int) -> dict[str, int]:
    """Ends of the paths that an observation shows, and of the folders so far above them."""
    found: dict[str, int] = {}
    for path in dict.fromkeys(values.paths(span)[:MOST_PATHS]):
        for depth, end in enumerate(_above(path)):
            if end:
                found[end] = min(depth, found.get(end, depth))
    return found


def _above(path: str) -> Iterator[str]:
    """The end of a path, then those of the folders above it."""
    for _ in range(1 + DEEPEST):
        yield _ending(path)
        path = path.rsplit("/", 1)[0] if "/" in path else ""


def _ending(path: str) -> str:
    """The last two names of a path; "" where there are fewer, or where they are too short to tell."""
    names = [name for name in path.split("/") if name]
    ending = "/".join(names[-2:])
    return ending if len(names) > 1 and BITS * len(ending) >= FLOOR else ""
