"""What a rollout did and what it was asked to do, as far as calls that change state and the user's words show it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from trajcredit.graph import SpanGraph
from trajcredit.graph.evidence import CLAIM
from trajcredit.model import Span, body

__all__ = [
    "Call",
    "Change",
    "Deeds",
    "Refused",
    "changes",
    "deeds_of",
    "follows",
    "key_of",
    "occurrences",
    "replaced",
    "written_value",
]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and positions that lead to a value inside the arguments of a call."""

SHORTEST = 3
"""Characters of a value that stands for itself: shorter ones (a 2, an "a") stand in too many texts by chance."""
JOINERS = "-./:@,"
"""Between two word characters these do not end a word: 05 is no word of 2024-05-20, nor 500 of 1,500."""


class Refused(Exception):  # noqa: N818 - most rollouts are, and nothing failed
    """Why a rollout cannot be relabelled: a code of relabelling.REASONS, and what shows it."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code, self.detail = code, detail
        super().__init__(f"{code}: {detail}")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was answered without an error: every single value in its arguments, and what came back."""

    span: int
    tool: str
    values: dict[Path, object]
    result: str


@dataclass(frozen=True, slots=True)
class Deeds:
    """The calls of a rollout that succeeded; those of them that change state; those that the outcome rests on.

    Outcomes rest on effects, on the last message, and on whatever either used (graph ancestors): what a verifier looks
    at, and what led there. Calls beside that path need not have been made.
    """

    calls: tuple[Call, ...]
    effects: tuple[Call, ...]
    needed: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One value that was done differently from how it was asked."""

    tool: str
    path: Path
    asked: object
    achieved: object
    span: int
    """The call that did it."""

    @property
    def key(self) -> str:
        """The name of the argument."""
        return key_of(self.path)


def deeds_of(graph: SpanGraph) -> Deeds:
    """What a rollout did: calls that were answered and did not fail (`is_error`); effects are those that write."""
    spans = graph.trajectory.spans
    results: dict[int, list[str]] = {}
    for span in spans:
        if span.result_of is not None:
            results.setdefault(span.result_of, []).append(span.text)
    calls = tuple(
        Call(i, span.name or "", dict(_leaves(_arguments(span))), "\n".join(results[i]))
        for i, span in enumerate(spans)
        if span.kind == "tool_call" and i in results and not graph.is_error[i]
    )
    effects = tuple(call for call in calls if graph.is_write[call.span])
    last = [i for i, span in enumerate(spans) if span.kind == "assistant"][-1:]
    needed = _ancestors(graph, [*(call.span for call in effects), *last])
    return Deeds(calls, effects, tuple(call for call in calls if call.span in needed))


def changes(done: Sequence[Call], asked: Sequence[Call]) -> list[Change]:
    """How what was done differs from what was asked, value by value; empty where it does not.

    Both must have called the same tools as often, and all but one call of a tool must be equal: which of several calls
    stands for which is not guessed. Refused as `other-effects` where more than values differs.
    """
    found: list[Change] = []
    if Counter(call.tool for call in done) != Counter(call.tool for call in asked):
        raise Refused("other-effects", f"{_tools(done)} instead of {_tools(asked)}")
    for tool in dict.fromkeys(call.tool for call in done):
        mine = [call for call in done if call.tool == tool]
        theirs = [call for call in asked if call.tool == tool]
        for call in list(mine):
            same = next((other for other in theirs if other.values == call.values), None)
            if same is not None:
                mine.remove(call)
                theirs.remove(same)
        if len(mine) > 1:
            raise Refused("other-effects", f"{len(mine)} calls of {tool} differ: which stands for which is unknown")
        for call, other in zip(mine, theirs, strict=True):
            found += _differences(call, other)
    return found


def follows(done: Deeds, sibling: Deeds, found: Sequence[Change], wish: str) -> None:
    """Refused unless the rollout did all that counts of what the sibling did, with the achieved values for the asked.

    What counts: calls that the sibling's outcome rests on, and those that name an asked value. `did-less` where one is
    missing: the rollout fell short in more than the values. `other-words` where what the sibling was told of the asked
    value bears out a word of the user (`wish`), and what the rollout was told of the achieved value does not: the wish
    then speaks of the asked thing in more words than its name.
    """
    values = {change.asked: change.achieved for change in found}
    texts = {str(asked): str(achieved) for asked, achieved in values.items()}
    words = _words(wish) - _words(" ".join(texts))
    for call in sibling.calls:
        wanted = {path: _in_its_place(value, values, texts) for path, value in call.values.items()}
        about_it = wanted != call.values
        if call not in sibling.needed and not about_it:
            continue
        same = [own for own in done.calls if own.tool == call.tool and own.values == wanted]
        if not same:
            raise Refused("did-less", f"no {call.tool} as the sibling has it at span {call.span}")
        told = set().union(*(_words(own.result) for own in same))
        borne_out = (_words(call.result) & words) - told
        if about_it and borne_out:
            raise Refused("other-words", f"{call.tool}: the user says {min(borne_out)!r}")


def key_of(path: Path) -> str:
    """The name of an argument: the last step of its path that is no position in a list."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def written_value(value: object) -> str | None:
    """How a value stands in a text; None where it is no text or number, or too short to stand for itself."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = value.strip() if isinstance(value, str) else str(value)
    return text if len(text) >= SHORTEST else None


def occurrences(value: str, text: str, exact: bool = True) -> int:
    """How often a value stands in a text as a word of its own; `exact`: in the same case."""
    return len(_word(value, 0 if exact else re.IGNORECASE).findall(text))


def replaced(text: str, values: Mapping[str, str]) -> str:
    """The text with every value that stands in it word for word replaced, all at once."""
    pattern = re.compile("|".join(_word(value, 0).pattern for value in sorted(values, key=len, reverse=True)))
    return pattern.sub(lambda match: values[match.group()], text)


def _word(value: str, flags: int) -> re.Pattern[str]:
    joiners = re.escape(JOINERS)
    return re.compile(rf"(?<!\w)(?<!\w[{joiners}]){re.escape(value)}(?!\w)(?![{joiners}]\w)", flags)


def _arguments(span: Span) -> Any:
    return body(span) if span.arguments is None else span.arguments


def _ancestors(graph: SpanGraph, spans: Sequence[int]) -> set[int]:
    """The spans and all that they used, directly or not, by edges that are claims."""
    found: set[int] = set()
    waiting = list(spans)
    while waiting:
        span = waiting.pop()
        if span in found:
            continue
        found.add(span)
        first, last = graph.parent_offsets[span : span + 2].tolist()
        claimed = graph.weight[first:last] >= CLAIM
        waiting += graph.parents[first:last][claimed].tolist()
    return found


def _in_its_place(value: object, values: Mapping[object, object], texts: Mapping[str, str]) -> object:
    """What the sibling would have had there, had the achieved been asked of it."""
    if isinstance(value, str):
        return replaced(value, texts)
    return value if isinstance(value, bool | list | dict) else values.get(value, value)


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w\w+", text)}


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Every single value in arguments, whole numbers as integers; empty lists and objects stand as they are."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for n, inner in enumerate(value):
            yield from _leaves(inner, (*path, n))
    elif isinstance(value, float) and value.is_integer():
        yield path, int(value)
    else:
        yield path, value


def _differences(done: Call, asked: Call) -> Iterator[Change]:
    if done.values.keys() != asked.values.keys():
        raise Refused("other-effects", f"{done.tool} was called with other arguments")
    for path, value in done.values.items():
        if value != asked.values[path]:
            yield Change(done.tool, path, asked.values[path], value, done.span)


def _tools(calls: Sequence[Call]) -> str:
    counts = Counter(call.tool for call in calls)
    return " + ".join(f"{n} {tool}" if n > 1 else tool for tool, n in sorted(counts.items())) or "nothing"
