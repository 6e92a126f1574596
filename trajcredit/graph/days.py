"""A day that a user named without its year: "on May 25" is where the 2024-05-25 of a call comes from."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from trajcredit.graph.calls import CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.evidence import OUTDATED, RULE_CODES
from trajcredit.graph.values import Values

__all__ = ["day_edges"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_NAMED = re.compile(
    rf"\b{_NAME}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b|\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_NAME}\b", re.IGNORECASE
)
"""A month in words and a day, in either order."""
_DATE = re.compile(r"\d{4}[-/](\d\d)[-/](\d\d)")
_DIGIT = re.compile(r"\d")
MOST_TURNS = 64
"""User turns that are looked through for days: the latest."""

Day: TypeAlias = tuple[int, int]
"""Month and day."""


def day_edges(log: CallLog, first: int, values: Values, edges: EdgeList) -> None:
    """From the last user turn that named the day of a date to the call, or the message that answers it, that uses it.

    A result that explains nothing but such dates shows them by chance, or the user had it from there: it becomes a
    candidate.
    """
    spans = log.trajectory.spans
    named: list[tuple[int, set[Day]]] = []
    for i, span in enumerate(spans):
        if span.kind == "user":
            days = _days(span.text)
            if days:
                named.append((i, days))
        elif span.kind in ("tool_call", "assistant") and named:
            dates = values.dates(first + i)
            if dates:
                _from_user(log, i, dict(dates), named[-MOST_TURNS:], values, edges)


def _from_user(
    log: CallLog,
    child: int,
    dates: dict[int, int],
    named: list[tuple[int, set[Day]]],
    values: Values,
    edges: EdgeList,
) -> None:
    into, calls = edges.into[child], child in log.by_span
    own: set[int] = set()
    for form, token in dates.items():
        days = _days_of_date(values.text_at(token))
        turn = next((turn for turn, said in reversed(named) if days and days <= said), None)
        if turn is not None and (calls or log.rounds[turn] == log.rounds[child]):
            edges.add(turn, child, "day", detail=repr(values.text_at(token)))
            own.add(form)
    for parent, reason in into.items() if own else ():
        shown = reason.rule == RULE_CODES["value"] and log.trajectory.spans[parent].kind == "tool_result"
        if shown and own >= {values.form_of[token] for token in reason.matches[::2]}:
            into[parent] = reason._replace(weight=min(OUTDATED, reason.weight))


def _days(text: str) -> set[Day]:
    """Days that a text names, with or without a year."""
    found = {(int(month), int(day)) for month, day in _DATE.findall(text)}
    if not found and _DIGIT.search(text) is None:
        return found
    lower = text.casefold()  # most texts name no month: looking for its letters is ten times as fast as the pattern
    for month, day, day_first, month_last in _NAMED.findall(text) if any(map(lower.__contains__, _MONTHS)) else ():
        found.add((1 + _MONTHS.index((month or month_last)[:3].casefold()), int(day or day_first)))
    return found


@lru_cache(maxsize=4096)
def _days_of_date(text: str) -> frozenset[Day]:
    """Of a date, which many calls repeat."""
    return frozenset(_days(text))
