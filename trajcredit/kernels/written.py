"""What the agent stored and a result shows again: the call of that result rests on what was stored."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import I32, I64
from trajcredit.kernels import carriers as c
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALL, TEXT, TURN
from trajcredit.kernels.jit import jit
from trajcredit.kernels.match import SHOWN_AGAIN, add_edge, add_match
from trajcredit.kernels.scan import BITS, END, FLAGS, FORM, START

MOST_WRITERS = 8
"""Earlier calls whose values one result may show: the first that it shows."""
MOST_VALUES = 64
"""Values of one result that are looked at."""
MOST_SHOWN = 3
"""Values shown as evidence of one writer."""

# Columns of the table of values i64[MOST_VALUES, 3]: the token, and two writers of it, which may be one
SHOWN, EARLY, LATE = range(3)


@jit
def shown_again(
    result: int,
    floor: float,
    common: float,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    asked: I32,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """An edge from the call that stored them to the call whose result shows `floor` bits of the agent's own values.

    Its own are those that nobody showed it before it wrote them; what the call itself names, and what most
    observations show, proves nothing. Of the first and the last call that stored a value, the one that stored more of
    what the result shows; the last where they are equal.
    """
    call = spans[result, CALL]
    found = np.empty((MOST_VALUES, 3), dtype=np.int64)
    writers = np.empty(MOST_WRITERS, dtype=np.int64)
    bits = np.zeros((MOST_WRITERS, 2), dtype=np.int64)  # could have stored, stored
    n = own_values(result, call, common, spans, tokens, token_offsets, values, asked, found)
    n_writers = 0
    for k in range(n):
        for side in (EARLY, LATE):
            at = 0
            while at < n_writers and writers[at] != found[k, side]:
                at += 1
            if at == n_writers and n_writers < MOST_WRITERS:
                writers[at] = found[k, side]
                n_writers += 1
            found[k, side] = at if at < MOST_WRITERS else -1
            if at < MOST_WRITERS and (side == EARLY or at != found[k, EARLY]):
                bits[at, 0] += tokens[found[k, SHOWN], BITS]
    for k in range(n):
        early, late = found[k, EARLY], found[k, LATE]
        if early < 0 or (late >= 0 and bits[late, 0] >= bits[early, 0]):
            found[k, EARLY] = late
        if found[k, EARLY] >= 0:
            bits[found[k, EARLY], 1] += tokens[found[k, SHOWN], BITS]
    for at in range(n_writers):
        if bits[at, 1] >= 100.0 * floor:
            add_edge(call, writers[at], SHOWN_AGAIN, bits[at, 1] / 100.0, edges, size)
            told = 0
            for k in range(n):
                if found[k, EARLY] == at and told < MOST_SHOWN:
                    told += 1
                    form = tokens[found[k, SHOWN], FORM]
                    first = values[form, c.WROTE] == writers[at] + 1
                    there = values[form, (c.WROTE if first else c.WROTE_LAST) + 1]
                    add_match(found[k, SHOWN], there, edges, matches, size)


@jit
def own_values(
    result: int,
    call: int,
    common: float,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    asked: I32,
    found: I64,
) -> int:
    """Fill `found` with the agent's own values that a result shows and the two calls that stored them; how many."""
    n = 0
    hidden = -1
    text = spans[result, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or values[form, c.WROTE] == 0 or asked[form] == result or values[form, c.HOLDERS] > common:
            continue
        early, late = values[form, c.WROTE] - 1, values[form, c.WROTE_LAST] - 1
        if late < 0 or spans[late, TURN] >= spans[call, TURN]:
            late = early
        if spans[early, TURN] >= spans[call, TURN] or not is_own(k, form, hidden, tokens, values):
            continue
        asked[form] = result  # counted once
        hidden = tokens[k, END] if c.hides(tokens[k, FLAGS]) else hidden
        found[n, SHOWN] = k
        found[n, EARLY] = early
        found[n, LATE] = late
        n += 1
        if n == MOST_VALUES:
            break
    return n


@jit
def is_own(token: int, form: int, hidden: int, tokens: I32, values: I32) -> bool:
    """Whether a token can show that its writer was here: no word of the language, no piece but the end of a path."""
    flags = tokens[token, FLAGS]
    if tokens[token, BITS] == 0 or flags & w.PLAIN or (flags & w.ALPHA and values[form, c.LOWER]):
        return False
    return not flags & w.PART or (flags & w.PATH != 0 and tokens[token, START] >= hidden)
