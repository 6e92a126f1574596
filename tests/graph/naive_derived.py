"""Derived values of one transcript and what the agent stored: the slow twin of kernels.derived and kernels.written.

Written from docs/edges.md. Where that is silent the twin does what the kernels do, and says so: "as it is".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from tests.graph.naive_story import Place, Story, compared, hides
from tests.graph.naive_tokens import Token
from trajcredit.kernels.words import ALPHA, MINTED, NUMBER, PART, PATH, PLAIN, WHOLE

__all__ = ["Edge", "Totals", "minted_ids", "neighbours", "shown_again", "whole_results"]

MOST_MINTED = 4
MOST_SUMS = 64
MOST_VALUES, MOST_WRITERS = 64, 8


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency; what it proves in hundredths of a bit, its first values as tokens of child and parent."""

    child: int
    parent: int
    rule: str
    bits: int
    matches: tuple[tuple[Token, Token], ...]
    since: int = 0
    """Later results that show all of it again, at least; only of what was looked for."""


def neighbours(story: Story, child: int) -> list[Edge]:
    """Numbers of a call that nobody had, where one more (else one less) was shown, latest.

    As it is: pieces of compounds and JSON keys are numbers too.
    """
    edges = []
    for _, token, form in compared(story.tokens[child]):
        digits = token.raw.replace(b",", b"")
        is_whole = token.flags & NUMBER and 3 <= len(token.raw) <= 15 and re.fullmatch(rb"[0-9]+", digits)
        if not is_whole or story.values[form].origin or int(digits) < 100:
            continue
        for other in (int(digits) + 1, int(digits) - 1):
            value = story.values.get(b"%d" % other)
            if other < 100 or value is None or value.origin != "shown":
                continue
            place = value.carriers[-1]
            if story.kind(place) != "tool_result" or story.spans[place.span].turn < story.spans[child].turn:
                edges.append(Edge(child, place.span, "neighbour", 0, ((token, story.at(place)),)))
                break
    return edges


def whole_results(story: Story, child: int) -> list[Edge]:
    """Numbers of a message that were, in the same user turn, all that an observation said; each is repeated once.

    As it is: a user turn passes for a result, a piece of a compound for a number.
    """
    edges = []
    for _, token, form in compared(story.tokens[child]):
        value, parent = story.values[form], story.values[form].alone
        if not token.flags & NUMBER or len(token.raw) < 2 or parent is None:
            continue
        if story.rounds(parent) == story.rounds(child) and story.spans[parent].turn < story.spans[child].turn:
            edges.append(Edge(child, parent, "whole_result", 0, ((token, story.tokens[parent][0]),)))
            value.alone = None
    return edges


def minted_ids(story: Story, result: int) -> list[Edge]:
    """Calls whose results first showed the ids that this result shows, unasked -> the call of this result.

    As it is: an earlier result counts again where another one's id stands between two of its ids.
    """
    edges: list[Edge] = []
    call, latest, asked = story.spans[result].result_of, None, story.asked(result)
    assert call is not None
    for _, token, form in compared(story.tokens[result]):
        value = story.values[form]
        if not token.flags & MINTED or token.flags & PART or form in asked or value.origin != "shown":
            continue
        first = value.carriers[0]
        parent = story.spans[first.span].result_of
        if first.span in (latest, result) or parent is None or story.failed[first.span]:
            continue
        if story.spans[parent].turn < story.spans[call].turn and len(edges) < MOST_MINTED:
            edges.append(Edge(call, parent, "minted_id", 0, ((token, story.at(first)),)))
            latest = first.span
    return edges


def shown_again(story: Story, result: int) -> list[Edge]:
    """Calls that stored the agent's own values -> the call whose result shows them, unasked.

    As it is: the first 64 values are looked at, and of those who stored them the first eight.
    """
    call, asked, hidden = story.spans[result].result_of, story.asked(result), -1
    assert call is not None
    found: list[tuple[Token, Place, Place]] = []
    for _, token, form in compared(story.tokens[result]):
        value = story.values[form]
        if form in asked or not value.writers or len(value.holders) > story.common:
            continue
        early, late = value.writers[0], value.writers[-1]
        late = late if story.spans[late.span].turn < story.spans[call].turn else early
        if story.spans[early.span].turn >= story.spans[call].turn or not _is_own(story, token, form, hidden):
            continue
        asked.add(form)
        hidden = token.end if hides(token) else hidden
        found.append((token, early, late))
    found = found[:MOST_VALUES]
    could: Counter[int] = Counter()
    writers = list(dict.fromkeys(place.span for _, *both in found for place in both))[:MOST_WRITERS]
    for token, early, late in found:
        could.update(dict.fromkeys({early.span, late.span} & set(writers), token.bits))
    stored: dict[int, list[tuple[Token, Place]]] = {}
    for token, early, late in found:
        kept = [place for place in (early, late) if place.span in writers]
        if kept:
            best = max(kept, key=lambda place: (could[place.span], place.span))
            stored.setdefault(best.span, []).append((token, best))
    return [
        Edge(call, span, "shown_again", sum(t.bits for t, _ in of), tuple((t, story.at(p)) for t, p in of[:3]))
        for span, of in stored.items()
        if sum(t.bits for t, _ in of) / 100 >= story.floor
    ]


def _is_own(story: Story, token: Token, form: bytes, hidden: int) -> bool:
    """No word of the language, no piece of a compound but the end of a path."""
    if not token.bits or token.flags & PLAIN or (token.flags & ALPHA and story.values[form].lower):
        return False
    return not token.flags & PART or (token.flags & PATH != 0 and token.start >= hidden)


@dataclass(slots=True)
class Totals:
    """Sums of every field over the results of every tool so far, exactly."""

    sums: dict[tuple[str | None, bytes | None], Fraction] = field(default_factory=dict)
    seen_in: dict[tuple[str | None, bytes | None], set[int]] = field(default_factory=dict)
    results: Counter[str | None] = field(default_factory=Counter)
    edges: int = 0

    def add(self, story: Story, result: int) -> None:
        """Add the numbers of a result; fields beyond the first 64 are not kept."""
        tool = story.tool(result)
        self.results[tool] += 1
        for token, name in _fields(story.tokens[result]):
            if (tool, name) in self.sums or len(self.sums) < MOST_SUMS:
                self.sums[tool, name] = self.sums.get((tool, name), Fraction(0)) + _number(token)
                self.seen_in.setdefault((tool, name), set()).add(result)

    def stated_by(self, story: Story, child: int) -> list[Edge]:
        """Numbers of a child that nobody had and that sum one field over the results of a tool: an edge to each.

        Most of these have the field. At most four edges a span of the transcript. As it is: the sum is exact to
        nine digits; a result that answers no call has an edge, though it is not in the sum.
        """
        edges: list[Edge] = []
        numbers = [
            token
            for _, token, form in compared(story.tokens[child])
            if token.flags & NUMBER and len(token.raw) >= 2 and not story.values[form].origin
        ]
        for token in numbers[:MOST_SUMS]:
            for (tool, name), total in self.sums.items():
                seen = len(self.seen_in[tool, name])
                usual = seen >= 2 and 2 * seen > self.results[tool]
                exact = abs(total - _number(token)) <= Fraction(1, 10**9) * _number(token)
                if usual and exact and self.edges <= 3 * child:
                    found = list(_summands(story, child, token, tool, name))
                    edges += found
                    self.edges += len(found)
        return edges


def _summands(story: Story, child: int, token: Token, tool: str | None, name: bytes | None) -> Iterator[Edge]:
    for parent in range(child):
        if story.spans[parent].kind == "tool_result" and not story.failed[parent] and story.tool(parent) == tool:
            here = [summand for summand, field_ in _fields(story.tokens[parent]) if field_ == name]
            if here:
                yield Edge(child, parent, "field_sum", 0, ((token, here[0]),))


def _fields(text: list[Token]) -> list[tuple[Token, bytes | None]]:
    """Numbers that are whole values, and the normal form of their key."""
    numbers = [token for token in text if token.flags & NUMBER and token.flags & WHOLE]
    return [(token, None if token.field is None else text[token.field].form) for token in numbers]


def _number(token: Token) -> Fraction:
    return Fraction(re.sub(rb"[^0-9.]", b"", token.raw).decode())
