"""Value edges: which earlier span does each value of a call or message come from (docs/edges.md has the rules)."""

from __future__ import annotations

from trajcredit.arrays import F64, I32, I64
from trajcredit.kernels import carriers as c
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALL, CALLS, RESULT, ROLE, TEXT, TURN, USER
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import BITS, END, FLAGS, FORM, SCOPE, START

WINDOW = 24
"""Tokens on either side of a value that can tell one carrier from another."""
TOPIC_SHARE = 0.25
"""How much a value the agent once asked about counts beside one that stands beside the value now."""
SCHEMA_BITS = 12.0
"""A value that stands in the tool declarations needs this many bits."""
COVER = 2.0 / 3.0
"""A source must explain this share of what the best source explains for the same child."""
MOST_MATCHES = 8
"""Values shown as evidence of one edge."""

# Columns of the mark matrix i32[forms, 2]
NEAR, COUNTED = 0, 1
# Columns of the edge matrix i32[edges, 6]; MATCH_LO:MATCH_HI are rows of the match matrix i32[matches, 2] (child token,
# parent token)
CHILD, PARENT, RULE, WEIGHT, MATCH_LO, MATCH_HI = range(6)
# Rules, in the terms of this kernel; graph.values names them
VALUE, ECHO, NEIGHBOUR, WHOLE_RESULT, FIELD_SUM, MINTED_ID = range(6)


@jit
def token_bits(child: int, token: int, common: float, spans: I32, tokens: I32, values: I32) -> float:
    """What a repetition of this token by this child is worth; 0 where it proves nothing."""
    form, flags = tokens[token, FORM], tokens[token, FLAGS]
    if flags & w.KEY or values[form, c.ORIGIN] != c.SHOWN_FIRST:
        return 0.0
    calls = spans[child, ROLE] == CALLS
    bits = tokens[token, BITS] / 100.0
    if flags & w.PLAIN:
        bits = (8.0 if flags & w.WHOLE else 3.5) if calls else 0.0
    elif flags & w.ALPHA and values[form, c.LOWER]:
        return 0.0
    elif flags & w.START and flags & w.ALPHA and bits <= 7.5 and not calls and not starts_name(token, tokens):
        return 0.0
    if values[form, c.HOLDERS] > common or (values[form, c.DECLARED] and bits < SCHEMA_BITS):
        return 0.0
    return bits


@jit
def starts_name(token: int, tokens: I32) -> bool:
    """Whether another capitalised word follows: a sentence that starts with a name."""
    if token + 1 >= len(tokens) or tokens[token + 1, START] != tokens[token, END] + 1:
        return False
    flags = tokens[token + 1, FLAGS]
    return flags & w.ALPHA != 0 and not flags & (w.PLAIN | w.START)


@jit
def gather(child: int, common: float, spans: I32, tokens: I32, token_offsets: I64, values: I32, picks: I32) -> int:
    """Fill the picks of a child: its distinct values that have a source. A matched compound hides its pieces."""
    text = spans[child, TEXT]
    n = 0
    hidden = -1
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or values[form, c.HOLDER] == child or (tokens[k, FLAGS] & w.PART and tokens[k, START] < hidden):
            continue
        bits = token_bits(child, k, common, spans, tokens, values)
        if bits <= 0.0:
            continue
        found = c.candidates(child, k, spans, tokens, values, picks[n])
        if found == 0:
            continue
        values[form, c.HOLDER] = child
        if not tokens[k, FLAGS] & w.PART:
            hidden = tokens[k, END]
        picks[n, c.TOKEN] = k
        picks[n, c.WORTH] = int(100 * bits)
        picks[n, c.SOURCES] = found
        picks[n, c.CHOICE] = 0
        n += 1
    return n


@jit
def choose(
    child: int, n: int, spans: I32, tokens: I32, token_offsets: I64, values: I32, picks: I32, marks: I32, worth: F64
) -> None:
    """Settle the source of every pick: the first one, unless the words around the value fit another better, and unless
    another explains far more of what this child uses. What the user said first stays the user's."""
    for i in range(n):
        if picks[i, c.SOURCES] > 1 and spans[picks[i, c.SOURCE], ROLE] != USER:
            best_context(child, i, spans, tokens, token_offsets, values, picks, marks)
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j], 0] = 0.0
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j], 0] += picks[i, c.WORTH]
    for i in range(n):
        if spans[picks[i, c.SOURCE], ROLE] == USER:
            continue
        best = picks[i, c.CHOICE]
        for j in range(picks[i, c.SOURCES]):
            if worth[picks[i, c.SOURCE + j], 0] > worth[picks[i, c.SOURCE + best], 0]:
                best = j
        if worth[picks[i, c.SOURCE + picks[i, c.CHOICE]], 0] < COVER * worth[picks[i, c.SOURCE + best], 0]:
            picks[i, c.CHOICE] = best


@jit
def best_context(
    child: int, i: int, spans: I32, tokens: I32, token_offsets: I64, values: I32, picks: I32, marks: I32
) -> None:
    """Choose the source whose surroundings of the value share most with its surroundings in the child.

    marks  i32[forms, 2]  NEAR: the child token a form stands beside; COUNTED: the source it was last counted for
    """
    token = picks[i, c.TOKEN]
    text = spans[child, TEXT]
    for k in range(max(token_offsets[text], token - WINDOW), min(token_offsets[text + 1], token + WINDOW + 1)):
        beside = tokens[k, SCOPE] == tokens[token, SCOPE] and tokens[k, FORM] >= 0
        if beside and tells(tokens[k, BITS], tokens[k, FLAGS]):
            marks[tokens[k, FORM], NEAR] = token
    best = -1.0
    for j in range(picks[i, c.SOURCES]):
        stamp = token * c.KEPT + j
        marks[tokens[token, FORM], COUNTED] = stamp
        span, source = picks[i, c.SOURCE + j], picks[i, c.SOURCE_TOKEN + j]
        text = spans[span, TEXT]
        lo, hi = max(token_offsets[text], source - WINDOW), min(token_offsets[text + 1], source + WINDOW + 1)
        score = shared(lo, hi, tokens[source, SCOPE], token, stamp, tokens, values, marks)
        if spans[span, ROLE] == RESULT and spans[span, CALL] >= 0:
            text = spans[spans[span, CALL], TEXT]
            lo, hi = token_offsets[text], min(token_offsets[text + 1], token_offsets[text] + 2 * WINDOW)
            score += shared(lo, hi, -1, token, stamp, tokens, values, marks)
        if score > best:
            best = score
            picks[i, c.CHOICE] = j


@jit
def shared(lo: int, hi: int, scope: int, token: int, stamp: int, tokens: I32, values: I32, marks: I32) -> float:
    """Bits of what stands in tokens lo..hi (of one scope; -1 any) and beside the child's token too, each value once.

    What the agent asked about earlier counts a quarter: a year beside the name it looks for is likelier the right one.
    """
    score = 0.0
    for k in range(lo, hi):
        form = tokens[k, FORM]
        if form < 0 or marks[form, COUNTED] == stamp or not (scope == -1 or tokens[k, SCOPE] == scope):
            continue
        if marks[form, NEAR] == token:
            score += max(1.0, tokens[k, BITS] / 100.0)
            marks[form, COUNTED] = stamp
        elif scope >= 0 and values[form, c.TOPIC] and tells(tokens[k, BITS], tokens[k, FLAGS]):
            score += TOPIC_SHARE * tokens[k, BITS] / 100.0
            marks[form, COUNTED] = stamp
    return score


@jit
def tells(bits: int, flags: int) -> bool:
    """Whether a token says something about its surroundings: a value of some kind, not a word of the language."""
    return not flags & w.KEY and (bits >= 300 or flags & w.SHOWN != 0)


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

    worth  f64[spans, 2]  bits each source explains, and bits it echoes
    head   i32[spans]     -1; the first value of each source, the next ones follow in `link`
    """
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j]] = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(picks[i, c.SOURCES] - 1, -1, -1):
            parent = picks[i, c.SOURCE + j]
            share = shares(i, j, spans, picks)
            if share or echoes(i, j, spans, tokens, picks):
                worth[parent, 0 if share else 1] += picks[i, c.WORTH] / 100.0
                link[i * c.KEPT + j] = head[parent]
                head[parent] = i * c.KEPT + j
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            parent = picks[i, c.SOURCE + j]
            at = head[parent]
            head[parent] = -1
            bits, echoed = worth[parent, 0], worth[parent, 1]
            if at < 0 or bits + echoed < floor or (bits < floor and echoed == 0.0):
                continue
            if bits >= floor:
                add_edge(child, parent, VALUE, min(1.0, 0.4 + bits / 50.0), edges, size)
            else:
                add_edge(child, parent, ECHO, 0.35, edges, size)
            while at >= 0:
                k = at // c.KEPT
                add_match(picks[k, c.TOKEN], picks[k, c.SOURCE_TOKEN + at % c.KEPT], edges, matches, size)
                at = link[at]


@jit
def shares(i: int, j: int, spans: I32, picks: I32) -> bool:
    """Whether candidate j is the chosen source of pick i, or a result of the same turn that shows the value as well."""
    chosen = picks[i, c.CHOICE]
    a, b = picks[i, c.SOURCE + j], picks[i, c.SOURCE + chosen]
    return j == chosen or (spans[a, ROLE] == RESULT and spans[b, ROLE] == RESULT and spans[a, TURN] == spans[b, TURN])


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
def add_edge(child: int, parent: int, rule: int, weight: float, edges: I32, size: I64) -> None:
    """Start an edge; its matches follow. `size`: edges, matches so far."""
    e = size[0]
    edges[e, CHILD] = child
    edges[e, PARENT] = parent
    edges[e, RULE] = rule
    edges[e, WEIGHT] = int(10000 * weight + 0.5)
    edges[e, MATCH_LO] = size[1]
    edges[e, MATCH_HI] = size[1]
    size[0] = e + 1


@jit
def add_match(child_token: int, parent_token: int, edges: I32, matches: I32, size: I64) -> None:
    """One more value of the edge written last, up to MOST_MATCHES."""
    e, m = size[0] - 1, size[1]
    if m - edges[e, MATCH_LO] < MOST_MATCHES:
        matches[m, 0] = child_token
        matches[m, 1] = parent_token
        edges[e, MATCH_HI] = m + 1
        size[1] = m + 1
