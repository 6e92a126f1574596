"""Value edges and resources of one transcript, by sets and dicts: the slow twin of the kernels behind graph.values.

Written from docs/edges.md. Where that is silent the twin does what the kernels do, and says so: "as it is".
kernels.match, walk and resources are here; derived and written in naive_derived, carriers in naive_story, words, scan
and forms in naive_tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2

from tests.graph.naive_derived import Edge, Totals, minted_ids, neighbours, shown_again, whole_results
from tests.graph.naive_story import Place, Story, compared, hides
from tests.graph.naive_tokens import Token
from trajcredit.kernels.words import (
    ALPHA,
    COMMAND,
    DATE,
    DOTTED,
    IDKEY,
    KEY,
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


def value_edges(trajectory: Trajectory, failed: Sequence[bool], stores: Sequence[bool]) -> tuple[list[Edge], int]:
    """Value edges, ordered by child, and the uses of values that are too common to prove anything."""
    story, totals = Story.of(trajectory, failed, stores), Totals()
    edges: list[Edge] = []
    ignored = 0
    for i, span in enumerate(trajectory.spans):
        if span.kind in ("tool_call", "assistant", "reasoning") or story.relays(i):
            uses, too_common = values_of(story, i)
            ignored += too_common
            edges += shared_values(story, i, uses)
            if span.kind == "tool_call":
                edges += neighbours(story, i)
            elif span.kind == "assistant":
                edges += whole_results(story, i)
            if span.kind in ("tool_call", "assistant"):
                edges += totals.stated_by(story, i)
            if story.relays(i):
                story.sums_up(i)
            else:
                story.says(i)
        elif span.kind in ("system", "meta"):
            story.says(i)
        else:
            story.shows(i)
            if span.result_of is not None:
                edges += shown_again(story, i)
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

    A compound that has a source hides its pieces, a path also where it is too common, and so does one that the agent
    made up earlier; but not the longest piece of a path that a user turn had said first.
    """
    uses: dict[bytes, Use] = {}
    hidden, said, ignored = -1, -1, 0
    for at, token, form in compared(story.tokens[child]):
        inside = token.flags & PART != 0 and token.start < hidden
        if inside and not (token.flags & PATH and token.start >= said and _is_users(story, form)):
            continue
        if form in uses:
            hidden = token.end if hides(token) else hidden
            continue
        value = story.values[form]
        often = len(value.carriers) > story.common
        if often and value.claimed is None and story.kind(value.carriers[0]) != "user":
            ignored += token.bits >= 1200 and not token.flags & (PART | KEY)
            hidden = token.end if token.flags & PATH else hidden
            continue
        bits = _bits(story, child, at, form)
        sources = story.sources(child, token, form) if bits > 0 else []
        if sources and not (often and story.kind(sources[0]) != "user"):
            if token.flags & PLAIN and token.flags & WHOLE and any(story.at(s).flags & WHOLE for s in sources):
                bits = max(bits, min(2400, 220 * len(token.raw)))
            if token.flags & (ALPHA | WORDS) and story.kind(sources[0]) != "user":
                bits = int(100 * (bits / 100 - 2 * log2(len(story.values[form].carriers))))
            if bits <= 0:
                continue
            uses[form] = Use(token, at, bits, sources[:1] if often or inside else sources)
            hidden = max(hidden, token.end) if hides(token) else hidden
            said = token.end if inside else said
        elif bits <= 0 and story.values[form].origin == "agent" and not token.flags & (PART | PATH):
            hidden = token.end
    return list(uses.values()), ignored


def _is_users(story: Story, form: bytes) -> bool:
    """Whether a user turn said a value before anybody showed it."""
    value = story.values[form]
    return value.origin == "shown" and bool(value.carriers) and story.kind(value.carriers[0]) == "user"


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
    """An edge from every source that explains enough of a child, or only echoes what the user said.

    A result that shows words alone must tell a sixth of what the best source does.
    """
    explains: Counter[int] = Counter()
    for use in uses:
        explains.update({place.span: use.bits for place in use.sources})
    for shown in list(explains):
        explains[shown] += _asked_for(story, shown, uses)
    every = uses
    uses = [use for use in every if _is_clear(story, child, use, explains, every)]
    chosen = [_choice(story, child, use, explains, every) for use in uses]
    found: list[tuple[int, int, int, bool, tuple[tuple[Token, Token], ...], int]] = []
    for parent in explains:
        told, echoed, firm = 0, 0, story.spans[parent].kind == "user"
        matches: list[tuple[Token, Token]] = []
        since = 8
        for use, source in zip(uses, chosen, strict=True):
            for place in use.sources:
                is_source = place.span == parent and _is_source(story, child, use, place, source, explains)
                is_echo = place.span == parent and not is_source and _is_echo(story, use, place)
                told += use.bits if is_source else 0
                echoed += use.bits if is_echo else 0
                matches += [(use.token, story.at(place))] if is_source or is_echo else []
                since = min(since, _shown_since(story, use, place)) if is_source or is_echo else since
                guessed = use.token.flags & (ALPHA | WORDS | DOTTED) and not use.token.flags & PATH
                firm |= (is_source or is_echo) and not guessed
        found.append((parent, told, echoed, firm, tuple(matches[:MOST_MATCHES]), since))
    most = max((told for _, told, *_ in found), default=0)
    edges: list[Edge] = []
    for parent, told, echoed, firm, evidence, since in found:
        if not firm and 6 * (told + echoed) < most:
            continue
        if told / 100 >= story.floor:
            edges.append(Edge(child, parent, "value", told, evidence, since))
        elif echoed and (told + echoed) / 100 >= story.floor:
            edges.append(Edge(child, parent, "echo", told + echoed, evidence, since))
    return edges


def _asked_for(story: Story, source: int, uses: list[Use]) -> int:
    """Bits of what the call of a result names of the values of a child that the result itself does not carry."""
    call = story.spans[source].result_of
    named = {token.form for token in story.tokens[call][: 2 * WINDOW]} if call is not None else set[bytes | None]()
    told = [use for use in uses if use.token.form in named]
    return sum(use.bits for use in told if all(place.span != source for place in use.sources))


def _shown_since(story: Story, use: Use, place: Place) -> int:
    """Results, or summaries, of later turns that show a value again."""
    later = [other for other in use.sources if story.spans[other.span].turn > story.spans[place.span].turn]
    return sum(story.kind(other) in ("tool_result", "meta") and other.span > place.span for other in later)


def _is_clear(story: Story, child: int, use: Use, explains: Counter[int], uses: list[Use]) -> bool:
    """Whether every place that showed a value is kept, or the one chosen explains about as much as any source does."""
    token = use.token.form
    assert token is not None
    if len(story.values[token].carriers) <= 8 or story.kind(use.sources[0]) == "user":
        return True
    shown = [other for other in uses if story.kind(other.sources[0]) != "user"]
    most = max(explains[place.span] for other in shown for place in other.sources)
    return 3 * explains[_choice(story, child, use, explains, uses).span] >= 2 * most


def _choice(story: Story, child: int, use: Use, explains: Counter[int], uses: list[Use]) -> Place:
    """What the user said first is the user's; else context decides, unless another source explains far more.

    That one is a user turn, or context chose it for another value of the child.
    """
    chosen = _fitting(story, child, use)
    if story.kind(use.sources[0]) == "user":
        return chosen
    fit = {_fitting(story, child, other).span for other in uses}
    others = [place for place in use.sources if place.span in fit or story.kind(place) == "user"]
    best = max(others, key=lambda place: explains[place.span])
    chosen = best if 3 * explains[chosen.span] < 2 * explains[best.span] else chosen
    return _looked_again(story, use, chosen, explains)


def _looked_again(story: Story, use: Use, chosen: Place, explains: Counter[int]) -> Place:
    """The last look of the same tool at the same thing, in a later turn, that shows no less of the child."""
    thing = _thing(story, chosen.span)
    again = [
        place
        for place in use.sources[use.sources.index(chosen) + 1 :]
        if thing is not None
        and _thing(story, place.span) == thing
        and story.tool(place.span) == story.tool(chosen.span)
        and story.spans[place.span].turn > story.spans[chosen.span].turn
        and explains[place.span] >= explains[chosen.span]
    ]
    return again[-1] if again else chosen


def _thing(story: Story, result: int) -> bytes | None:
    """What the call of a result names first: a telling whole argument, or a path."""
    call = story.spans[result].result_of
    if call is None or story.spans[result].kind != "tool_result":
        return None
    for token in story.tokens[call][: 2 * WINDOW]:
        names = token.flags & PATH or (token.flags & WHOLE and token.bits >= WHOLE_BITS)
        if names and not token.flags & (KEY | DATE | PART):
            return token.form
    return None


def _fitting(story: Story, child: int, use: Use) -> Place:
    """The user's, where the user said it first, else the source whose surroundings fit best."""
    if story.kind(use.sources[0]) == "user":
        return use.sources[0]
    return max(use.sources, key=lambda place: _shared(story, child, use, place))


def _shared(story: Story, child: int, use: Use, place: Place) -> Fraction:
    """Bits of the values that stand beside the value both in the child and in the source or its call's arguments.

    A value beside it in the source only, which the agent once asked about, counts a quarter. The files that a call
    names stand beside all that it says.
    """
    named = [token for token in story.tokens[child] if token.flags & PATH and token.flags & WHOLE]
    named = [token for token in named if not token.flags & KEY and story.spans[child].kind == "tool_call"][:8]
    beside = {token.form for token in [*named, *_around(story, child, use.at)] if token in named or _tells(token)}
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
            bits += max(100, token.bits) * (25 if token.flags & PATH and token.flags & WHOLE else 1)
            counted.add(token.form)
    return bits


def _around(story: Story, span: int, at: int) -> list[Token]:
    """Tokens of the same JSON object or line, at most WINDOW to either side."""
    text = story.tokens[span]
    return [token for token in text[max(0, at - WINDOW) : at + WINDOW + 1] if token.scope == text[at].scope]


def _tells(token: Token) -> bool:
    """Whether a token says something about its surroundings: no key, no word of the language."""
    return not token.flags & KEY and (token.bits >= 300 or token.flags & SHOWN != 0)


def _is_source(story: Story, child: int, use: Use, place: Place, chosen: Place, explains: Counter[int]) -> bool:
    """The chosen source, another result of its turn that shows as much of the child, or a user turn that takes it up:
    the last before a call, the one that a message answers."""
    if story.kind(place) == "user" and place.span > chosen.span:
        later = use.sources[use.sources.index(place) + 1 :]
        if story.spans[child].kind == "tool_call":
            return all(story.kind(other) != "user" for other in later)
        return story.rounds(place.span) == story.rounds(child)
    if story.kind(place) == story.kind(chosen) == "tool_result":
        together = story.spans[place.span].turn == story.spans[chosen.span].turn
        return place == chosen or (together and 3 * explains[place.span] >= 2 * explains[chosen.span])
    return place == chosen


def _is_echo(story: Story, use: Use, place: Place) -> bool:
    """The first result that shows, unasked, what the user said; dates are said too often."""
    results = [source for source in use.sources if story.kind(source) == "tool_result"]
    return story.kind(use.sources[0]) == "user" and not use.token.flags & DATE and place in results[:1]


# ---------------------------------------------------------------- resources

WHOLE_BITS = 1400
MOST_RESOURCES = 32


def resources(text: list[Token]) -> list[tuple[Token, int, bool]]:
    """What the arguments of a call name: 1 as a whole argument, 2 as the end of a path that is one, 0 otherwise; and
    whether it looks like a file."""
    named = [token for _, token, _ in compared(text) if _is_argument(token) or (_is_file(token) and _is_command(token))]
    paths = [(token.start, token.end) for token in named if _is_argument(token)]
    return [(token, _how(token, paths), _is_file(token)) for token in named[:MOST_RESOURCES]]


def _how(token: Token, arguments: list[tuple[int, int]]) -> int:
    if _is_argument(token):
        return 1
    return 2 if any(start <= token.start < end for start, end in arguments) else 0


def _is_argument(token: Token) -> bool:
    """A telling whole argument, or a number under the key of an identifier; dates never."""
    if not token.flags & WHOLE or token.flags & (DATE | KEY):
        return False
    return token.bits >= WHOLE_BITS or (token.flags & NUMBER != 0 and token.flags & IDKEY != 0)


def _is_command(token: Token) -> bool:
    """Whether it stands in the first line of a value."""
    return token.flags & COMMAND != 0


def _is_file(token: Token) -> bool:
    """A path or its base name, or a name with a suffix that is no number."""
    if token.flags & (KEY | NUMBER | DATE):
        return False
    return token.flags & PATH != 0 or re.search(rb"\.[^0-9]", token.raw) is not None
