"""The tool calls of a rollout as they are compared with those of others: tool, arguments one by one, what was seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.batching import call_keys, plain
from trajcredit.model import Span, Trajectory

__all__ = ["Call", "Rollout", "arguments_of", "rollout_of", "shown", "words"]

MOST_CALLS = 500
"""Calls of one rollout that are compared; the rest is counted."""
MOST_ARGUMENTS = 100
DEEPEST = 4
"""Levels of nested arguments that are told apart; below, a value is compared as a whole."""
LONGEST_COPIED = 200
"""Characters of a value that may be a copy of what was seen; longer ones are the policy's own text."""
_WORD = re.compile(r"[^\s\"'`,;:(){}\[\]<>=|!?\\]+")
_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. Calls with the same `key` are the same: tool and arguments, whatever their order or spacing."""

    span: int
    tool: str
    key: int
    arguments: tuple[tuple[str, str], ...]
    """Path and value as JSON, in the order of paths; the path is "" where the arguments are not an object."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One member of a group, as far as it is compared."""

    id: str
    number: int
    """Its place in the group, the first stored is 1."""
    reward: float | None
    """By the source that the whole group is read by; null where that gave none."""
    calls: tuple[Call, ...]
    seen: dict[str, int]
    """Words of what it was told (prompts and results) -> the first span with it."""
    more_calls: int = 0
    """Calls beyond those compared."""


def rollout_of(trajectory: Trajectory, identity: str, number: int, reward: float | None) -> Rollout:
    """The calls of a trajectory, at most MOST_CALLS."""
    keys = call_keys(trajectory)
    made = [i for i, span in enumerate(trajectory.spans) if span.kind == "tool_call"]
    kept = made[:MOST_CALLS]
    calls = tuple(Call(i, trajectory.spans[i].name or "", keys[i], arguments_of(trajectory.spans[i])) for i in kept)
    return Rollout(identity, number, reward, calls, _seen(trajectory.spans), len(made) - len(kept))


def words(text: str) -> list[str]:
    """What a value or a text is made of, in small letters: runs of characters between spaces and brackets."""
    return [word for found in _WORD.findall(text.lower()) if (word := found.strip("."))]


def shown(value: str) -> str:
    """A value as a sentence has it: text without its quotes."""
    return str(msgspec.json.decode(value)) if value.startswith('"') else value


def arguments_of(span: Span) -> tuple[tuple[str, str], ...]:
    """Every value in the arguments of a call as JSON, by the path that leads there; broken arguments are one text."""
    if span.arguments is None:
        return () if span.arguments_raw is None else (("", _encode(span.arguments_raw).decode()),)
    found = sorted(_leaves("", plain(span.arguments), 0))
    if len(found) <= MOST_ARGUMENTS:
        return tuple(found)
    rest = _encode(found[MOST_ARGUMENTS:]).decode()
    return (*found[:MOST_ARGUMENTS], (f"and {len(found) - MOST_ARGUMENTS:,} more", rest))


def _leaves(path: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Every value in nested arguments with the path that leads there: `legs[0].date`."""
    if isinstance(value, dict) and value and depth < DEEPEST:
        for name, item in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), item, depth + 1)
    elif isinstance(value, list) and value and depth and depth < DEEPEST:
        for i, item in enumerate(value):
            yield from _leaves(f"{path}[{i}]", item, depth + 1)
    elif value != {} or depth:
        yield path, _encode(value).decode()


def _seen(spans: Sequence[Span]) -> dict[str, int]:
    found: dict[str, int] = {}
    for i, span in enumerate(spans):
        if span.kind in ("system", "user", "tool_result", "meta"):
            for word in set(_WORD.findall(span.text.lower())):
                if word not in found:
                    found.setdefault(word.strip("."), i)
    return found
