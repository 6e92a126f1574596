"""Value edges and resources of one transcript, by sets and dicts: the slow twin of the kernels behind graph.values.

Written from docs/edges.md. Where that is silent the twin does what the kernels do, and says so: "as it is".
kernels.match, derived, walk and resources are here; carriers in naive_story; words, scan and forms in naive_tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2

from tests.graph.naive_story import Place, Story, compared
from tests.graph.naive_tokens import Token
from trajcredit.kernels.words import (
    ALPHA,
    COMMAND,
    DATE,
    IDKEY,
    KEY,
    MINTED,
    NUMBER,
    PART,
    PATH,
    PLAIN,
    SHOWN,
    START,
    WHOLE,
    WORDS,
)  # fmt: skip
from trajcredit.model import Trajectory

__all__ = ["Edge", "resources", "value_edges"]

WINDOW = 24
MOST_MATCHES = 8
MOST_MINTED = 4
MOST_SUMS = 64


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency; what it proves in hundredths of a bit, its first values as tokens of child and parent."""

    child: int
    parent: int
    rule: str
    bits: int
    matches: tuple[tuple[Token, Token], ...]


def value_edges(trajectory: Trajectory, failed: Sequence[bool]) -> tuple[list[Edge], int]:
    """Value edges, ordered by child, and the uses of values that are too common to prove anything."""
    story, totals = Story.of(trajectory, failed), Totals()
    edges: list[Edge] = []
    ignored = 0
    for i, span in enumerate(trajectory.spans):
        if span.kind in ("tool_call", "assistant", "reasoning"):
            uses, too_common = values_of(story, i)
            ignored += too_common
            edges += shared_values(story, i, uses)
            if span.kind == "tool_call":
                edges += neighbours(story, i)
            elif span.kind == "assistant":
                edges += whole_results(story, i)
            if span.kind != "reasoning":
                edges += totals.stated_by(story, i)
            story.says(i)
        elif span.kind in ("system", "meta"):
            story.says(i)
        else:
            story.shows(i)
            if span.result_of is not None and not failed[i]:
                edges += minted_ids(story, i)
                totals.add(story, i)
    return sorted(edges, key=lambda edge: edge.child), ignored


# ---------------------------------------------------------------- values as they stand


@dataclass(frozen=True, slots=True)
class Use:
    """One value of a child and the places it may come from, oldest first."""

    token: Token
    at: int
    bits: int
    sources: list[Place]


def values_of(story: Story, child: int) -> tuple[list[Use], int]:
    """Distinct values of a child that have a source, and how many uses were too common to look for one.

    A compound that has a source hides its pieces.
    """
    uses: dict[bytes, Use] = {}
    hidden, ignored = -1, 0
    for at, token, form in compared(story.tokens[child]):
        if token.flags & PART and token.start < hidden:
            continue
        if form in uses:
            hidden = hidden if token.flags & PART else token.end
            continue
        if len(story.values[form].carriers) > story.common:
            ignored += token.bits >= 1200 and not token.flags & (PART | KEY)
            continue
        bits = _bits(story, child, at, form)
        sources = story.sources(child, token, form) if bits > 0 else []
        if sources:
            if token.flags & PLAIN and token.flags & WHOLE and any(story.at(s).flags & WHOLE for s in sources):
                bits = max(bits, min(2400, 220 * len(token.raw)))
            if token.flags & (ALPHA | WORDS) and story.kind(sources[0]) != "user":
                bits = int(100 * (bits / 100 - 2 * log2(len(story.values[form].carriers))))
            if bits <= 0:
                continue
            uses[form] = Use(token, at, bits, sources)
            hidden = hidden if token.flags & PART else token.end
    return list(uses.values()), ignored


def _bits(story: Story, child: int, at: int, form: bytes) -> int:
    """What a repetition is worth here: the lower half of the table of bits."""
    token, value, calls = story.tokens[child][at], story.values[form], story.spans[child].kind == "tool_call"
    bits, flags = token.bits, token.flags
    if flags & KEY or value.origin != "shown":
        return 0
    if flags & PLAIN:
        bits = 800 if calls and flags & WHOLE else 0
    elif (flags & ALPHA and value.lower) or (
        flags & START and flags & ALPHA and bits <= 750 and not calls and not _starts_name(story.tokens[child], at)
    ):
        return 0
    return 0 if value.declared and bits < 1200 else bits


def _starts_name(text: list[Token], at: int) -> bool:
    """Whether a second capitalised word follows, one character later."""
    after = next(iter(text[at + 1 : at + 2]), None)
    follows = after is not None and after.start == text[at].end + 1
    return after is not None and follows and after.flags & ALPHA != 0 and not after.flags & (PLAIN | START)


def shared_values(story: Story, child: int, uses: list[Use]) -> list[Edge]:
    """An edge from every source that explains enough of a child, or only echoes what the user said."""
    explains: Counter[int] = Counter()
    for use in uses:
        explains.update({place.span: use.bits for place in use.sources})
    uses = [use for use in uses if _is_clear(story, child, use, explains, uses)]
    chosen = [_choice(story, child, use, explains) for use in uses]
    edges: list[Edge] = []
    for parent in explains:
        told, echoed = 0, 0
        matches: list[tuple[Token, Token]] = []
        for use, source in zip(uses, chosen, strict=True):
            for place in use.sources:
                is_source = place.span == parent and _is_source(story, place, source, explains)
                is_echo = place.span == parent and not is_source and _is_echo(story, use, place)
                told += use.bits if is_source else 0
                echoed += use.bits if is_echo else 0
                matches += [(use.token, story.at(place))] if is_source or is_echo else []
        evidence = tuple(matches[:MOST_MATCHES])
        if told / 100 >= story.floor:
            edges.append(Edge(child, parent, "value", told, evidence))
        elif echoed and (told + echoed) / 100 >= story.floor:
            edges.append(Edge(child, parent, "echo", told + echoed, evidence))
    return edges


def _is_clear(story: Story, child: int, use: Use, explains: Counter[int], uses: list[Use]) -> bool:
    """Whether every place that showed a value is kept, or the one chosen explains about as much as any source does."""
    token = use.token.form
    assert token is not None
    if len(story.values[token].carriers) <= 8 or story.kind(use.sources[0]) == "user":
        return True
    shown = [other for other in uses if story.kind(other.sources[0]) != "user"]
    most = max(explains[place.span] for other in shown for place in other.sources)
    return 3 * explains[_choice(story, child, use, explains).span] >= 2 * most


def _choice(story: Story, child: int, use: Use, explains: Counter[int]) -> Place:
    """What the user said first is the user's; else context decides, unless another source explains far more."""
    first = use.sources[0]
    if story.kind(first) == "user":
        return first
    chosen = max(use.sources, key=lambda place: _shared(story, child, use, place))
    best = max(use.sources, key=lambda place: explains[place.span])
    return best if 3 * explains[chosen.span] < 2 * explains[best.span] else chosen


def _shared(story: Story, child: int, use: Use, place: Place) -> Fraction:
    """Bits of the values that stand beside the value both in the child and in the source or its call's arguments.

    A value beside it in the source only, which the agent once asked about, counts a quarter.
    """
    beside = {token.form for token in _around(story, child, use.at) if _tells(token)}
    counted: set[bytes | None] = {None, use.token.form}
    bits = Fraction(0)
    for token in _around(story, place.span, place.at):
        if token.form is None or token.form in counted:
            continue
        if token.form in beside:
            bits += max(100, token.bits)
            counted.add(token.form)
        elif story.values[token.form].topic and _tells(token):
            bits += Fraction(token.bits, 4)
            counted.add(token.form)
    call = story.spans[place.span].result_of
    for token in [] if call is None else story.tokens[call][: 2 * WINDOW]:
        if token.form in beside - counted:
            bits += max(100, token.bits)
            counted.add(token.form)
    return bits


def _around(story: Story, span: int, at: int) -> list[Token]:
    """Tokens of the same JSON object or line, at most WINDOW to either side."""
    text = story.tokens[span]
    return [token for token in text[max(0, at - WINDOW) : at + WINDOW + 1] if token.scope == text[at].scope]


def _tells(token: Token) -> bool:
    """Whether a token says something about its surroundings: no key, no word of the language."""
    return not token.flags & KEY and (token.bits >= 300 or token.flags & SHOWN != 0)


def _is_source(story: Story, place: Place, chosen: Place, explains: Counter[int]) -> bool:
    """The chosen source, or another result of its turn that shows as much of the child."""
    if story.kind(place) == story.kind(chosen) == "tool_result":
        together = story.spans[place.span].turn == story.spans[chosen.span].turn
        return place == chosen or (together and 3 * explains[place.span] >= 2 * explains[chosen.span])
    return place == chosen


def _is_echo(story: Story, use: Use, place: Place) -> bool:
    """The first result that shows, unasked, what the user said; dates are said too often."""
    results = [source for source in use.sources if story.kind(source) == "tool_result"]
    return story.kind(use.sources[0]) == "user" and not use.token.flags & DATE and place in results[:1]


# ---------------------------------------------------------------- derived values


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
        """Numbers of a child that nobody had and that sum one field over all results of a tool: an edge to each.

        At most four edges a span of the transcript. As it is: the sum is exact to nine digits; a result that answers no
        call has an edge, though it is not in the sum.
        """
        edges: list[Edge] = []
        numbers = [
            token
            for _, token, form in compared(story.tokens[child])
            if token.flags & NUMBER and len(token.raw) >= 2 and not story.values[form].origin
        ]
        for token in numbers[:MOST_SUMS]:
            for (tool, name), total in self.sums.items():
                everywhere = len(self.seen_in[tool, name]) == self.results[tool] >= 2
                exact = abs(total - _number(token)) <= Fraction(1, 10**9) * _number(token)
                if everywhere and exact and self.edges <= 3 * child:
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


# ---------------------------------------------------------------- resources

WHOLE_BITS = 1400
MOST_RESOURCES = 32


def resources(text: list[Token]) -> list[tuple[Token, int]]:
    """What the arguments of a call name: 1 as a whole argument, 2 as the end of a path that is one, 0 otherwise."""
    named = [token for _, token, _ in compared(text) if _is_argument(token) or _is_file(token)]
    paths = [(token.start, token.end) for token in named if _is_argument(token)]
    return [(token, _how(token, paths)) for token in named[:MOST_RESOURCES]]


def _how(token: Token, arguments: list[tuple[int, int]]) -> int:
    if _is_argument(token):
        return 1
    return 2 if any(start <= token.start < end for start, end in arguments) else 0


def _is_argument(token: Token) -> bool:
    """A telling whole argument, or a number under the key of an identifier; dates never."""
    if not token.flags & WHOLE or token.flags & (DATE | KEY):
        return False
    return token.bits >= WHOLE_BITS or (token.flags & NUMBER != 0 and token.flags & IDKEY != 0)


def _is_file(token: Token) -> bool:
    """In the first line of a value: a path or its base name, or a name with a suffix that is no number."""
    if not token.flags & COMMAND or token.flags & (KEY | NUMBER | DATE):
        return False
    return token.flags & PATH != 0 or re.search(rb"\.[^0-9]", token.raw) is not None
