"""What the kernels matched, as edges with evidence; and what that says about the calls: who was used, who obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from trajcredit.graph.calls import CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import RUNS
from trajcredit.graph.evidence import value_weight
from trajcredit.graph.values import RULE_NAMES, Values
from trajcredit.kernels import scan

__all__ = ["found_edges", "value_edges"]

Found: TypeAlias = tuple[int, int, str, float, tuple[int, ...]]
"""Child, parent, rule, bits, and tokens of child and parent in turn."""


def value_edges(log: CallLog, first: int, found: Sequence[Found], values: Values, edges: EdgeList) -> None:
    """Add the value edges of a trajectory whose spans start at `first`; mark calls as consumed and as fed by the user.

    An id that a result shows again is an edge only where the call that made it set something up or changed something:
    looking a thing up twice is no session.
    """
    spans = log.trajectory.spans
    for child, parent, name, bits, matches in found:
        child, parent = child - first, parent - first
        if name == "minted_id":
            maker = log.by_span[parent]
            if maker.is_effect and maker.code is None and maker.act.verb not in RUNS:  # what runs may print any id
                edges.add(parent, child, name, detail=repr(values.text_at(matches[0])))
            continue
        if name == "shown_again":
            shown = dict.fromkeys(repr(values.text_at(token)) for token in matches[::2])
            edges.add(parent, child, name, detail=", ".join(shown))
            continue
        if name == "echo" and not any(_has_digit(values.text_at(token)) for token in matches[::2]):
            name = "echo_words"
        weight = value_weight(bits) if name == "value" else None
        edges.add(parent, child, name, matches, _detail(name, matches, values), weight)
        used = log.by_span.get(parent)
        if used is not None:
            used.consumed = True
        elif spans[parent].kind == "user" and spans[child].kind == "tool_call":
            given = set(values.tokens[list(matches[::2]), scan.FORM].tolist())
            call = log.by_span[child]
            call.from_user |= any(name.whole and name.form in given for name in call.names)


def _has_digit(text: str) -> bool:
    """Whether a value holds a figure."""
    return any(c.isdigit() for c in text)


def found_edges(values: Values) -> list[list[Found]]:
    """What the kernels matched, trajectory by trajectory."""
    tokens = values.matches.ravel().tolist()
    found = [
        (child, parent, RULE_NAMES[rule], bits / 100, tuple(tokens[2 * a : 2 * b]))
        for child, parent, rule, bits, a, b in values.edges.tolist()
    ]
    return [found[a:b] for a, b in pairwise(values.edge_offsets[values.span_offsets].tolist())]


def _detail(rule: str, matches: tuple[int, ...], values: Values) -> str:
    """The words that a derived value needs beside its number."""
    if rule == "neighbour":
        return values.text_at(matches[0])
    if rule == "field_sum":
        number, summand = matches[:2]
        key = int(values.tokens[summand, scan.FIELD])
        return f"{values.text_at(number)}, the sum of {values.text_at(key) if key >= 0 else 'these results'}"
    return ""
