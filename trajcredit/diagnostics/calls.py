"""Calls of one trajectory that say something of its memory: made again in vain, doubled effects, outdated values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import Span, body

__all__ = ["Again", "Outdated", "doubled", "outdated", "repeated", "results_of", "unused"]

USES = np.array([kind in ("value", "state", "explicit", "override") for kind in EDGE_KINDS])
"""Edges that say a result was used; a result on its call, and order alone, do not."""
COMMANDS = ("command", "code")
"""Grounds on which a call counts as changing state: a command is run again for good reason (a test, a build)."""
REVERSALS = frozenset(
    (
        *("cancel", "close", "delete", "refund", "release", "remove", "reset", "restore", "return", "revert"),
        *("rollback", "unbook", "undo", "void", "withdraw"),
    )
)
"""Words in the name of a tool after which the same effect again is no double."""
SETTERS = frozenset(("change", "edit", "move", "put", "select", "set", "switch", "update", "write"))
"""Words in the name of a tool that puts one state in the place of another: to put the first one back is no double."""
RUNNERS = frozenset(("eval", "exec", "execute", "run"))
CODE = frozenset(("cmd", "code", "command", "program", "script"))
"""A tool named by one of RUNNERS with an argument of CODE runs a command, whatever the grounds."""
SHORTEST = 3
"""Characters of a value that can be told from chance."""


@dataclass(frozen=True, slots=True)
class Again:
    """A call made again: its span, and the span of the earlier one."""

    span: int
    first: int


@dataclass(frozen=True, slots=True)
class Outdated:
    """A call whose argument `key` has the value that a later look at the same thing had replaced."""

    span: int
    key: str
    old: str
    new: str


def results_of(spans: Sequence[Span]) -> dict[int, int]:
    """Call -> its result."""
    return {s.result_of: i for i, s in enumerate(spans) if s.kind == "tool_result" and s.result_of is not None}


def repeated(graph: SpanGraph, keys: Sequence[int]) -> Iterator[Again]:
    """Calls whose tool, arguments and answer are those of an earlier call, nothing having changed state in between.

    keys  call_key of every span
    The earlier answer had come before the call was made, and said something. Where the answer differs something was
    learnt (a poll), and effects are not reads: neither is a repetition.
    """
    spans = graph.trajectory.spans
    answers = results_of(spans)
    latest: dict[int, int] = {}
    changed = -1
    for i, span in enumerate(spans):
        if span.kind == "tool_call" and i in answers:
            before = latest.get(keys[i])
            if (
                before is not None
                and answers[before] < i
                and changed < before
                and spans[answers[before]].text == spans[answers[i]].text
                and spans[answers[i]].text.strip()
                and (not graph.is_write[i] or graph.is_error[i])
            ):
                yield Again(i, before)
            latest[keys[i]] = i
            if graph.is_write[i] and not graph.is_error[i]:
                changed = i


def doubled(graph: SpanGraph, keys: Sequence[int]) -> Iterator[Again]:
    """Effects that succeeded twice with equal arguments, the first not having been reversed in between.

    A reversal undoes the effects that have one of its values in their arguments or answers; all, where none has. What
    sets a state ends what the same tool had set before of the same thing.
    Calls without arguments (submit, save) say nothing of what they do again.
    """
    spans = graph.trajectory.spans
    answers = results_of(spans)
    done: dict[int, int] = {}
    for i in effects(graph):
        if i not in answers or not spans[i].arguments:
            continue
        said = _words(spans[i].name)
        if said & SETTERS:
            done = {key: j for key, j in done.items() if key == keys[i] or not _replaces(spans[i], spans[j])}
        if said & REVERSALS:
            done = _left(done, [value for _, value in _leaves(spans[i].arguments)], spans, answers)
        before = done.get(keys[i])
        if before is not None and answers[before] < i:
            yield Again(i, before)
        done[keys[i]] = i


def _replaces(span: Span, earlier: Span) -> bool:
    """Whether both set a state of one thing: by one tool, with an argument in common, or with one argument alone."""
    if span.name != earlier.name:
        return False
    mine, other = list(_leaves(span.arguments)), set(_leaves(earlier.arguments))
    return len(mine) == 1 or not other.isdisjoint(mine)


def _left(
    done: dict[int, int], values: Sequence[str], spans: Sequence[Span], answers: dict[int, int]
) -> dict[int, int]:
    """The effects that a reversal with these values leaves."""
    named = [value for value in values if len(value) >= SHORTEST]
    said = {key: f"{body(spans[i])} {spans[answers[i]].text}" for key, i in done.items()}
    undone = {key for key, text in said.items() if any(value in text for value in named)}
    return {key: i for key, i in done.items() if key not in undone} if undone else {}


def effects(graph: SpanGraph) -> Iterator[int]:
    """Calls of tools that change state, and did not fail; commands that are run are none of them."""
    spans = graph.trajectory.spans
    for i in np.flatnonzero(graph.is_write & ~graph.is_error).tolist():
        if spans[i].kind == "tool_call" and graph.write_basis[i] not in COMMANDS and not _runs(spans[i]):
            yield i


def _runs(span: Span) -> bool:
    return bool(_words(span.name) & RUNNERS) and isinstance(span.arguments, dict) and bool(CODE & span.arguments.keys())


def outdated(graph: SpanGraph, keys: Sequence[int]) -> Iterator[Outdated]:
    """Arguments that name the old value of a field after the same call was answered with a new one."""
    spans = graph.trajectory.spans
    answers = results_of(spans)
    calls = [i for i in answers if keys[i]]
    several = {key for key in (keys[i] for i in calls) if sum(keys[j] == key for j in calls) > 1}
    known: dict[int, dict[str, Any]] = {}
    replaced: dict[tuple[str, str], str] = {}
    for i, span in enumerate(spans):
        if span.kind == "tool_call" and replaced:
            for key, value in _leaves(span.arguments):
                new = replaced.get((key, value))
                if new is not None:
                    yield Outdated(i, key, value, new)
        elif span.kind == "tool_result" and span.result_of is not None and keys[span.result_of] in several:
            fields = _fields(span.text)
            for key, value in fields.items():
                old = known.get(keys[span.result_of], {}).get(key)
                replaced.pop((key, value), None)
                if old is not None and old != value and len(old) >= SHORTEST:
                    replaced[key, old] = value
            known[keys[span.result_of]] = fields


def unused(graph: SpanGraph) -> tuple[int, int]:
    """Results that say something and that no later span used, and all that say something."""
    spans = graph.trajectory.spans
    used = set(graph.parents[USES[graph.kind]].tolist())
    said = [i for i, s in enumerate(spans) if s.kind == "tool_result" and s.text.strip()]
    return sum(i not in used for i in said), len(said)


def _words(name: str | None) -> set[str]:
    spelt = "".join(f" {c}" if c.isupper() else c if c.isalnum() else " " for c in name or "")
    return set(spelt.lower().split())


def _fields(text: str) -> dict[str, str]:
    """Fields of a JSON answer that it has once."""
    try:
        found = list(_leaves(json.loads(text)))
    except (ValueError, RecursionError):
        return {}
    names = [key for key, _ in found]
    return {key: value for key, value in found if names.count(key) == 1} if len(names) <= 200 else {}


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > 20:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, str(name), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and key:
        yield key, str(value)
