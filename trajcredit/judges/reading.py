"""What rules read of one trajectory: words, specific values, who caused an observation, what was not seen before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import msgspec
import numpy as np

from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import ACTION_KINDS, Span, Trajectory, body

__all__ = ["Found", "Reading", "code_in", "quoted", "specific", "words"]

Found: TypeAlias = Iterator[tuple[int, float, str]]
"""What a rule finds: an action, how much of the rule's severity counts (0 to 1), and why."""
_WORD = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|\w+(?:[.:/@'+-]\w+)*")
_PIECE = re.compile(r"\w+")
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d])[\w@.-]{4,}|\d{6,}")
_FENCED = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
SHORTEST, LONGEST_QUOTE = 2, 80
CLAIM = 0.25
"""Edges below are candidates, not claims."""


def words(text: str) -> set[str]:
    """The words and numbers of a text, whole, in lower case, without separators of thousands; and the pieces of those
    that signs hold together, since what was said as `seat:14` or `100,200` may have been meant apart."""
    found = set()
    for one in _WORD.finditer(text):
        word = one.group()
        found.add(_plain(word))
        if not word.isalnum():
            found.update(map(str.lower, _PIECE.findall(word)))
    return found


def specific(text: str) -> dict[str, str]:
    """Numbers and codes of a text, in order, plain -> as written: a digit and two characters at least."""
    found: dict[str, str] = {}
    for one in _WORD.finditer(text):
        word = one.group()
        if len(_plain(word)) >= SHORTEST and any(map(str.isdigit, word)):
            found.setdefault(_plain(word), word)
    return found


def quoted(text: str) -> str:
    """The beginning of a text, on one line, in quotes."""
    line = " ".join(text[: 4 * LONGEST_QUOTE].split())
    return f'"{line[:LONGEST_QUOTE]}{"..." if len(line) > LONGEST_QUOTE else ""}"'


def code_in(span: Span) -> bool:
    """Whether an action holds code to run: a fenced block of a text, an argument of several lines."""
    if span.kind != "tool_call":
        return _FENCED.search(span.text) is not None
    given = span.arguments.values() if isinstance(span.arguments, dict) else [span.arguments]
    return any(isinstance(one, str) and "\n" in one.strip() for one in given)


@dataclass(frozen=True)
class Reading:
    """One trajectory as rules see it; positions are those of its spans."""

    graph: SpanGraph

    @property
    def trajectory(self) -> Trajectory:
        """What is read."""
        return self.graph.trajectory

    @property
    def spans(self) -> list[Span]:
        """Its spans."""
        return self.graph.trajectory.spans

    @cached_property
    def actions(self) -> list[int]:
        """What the policy wrote, in order; not the first span where it states the task: nobody asked for anything
        before it, and something follows."""
        found = [i for i, span in enumerate(self.spans) if span.kind in ACTION_KINDS]
        return found[1:] if self._states_the_task else found

    @cached_property
    def author(self) -> list[int | None]:
        """The action that caused each observation: the call of a result, else the last action before it."""
        found: list[int | None] = []
        last = None
        for i, span in enumerate(self.spans):
            if span.kind in ACTION_KINDS:
                last = i
            found.append(last if span.kind == "tool_result" and span.result_of is None else span.result_of)
        return found

    @cached_property
    def words(self) -> list[set[str]]:
        """The words of every span; of a call those of its arguments."""
        return [words(body(span)) for span in self.spans]

    @cached_property
    def first_seen(self) -> dict[str, int]:
        """Word -> the first span that has it; -1 where a tool declares it."""
        declared = msgspec.json.encode([(t.name, t.description, t.parameters) for t in self.trajectory.tools]).decode()
        found = dict.fromkeys(words(declared), -1) if self.trajectory.tools else {}
        for i, some in enumerate(self.words):
            for word in some:
                found.setdefault(word, i)
        return found

    def specific(self, i: int) -> dict[str, str]:
        """Numbers and codes in the body of a span."""
        return specific(body(self.spans[i]))

    def invented(self, i: int) -> list[str]:
        """Numbers and codes of an action, as written, that no earlier span has, and that no edge explains."""
        known = self._explained(i)
        return [
            written for plain, written in self.specific(i).items() if self.first_seen[plain] == i and plain not in known
        ]

    def invented_codes(self, i: int) -> list[str]:
        """Of these, what nobody works out or writes in another form: letters and digits in one, or a long number."""
        return [one for one in self.invented(i) if _CODE.fullmatch(one)]

    @cached_property
    def used(self) -> set[int]:
        """Spans that a later one depends on for a value, a state, or because the log or a person says so."""
        claimed = (self.graph.weight >= CLAIM) & np.isin(self.graph.kind, _DATA)
        return set(self.graph.parents[claimed].tolist())

    @cached_property
    def calling(self) -> set[int]:
        """Turns that call something."""
        return {span.turn for span in self.spans if span.kind == "tool_call"}

    @cached_property
    def _states_the_task(self) -> bool:
        asked = any(span.kind in ("system", "user") for span in self.spans)
        return not asked and len(self.spans) > 1 and self.spans[0].kind == "assistant" and not code_in(self.spans[0])

    def _explained(self, i: int) -> set[str]:
        """Words of a span that edges into it show to come from elsewhere, if in another form."""
        first, end = self.graph.parent_offsets[i : i + 2].tolist()
        text = body(self.spans[i])
        a, b = self.graph.match_offsets[[first, end]].tolist()
        return {word for start, stop, _, _ in self.graph.matches[a:b].tolist() for word in words(text[start:stop])}


_DATA = tuple(EDGE_KINDS.index(kind) for kind in ("value", "state", "explicit", "override"))


def _plain(word: str) -> str:
    return word.replace(",", "").lower()
