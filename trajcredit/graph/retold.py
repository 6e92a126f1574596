"""What the agent saw again since: in the latest results, which a message tells, and in a summary of its work so far."""

from __future__ import annotations

from collections.abc import Sequence, Set

from trajcredit.graph.calls import CallLog
from trajcredit.graph.edges import EdgeList, Reason
from trajcredit.graph.evidence import CLAIM, ONE_OF_MANY, OUTDATED, RULE_CODES, RULES
from trajcredit.graph.values import Values
from trajcredit.kernels import scan, words
from trajcredit.kernels.match import MOST_MATCHES
from trajcredit.kernels.walk import FLOOR

__all__ = ["outdate_known", "outdate_unseen", "retold_edges"]

MOST_LATEST = 8
"""Results of the turn before a message that it is held against: the latest."""
CLEAR = 16.0
"""Bits from which on figures alone are no chance."""
SUMS_UP = 2
"""Spans that what stands for a context takes values from, at least: a note in between replaces nothing."""
SEEN = frozenset(
    RULE_CODES[name]
    for name in (
        *("value", "echo", "neighbour", "whole_result", "field_sum", "folder", "listed", "day"),
        *("write_after_look", "write_after_read", "objection", "looked_up", "taken_up"),
    )
)
"""Rules whose parent was read: what the agent no longer sees it cannot use. What a call changed stays changed."""


def retold_edges(log: CallLog, first: int, told: dict[int, list[int]], values: Values, edges: EdgeList) -> None:
    """From the results since the agent's last turn to a message that tells FLOOR bits of what they show.

    `told`: message -> its tokens that have a source. Whether the call had asked for a value does not matter here: the
    message is about what the answer says of it. A failed result has its own edge (`control.context_edges`).
    """
    for child, tokens in told.items():
        of_form = {values.form_of[token]: token for token in tokens}
        for parent in _latest(log, child):
            call = log.by_span.get(parent)
            if call is None or call.failed:
                continue
            there = values.places(first + parent, of_form)
            if not there:
                continue
            telling = values.tokens[list(there.values())]
            bits = int(telling[:, scan.BITS].sum())
            if bits < 100 * FLOOR:
                continue
            known = edges.into[child].get(parent)
            if known is None or known.weight < CLAIM:
                shown = [token for form in of_form if form in there for token in (of_form[form], there[form])]
                figures = bits < 100 * CLEAR and bool((telling[:, scan.FLAGS] & words.NUMBER != 0).all())
                rule = "same_figure" if figures else "retold"
                edges.add(parent, child, rule, tuple(shown[: 2 * MOST_MATCHES]))
            older = _older(log, child, parent, edges)
            if older:
                unasked = there.keys() - values.places(first + call.span, there).keys()
                _give_way(edges.into[child], older, unasked, values)


def outdate_unseen(log: CallLog, edges: EdgeList) -> None:
    """After a summary only that and what came later is seen: what was read before it is a candidate at most."""
    since = -1
    for child, span in enumerate(log.trajectory.spans):
        for parent, reason in edges.into[child].items() if since >= 0 else ():
            if parent < since and reason.rule in SEEN and reason.weight > OUTDATED:
                edges.into[child][parent] = reason._replace(weight=OUTDATED)
        if span.kind == "meta":
            sources = sum(reason.rule == RULE_CODES["value"] for reason in edges.into[child].values())
            since = child if sources >= SUMS_UP else since


def outdate_known(edges: EdgeList) -> None:
    """Of what the agent saw again since, or works on: where something surer explains the child, it is a candidate."""
    for into in edges.into:
        if len(into) > 1 and any(reason.weight == ONE_OF_MANY and reason.rule in SEEN for reason in into.values()):
            surer = (r for r in into.values() if r.weight > ONE_OF_MANY and RULES[r.rule].kind in ("value", "state"))
            if next(surer, None) is not None:
                for parent, reason in into.items():
                    if reason.weight == ONE_OF_MANY and reason.rule in SEEN:
                        into[parent] = reason._replace(weight=OUTDATED)


def _older(log: CallLog, child: int, latest: int, edges: EdgeList) -> list[int]:
    """Results before the latest whose values explain a message."""
    spans, value = log.trajectory.spans, RULE_CODES["value"]
    into = edges.into[child].items()
    return [at for at, reason in into if at < latest and reason.rule == value and spans[at].kind == "tool_result"]


def _give_way(into: dict[int, Reason], older: list[int], shown: Set[int], values: Values) -> None:
    """Older results that explain nothing which a later one does not show afresh become candidates."""
    for parent in older:
        if shown >= {values.form_of[token] for token in into[parent].matches[::2]}:
            into[parent] = into[parent]._replace(weight=OUTDATED)


def _latest(log: CallLog, child: int) -> Sequence[int]:
    """Results between a message and the last turn of the agent."""
    spans = log.trajectory.spans
    at = child - 1
    while at >= 0 and spans[at].turn == spans[child].turn and spans[at].kind in ("assistant", "reasoning"):
        at -= 1
    last = at
    while at >= 0 and last - at < MOST_LATEST and spans[at].kind == "tool_result":
        at -= 1
    return range(at + 1, last + 1)
