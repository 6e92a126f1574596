"""What the kernels matched, as edges with evidence; and what that says about the calls: who was used, who obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from trajcredit.graph.calls import CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import RUNS
from trajcredit.graph.evidence import ONE_OF_MANY, value_weight
from trajcredit.graph.values import RULE_NAMES, Values
from trajcredit.kernels import scan, words

__all__ = ["found_edges", "value_edges"]

DERIVED = ("neighbour", "field_sum")
"""Rules whose sentence names more than the values."""
SHOWN_AGAIN = 2
"""Later results that showed all an edge rests on: from so many on it is doubtful which of them was read."""

Found: TypeAlias = tuple[int, int, str, float, tuple[int, ...], int]
"""Child, parent, rule, bits, tokens of child and parent in turn, and how often all of it was shown again since."""


def value_edges(
    log: CallLog, first: int, found: Sequence[Found], values: Values, edges: EdgeList
) -> dict[int, list[int]]:
    """Add the value edges of a trajectory whose spans start at `first`; mark calls as consumed and as fed by the user.

    Returns message -> its tokens that have a source.

    An id that a result shows again is an edge only where the call that made it set something up or changed something:
    looking a thing up twice is no session.
    """
    spans, form_of = log.trajectory.spans, values.form_of
    told: dict[int, list[int]] = {}
    given_by_user = _from_user(log, first, found, values)
    worked_on = _worked_on(log, first, values)
    for child, parent, name, bits, matches, since in found:
        child, parent = child - first, parent - first
        if spans[child].kind == "assistant":
            told.setdefault(child, []).extend(matches[::2])
        if name == "minted_id":
            maker = log.by_span[parent]
            if maker.is_effect and maker.code is None and maker.act.verb not in RUNS:  # what runs may print any id
                edges.add(parent, child, name, detail=repr(values.text_at(matches[0])))
            continue
        if name == "shown_again":
            shown = dict.fromkeys(repr(values.text_at(token)) for token in matches[::2])
            edges.add(parent, child, name, detail=", ".join(shown))
            continue
        if name == "echo" and not _confirms(matches[::2], given_by_user.get(child, set()), values):
            name = "echo_words"
        weight = value_weight(bits, spans[parent].kind == "user") if name == "value" else None
        if name == "value" and spans[parent].kind == "tool_result":
            files = worked_on.get(child, {})
            if since >= SHOWN_AGAIN or all(files.get(form_of[token], -1) > parent for token in matches[::2]):
                weight = ONE_OF_MANY
        edges.add(parent, child, name, matches, _detail(name, matches, values) if name in DERIVED else "", weight)
        used = log.by_span.get(parent)
        if used is not None:
            used.consumed = True
        elif spans[parent].kind == "user" and spans[child].kind == "tool_call":
            given = {form_of[token] for token in matches[::2]}
            call = log.by_span[child]
            call.from_user |= any(name.whole and name.form in given for name in call.names)
    return told


def _from_user(log: CallLog, first: int, found: Sequence[Found], values: Values) -> dict[int, set[int]]:
    """Values of every child that a user turn explains."""
    spans = log.trajectory.spans
    given: dict[int, set[int]] = {}
    for child, parent, _, _, matches, _ in found:
        if spans[parent - first].kind == "user":
            given.setdefault(child - first, set()).update(values.form_of[token] for token in matches[::2])
    return given


def _worked_on(log: CallLog, first: int, values: Values) -> dict[int, dict[int, int]]:
    """Of the files that every call names the last earlier call that named them: who works on a file knows its name."""
    last: dict[int, int] = {}
    found: dict[int, dict[int, int]] = {}
    for call in log.calls:
        files = values.files(first + call.span) | {name.form for name in call.names if name.file}
        if files:
            found[call.span] = {form: last[form] for form in files if form in last}
            last.update(dict.fromkeys(files, call.span))
    return found


def _confirms(tokens: Sequence[int], given: set[int], values: Values) -> bool:
    """Whether a result that shows again what the user gave tells more than that: it bears out a figure, or shows a part
    that no user turn explains. A name or an id only says what is spoken of, whoever repeats it."""
    for token in tokens:
        flags = values.tokens[token, scan.FLAGS]
        if values.form_of[token] not in given or (flags & words.NUMBER and not flags & words.IDKEY):
            return True
    return False


def found_edges(values: Values) -> list[list[Found]]:
    """What the kernels matched, trajectory by trajectory."""
    tokens = values.matches.ravel().tolist()
    found = [
        (child, parent, RULE_NAMES[rule], bits / 100, tuple(tokens[2 * a : 2 * b]), since)
        for child, parent, rule, bits, a, b, since in values.edges.tolist()
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
