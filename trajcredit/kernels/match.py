"""Value edges: which earlier span does each value of a call or message come from (docs/edges.md has the rules)."""

from __future__ import annotations

from math import log2

from trajcredit.arrays import F64, I32, I64
from trajcredit.kernels import carriers as c
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALLS, RESULT, ROLE, ROUND, TEXT, TOOL, TURN, USER
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import BITS, END, FLAGS, FORM, START
from trajcredit.kernels.surroundings import (
    ECHOED,
    EXPLAINS,
    FIRM,
    FITS,
    IGNORED,
    N_EDGES,
    TOLD,
    fit_surroundings,
)

WORD_ALONE = 8.0
"""Bits of a plain word that was shown as a value and is a whole argument; in a longer text it proves nothing."""
WORD_BITS = 2.2
"""Bits a character of a plain word that is a whole value on both sides."""
WORD_MOST = 24.0
COMMONNESS = 2.0
"""Bits that a word loses for each doubling of the observations that showed it: so much less sure is its source."""
SCHEMA_BITS = 12.0
"""A value that stands in the tool declarations needs this many bits."""
COVER = 2.0 / 3.0
"""A source must explain this share of what the best source explains for the same child."""
SHARE = 1.0 / 6.0
"""A result that only shows words and names made of words must tell this share of what the best source tells."""
MOST_MATCHES = 8
"""Values shown as evidence of one edge."""

# Columns of the edge matrix i32[edges, 7]; MATCH_LO:MATCH_HI are rows of the match matrix i32[matches, 2] (child token,
# parent token). SINCE: how often results of later turns showed again what the edge rests on, at least
CHILD, PARENT, RULE, WORTH, MATCH_LO, MATCH_HI, SINCE = range(7)
N_EDGE_COLUMNS = 7
# Rules, in the terms of this kernel; graph.values names them
VALUE, ECHO, NEIGHBOUR, WHOLE_RESULT, FIELD_SUM, MINTED_ID, SHOWN_AGAIN = range(7)


@jit
def token_bits(child: int, token: int, spans: I32, tokens: I32, values: I32) -> float:
    """What a repetition of this token by this child is worth; 0 where it proves nothing."""
    form, flags = tokens[token, FORM], tokens[token, FLAGS]
    if flags & w.KEY or values[form, c.ORIGIN] != c.SHOWN_FIRST:
        return 0.0
    calls = spans[child, ROLE] == CALLS
    bits = tokens[token, BITS] / 100.0
    if flags & w.PLAIN:
        bits = WORD_ALONE if calls and flags & w.WHOLE else 0.0
    elif flags & w.ALPHA and values[form, c.LOWER]:
        return 0.0
    elif flags & w.START and flags & w.ALPHA and bits <= 7.5 and not calls and not starts_name(token, tokens):
        return 0.0
    return 0.0 if values[form, c.DECLARED] and bits < SCHEMA_BITS else bits


@jit
def whole_there(n: int, found: int, tokens: I32, picks: I32) -> bool:
    """Whether some source of pick n shows the value as a whole JSON value too."""
    for j in range(found):
        if tokens[picks[n, c.SOURCE_TOKEN + j], FLAGS] & w.WHOLE:
            return True
    return False


@jit
def starts_name(token: int, tokens: I32) -> bool:
    """Whether another capitalised word follows: a sentence that starts with a name."""
    if token + 1 >= len(tokens) or tokens[token + 1, START] != tokens[token, END] + 1:
        return False
    flags = tokens[token + 1, FLAGS]
    return flags & w.ALPHA != 0 and not flags & (w.PLAIN | w.START)


@jit
def is_users(form: int, spans: I32, values: I32) -> bool:
    """Whether a user turn said a value before anybody else did."""
    said = values[form, c.ORIGIN] == c.SHOWN_FIRST and values[form, c.CARRIED] > 0
    return said and spans[values[form, c.SPAN_AT], ROLE] == USER


@jit
def gather(
    child: int, common: float, spans: I32, tokens: I32, token_offsets: I64, values: I32, picks: I32, size: I64
) -> int:
    """Fill the picks of a child: its distinct values that have a source. A matched compound hides its pieces."""
    text = spans[child, TEXT]
    n = 0
    hidden = said = -1
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0:
            continue
        inside = tokens[k, FLAGS] & w.PART and tokens[k, START] < hidden
        given = inside and tokens[k, START] >= said and tokens[k, FLAGS] & w.PATH and is_users(form, spans, values)
        if inside and not given:
            continue
        if values[form, c.HOLDER] == child:
            hidden = tokens[k, END] if c.hides(tokens[k, FLAGS]) else hidden
            continue
        often = values[form, c.CARRIED] > common
        if often and spans[values[form, c.SPAN_AT], ROLE] != USER and values[form, c.CLAIMED] == 0:
            telling = tokens[k, BITS] >= SCHEMA_BITS * 100 and not tokens[k, FLAGS] & (w.PART | w.KEY)
            size[IGNORED] += 1 if telling else 0
            hidden = tokens[k, END] if tokens[k, FLAGS] & w.PATH else hidden
            continue
        bits = token_bits(child, k, spans, tokens, values)
        if bits <= 0.0:
            own = values[form, c.ORIGIN] == c.AGENT and not tokens[k, FLAGS] & (w.PART | w.PATH)
            hidden = tokens[k, END] if own else hidden  # the agent joined these itself, and says it again
            continue
        found = c.candidates(child, k, spans, tokens, values, picks[n])
        if found == 0 or (often and spans[picks[n, c.SOURCE], ROLE] != USER):
            continue
        if tokens[k, FLAGS] & w.PLAIN and tokens[k, FLAGS] & w.WHOLE and whole_there(n, found, tokens, picks):
            bits = max(bits, min(WORD_MOST, WORD_BITS * (tokens[k, END] - tokens[k, START])))
        if tokens[k, FLAGS] & (w.ALPHA | w.WORDS) and spans[picks[n, c.SOURCE], ROLE] != USER:
            bits -= COMMONNESS * log2(values[form, c.CARRIED])
            if bits <= 0.0:
                continue
        values[form, c.HOLDER] = child
        hidden = max(hidden, tokens[k, END]) if c.hides(tokens[k, FLAGS]) else hidden
        said = tokens[k, END] if inside else said
        picks[n, c.TOKEN] = k
        picks[n, c.WORTH] = int(100 * bits)
        picks[n, c.SOURCES] = 1 if often or inside else found  # the user's, and too common to ask who said it since
        picks[n, c.CHOICE] = 0
        n += 1
    return n


@jit
def choose(
    child: int,
    n: int,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    picks: I32,
    marks: I32,
    worth: F64,
    size: I64,
) -> None:
    """Settle the source of every pick: the first one, unless the words around the value fit another better, and unless
    another, a user turn or a result that fits another value, explains far more of what this child uses. What the user
    said first stays the user's."""
    fit_surroundings(child, n, spans, tokens, token_offsets, values, picks, marks, worth, size)
    clearest = 0.0
    for i in range(n):
        if spans[picks[i, c.SOURCE], ROLE] == USER:
            continue
        chosen = worth[picks[i, c.SOURCE + picks[i, c.CHOICE]], EXPLAINS]
        best, most = picks[i, c.CHOICE], chosen
        for j in range(picks[i, c.SOURCES]):
            source = picks[i, c.SOURCE + j]
            fits = worth[source, FITS] > 0.0 or spans[source, ROLE] == USER
            if fits and worth[source, EXPLAINS] > most:
                best, most = j, worth[source, EXPLAINS]
            clearest = max(clearest, worth[source, EXPLAINS])
        if chosen < COVER * most:
            picks[i, c.CHOICE] = best
        picks[i, c.CHOICE] = looked_again(i, spans, tokens, token_offsets, picks, worth)
    for i in range(n):
        carried = values[tokens[picks[i, c.TOKEN], FORM], c.CARRIED]
        if carried <= c.KEPT or spans[picks[i, c.SOURCE], ROLE] == USER:
            continue
        if worth[picks[i, c.SOURCE + picks[i, c.CHOICE]], EXPLAINS] < COVER * clearest:
            picks[i, c.SOURCES] = 0  # its source is likely one of those that are not kept


@jit
def looked_again(i: int, spans: I32, tokens: I32, token_offsets: I64, picks: I32, worth: F64) -> int:
    """The chosen source of pick i, or the last look at the same thing that shows no less of the child."""
    found = picks[i, c.CHOICE]
    first = picks[i, c.SOURCE + found]
    thing = c.thing_of(first, spans, tokens, token_offsets)
    for j in range(found + 1, picks[i, c.SOURCES] if thing >= 0 else 0):
        source = picks[i, c.SOURCE + j]
        again = spans[source, TOOL] == spans[first, TOOL] and spans[source, TURN] > spans[first, TURN]
        if again and worth[source, EXPLAINS] >= worth[first, EXPLAINS]:
            found = j if c.thing_of(source, spans, tokens, token_offsets) == thing else found
    return found


@jit
def write_edges(
    child: int,
    n: int,
    floor: float,
    spans: I32,
    tokens: I32,
    picks: I32,
    worth: F64,
    head: I32,
    link: I32,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """One edge for each source that explains enough bits of the child, or that only echoes what the user said.

    worth  f64[spans, 5]  TOLD, ECHOED: bits each source proves and echoes, in hundredths; EXPLAINS: those it could;
                          FIRM: 1 where one of its values is not made of words alone, or it is the user's; FITS: 1
                          where the words around a value chose it
    head   i32[spans]     -1; the first value of each source, the next ones follow in `link`
    """
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j], TOLD:EXPLAINS] = 0.0
    most = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(picks[i, c.SOURCES] - 1, -1, -1):
            parent = picks[i, c.SOURCE + j]
            share = shares(child, i, j, spans, picks, worth)
            if share or echoes(i, j, spans, tokens, picks):
                worth[parent, TOLD if share else ECHOED] += picks[i, c.WORTH]
                flags = tokens[picks[i, c.TOKEN], FLAGS]
                if flags & w.PATH or not flags & w.GUESSED or spans[parent, ROLE] == USER:
                    worth[parent, FIRM] = 1.0
                most = max(most, worth[parent, TOLD])
                link[i * c.KEPT + j] = head[parent]
                head[parent] = i * c.KEPT + j
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            parent = picks[i, c.SOURCE + j]
            at = head[parent]
            head[parent] = -1
            bits, echoed = worth[parent, TOLD] / 100.0, worth[parent, ECHOED] / 100.0
            if at < 0 or bits + echoed < floor or (bits < floor and echoed == 0.0):
                continue
            if worth[parent, FIRM] == 0.0 and 100.0 * (bits + echoed) < SHARE * most:
                continue
            if bits >= floor:
                add_edge(child, parent, VALUE, bits, edges, size)
            else:
                add_edge(child, parent, ECHO, bits + echoed, edges, size)
            since = c.KEPT
            while at >= 0:
                k = at // c.KEPT
                since = min(since, c.shown_since(picks[k], at % c.KEPT, spans))
                add_match(picks[k, c.TOKEN], picks[k, c.SOURCE_TOKEN + at % c.KEPT], edges, matches, size)
                at = link[at]
            if size[N_EDGES] <= len(edges):
                edges[size[N_EDGES] - 1, SINCE] = since


@jit
def shares(child: int, i: int, j: int, spans: I32, picks: I32, worth: F64) -> bool:
    """Whether candidate j is the chosen source of pick i, or a result of its turn that shows as much of the child."""
    a, b = picks[i, c.SOURCE + j], picks[i, c.SOURCE + picks[i, c.CHOICE]]
    if a == b:
        return True
    if spans[a, ROLE] == USER and a > b:
        return takes_up(child, i, j, spans, picks)
    together = spans[a, ROLE] == RESULT and spans[b, ROLE] == RESULT and spans[a, TURN] == spans[b, TURN]
    return together and worth[a, EXPLAINS] >= COVER * worth[b, EXPLAINS]


@jit
def takes_up(child: int, i: int, j: int, spans: I32, picks: I32) -> bool:
    """Whether user turn j takes up what was shown: the last to do so before a call, the one a message answers."""
    if spans[child, ROLE] != CALLS:
        return spans[picks[i, c.SOURCE + j], ROUND] == spans[child, ROUND]
    for k in range(j + 1, picks[i, c.SOURCES]):
        if spans[picks[i, c.SOURCE + k], ROLE] == USER:
            return False
    return True


@jit
def echoes(i: int, j: int, spans: I32, tokens: I32, picks: I32) -> bool:
    """Whether candidate j is the first result that shows, unasked, what the user said; dates are said too often."""
    if spans[picks[i, c.SOURCE], ROLE] != USER or tokens[picks[i, c.TOKEN], FLAGS] & w.DATE:
        return False
    for k in range(j):
        if spans[picks[i, c.SOURCE + k], ROLE] == RESULT:
            return False
    return spans[picks[i, c.SOURCE + j], ROLE] == RESULT


@jit
def add_edge(child: int, parent: int, rule: int, bits: float, edges: I32, size: I64) -> None:
    """Start an edge; its matches follow. `size`: edges and matches so far, counted on where there is no more room."""
    e = size[0]
    size[0] = e + 1
    if e >= len(edges):
        return
    edges[e, CHILD] = child
    edges[e, PARENT] = parent
    edges[e, RULE] = rule
    edges[e, WORTH] = int(100.0 * bits + 0.5)
    edges[e, MATCH_LO] = size[1]
    edges[e, MATCH_HI] = size[1]
    edges[e, SINCE] = 0


@jit
def add_match(child_token: int, parent_token: int, edges: I32, matches: I32, size: I64) -> None:
    """One more value of the edge written last, up to MOST_MATCHES."""
    e, m = size[0] - 1, size[1]
    if e >= len(edges) or m - edges[e, MATCH_LO] >= MOST_MATCHES:
        return
    size[1] = m + 1
    edges[e, MATCH_HI] = m + 1
    if m < len(matches):
        matches[m, 0] = child_token
        matches[m, 1] = parent_token
