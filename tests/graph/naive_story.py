"""A transcript and what is known of its values while its spans are walked: the slow twin of kernels.carriers.

Written from docs/edges.md. Where that is silent the twin does what the kernel does, and says so: "as it is".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log2

import msgspec

from tests.graph.naive_tokens import Token, tokens
from trajcredit.graph.text import fold, told
from trajcredit.kernels.words import ALONE, ALPHA, BASE, KEY, NUMBER, PART, PATH, PLAIN, SHOWN
from trajcredit.model import Span, Trajectory

__all__ = ["Place", "Story", "Value", "compared", "hides"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: token `at` of a span."""

    span: int
    at: int


@dataclass(slots=True)
class Value:
    """What is known of one normal form."""

    holders: set[int] = field(default_factory=set)
    """User turns and results that hold it, in the whole transcript."""
    lower: bool = False
    """It stands in lower case as plain text, anywhere."""
    declared: bool = False
    """It stands in the tool declarations."""
    origin: str = ""
    """Who had it first: agent, system or shown."""
    topic: bool = False
    """A call of the agent named it."""
    told: bool = False
    """A message of the agent said it."""
    claimed: Place | None = None
    """The first user turn that said it after results alone had shown it and no message had."""
    writers: list[Place] = field(default_factory=list)
    """The calls of the agent that stored it, where it is the agent's own."""
    carriers: list[Place] = field(default_factory=list)
    """Who showed it so far, oldest first, each span once."""
    alone: int | None = None
    """The last observation that was this number and nothing else."""


def compared(text: list[Token]) -> Iterator[tuple[int, Token, bytes]]:
    """Tokens that have a normal form: where each stands, and the form."""
    return ((at, token, token.form) for at, token in enumerate(text) if token.form is not None)


def hides(token: Token) -> bool:
    """A compound, or a piece of a path."""
    return not token.flags & PART or token.flags & PATH != 0


@dataclass(slots=True)
class Story:
    """A transcript with the tokens of every span."""

    spans: Sequence[Span]
    failed: Sequence[bool]
    stores: Sequence[bool]
    tokens: list[list[Token]]
    values: dict[bytes, Value]
    common: float
    """A value held by more observations than this proves nothing."""
    floor: float
    """Bits that an edge needs."""

    @classmethod
    def of(cls, trajectory: Trajectory, failed: Sequence[bool], stores: Sequence[bool]) -> Story:
        """The survey: what the whole transcript holds, before it is walked."""
        spans = trajectory.spans
        texts = [tokens(fold(told(span))[0]) for span in spans]
        observed = [i for i, span in enumerate(spans) if span.kind in ("user", "tool_result")]
        values: dict[bytes, Value] = {}
        distinct = 0
        for i, text in enumerate(texts):
            for _, token, form in compared(text):
                value = values.setdefault(form, Value())
                value.lower |= token.flags & PLAIN != 0 and not token.flags & (SHOWN | KEY | PART)
                if i in observed:
                    distinct += not value.holders and token.bits > 0  # as it is: the first token of the form decides
                    value.holders.add(i)
        if trajectory.tools:
            for _, _, form in compared(tokens(fold(msgspec.json.encode(trajectory.tools).decode())[0])):
                values.setdefault(form, Value()).declared = True
        return cls(spans, failed, stores, texts, values, max(4, 0.34 * len(observed)), max(9.5, log2(max(1, distinct))))

    def at(self, place: Place) -> Token:
        return self.tokens[place.span][place.at]

    def kind(self, place: Place) -> str:
        return self.spans[place.span].kind

    def rounds(self, span: int) -> int:
        """User turns up to and including a span."""
        return sum(earlier.kind == "user" for earlier in self.spans[: span + 1])

    def tool(self, span: int) -> str | None:
        """The tool of a result: of the call it answers, else the one it names itself."""
        call = self.spans[span].result_of
        return self.spans[span if call is None else call].name

    def asked(self, span: int) -> set[bytes]:
        """What the call that a result answers asked for: the result only echoes it."""
        call = self.spans[span].result_of
        return set() if call is None else {form for _, t, form in compared(self.tokens[call]) if not t.flags & KEY}

    def says(self, span: int) -> None:
        """What the agent or the system text says, and nobody showed before, has no source."""
        kind = self.spans[span].kind
        for at, token, form in compared(self.tokens[span]):
            if not token.flags & KEY:
                value = self.values[form]
                value.origin = value.origin or ("system" if kind in ("system", "meta") else "agent")
                value.topic |= kind == "tool_call"
                value.told |= kind == "assistant"
                if (value.origin == "agent" or value.writers) and self.stores[span]:
                    value.writers.append(Place(span, at))

    def shows(self, span: int) -> None:
        """A user turn or result shows its values, except the echo of its own call."""
        asked = self.asked(span)
        for at, token, form in compared(self.tokens[span]):
            if form in asked:
                continue
            value = self.values[form]
            value.origin = value.origin or "shown"
            by_result = bool(value.carriers) and self.kind(value.carriers[0]) == "tool_result"
            if self.spans[span].kind == "user" and by_result and value.origin == "shown" and not value.told:
                value.claimed = value.claimed or Place(span, at)
            if token.flags & ALONE and token.flags & NUMBER:
                value.alone = span
            if not value.carriers or value.carriers[-1].span != span:
                value.carriers.append(Place(span, at))
            elif _better(token, self.at(value.carriers[-1])):
                value.carriers[-1] = Place(span, at)

    def relays(self, span: int) -> bool:
        """Whether a span stands for what came before it: a summary, once something was done."""
        done = any(earlier.kind in ("tool_call", "assistant", "reasoning") for earlier in self.spans[:span])
        return self.spans[span].kind == "meta" and done

    def sums_up(self, span: int) -> None:
        """Whoever showed these values before, from here on it is this span that shows them."""
        for at, token, form in compared(self.tokens[span]):
            if token.flags & KEY:
                continue
            value = self.values[form]
            value.origin = "system" if value.origin == "system" else "shown"
            if not value.carriers or value.carriers[-1].span != span:
                value.carriers = [Place(span, at)]
            elif _better(token, self.at(value.carriers[-1])):
                value.carriers[-1] = Place(span, at)

    def sources(self, child: int, token: Token, form: bytes) -> list[Place]:
        """Where a token of a child may come from, oldest first: the first four carriers and the latest four.

        A user turn that claimed it comes before them all. A failed result counts only where all failed, and what came
        before a summary only where no other is left.
        """
        carriers, claimed = self.values[form].carriers, self.values[form].claimed
        kept = carriers[:4] + carriers[4:][-4:]
        since = max((span for span in range(child) if self.relays(span)), default=-1)
        if claimed is not None and claimed.span >= since and self._may_come(child, token, claimed):
            kept = [claimed, *(place for place in kept if place.span != claimed.span)]
        elif claimed is not None:
            kept = [place for place in kept if place.span != claimed.span]
        found = [place for place in kept if self._may_come(child, token, place)][:8]
        found = [place for place in found if place.span >= since] or found
        return [place for place in found if not self.failed[place.span]] or found

    def _may_come(self, child: int, token: Token, place: Place) -> bool:
        there, calls = self.at(place), self.spans[child].kind == "tool_call"
        if self.kind(place) == "tool_result" and self.spans[place.span].turn >= self.spans[child].turn:
            return False  # not there yet when this turn was written
        both = token.flags & there.flags
        if both & PART and (not both & PATH or both & BASE):
            return False  # two pieces of different compounds, two paths that end alike
        short = there.flags & ALPHA and len(there.raw) <= 4 and there.bits == 400 * len(there.raw)
        if self.kind(place) == "tool_result" and there.flags & PART and short:
            return False  # an abbreviation within a longer name
        if token.flags & PLAIN and not (calls and there.flags & SHOWN):
            return False
        in_another_case = token.flags & ALPHA and token.bits != there.bits
        return not (in_another_case and len(token.raw) <= 4)  # MIA the airport, Mia the passenger


def _better(token: Token, known: Token) -> bool:
    """Of two tokens in one span: a whole one rather than a piece, a shown one rather than one that is not.

    As it is: a shown piece also replaces a whole token that is not shown.
    """
    if known.flags & PART:
        return not token.flags & PART
    return token.flags & SHOWN != 0 and not known.flags & SHOWN
