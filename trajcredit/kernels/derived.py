"""Values that no carrier holds as they are: a number one away, a bare result, an exact sum, an id that shows a session.

Only exact derivations are claimed; they are worth no bits.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64, I32, I64, U8
from trajcredit.kernels import carriers as c
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALL, FAILED, RESULT, ROLE, ROUND, TEXT, TOOL, TURN
from trajcredit.kernels.forms import find, hash_of
from trajcredit.kernels.jit import jit
from trajcredit.kernels.match import FIELD_SUM, MINTED_ID, NEIGHBOUR, WHOLE_RESULT, add_edge, add_match
from trajcredit.kernels.scan import END, FIELD, FLAGS, FORM, START
from trajcredit.kernels.surroundings import N_SUM_EDGES

MOST_MINTED = 4
"""Earlier results whose ids one result may show."""
MOST_SUMS = 64
"""Fields whose running totals are kept, and numbers of one child that are compared with them."""

# Columns of a running total f64[MOST_SUMS, 5]
SUM_TOOL, SUM_FIELD, SUM_VALUE, SUM_RESULTS, SUM_LAST = range(5)


@jit
def neighbours(
    child: int,
    stamp: int,
    text: U8,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    slots: I32,
    forms: I64,
    arena: U8,
    values: I32,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """Numbers of a call that nobody showed, where one more or one less was shown: undo to 630 after revision 631."""
    scratch = np.empty(20, dtype=np.uint8)
    of = spans[child, TEXT]
    for k in range(token_offsets[of], token_offsets[of + 1]):
        form = tokens[k, FORM]
        digits = tokens[k, END] - tokens[k, START]
        if not tokens[k, FLAGS] & w.NUMBER or form < 0 or not 3 <= digits <= 15 or values[form, c.ORIGIN] != c.UNSEEN:
            continue
        number = whole_number(text, tokens[k, START], tokens[k, END])
        for other in (number + 1, number - 1):
            if number < 100 or other < 100:
                continue
            length = write_number(other, scratch)
            known = find(scratch, length, hash_of(scratch, length), slots, forms, arena)
            if known < 0 or values[known, c.STAMP] != stamp or values[known, c.ORIGIN] != c.SHOWN_FIRST:
                continue
            slot = c.slot_of(values[known, c.CARRIED] - 1)
            parent = values[known, c.SPAN_AT + slot]
            if spans[parent, ROLE] != RESULT or spans[parent, TURN] < spans[child, TURN]:
                add_edge(child, parent, NEIGHBOUR, 0.0, edges, size)
                add_match(k, values[known, c.TOKEN_AT + slot], edges, matches, size)
                break


@jit
def whole_number(text: U8, s: int, e: int) -> int:
    """The integer at [s, e), thousands separators allowed; -1 for anything else."""
    number = 0
    for i in range(s, e):
        if text[i] == 44:
            continue
        if not w.is_digit(text[i]):
            return -1
        number = number * 10 + text[i] - 48
    return number


@jit
def write_number(number: int, out: U8) -> int:
    """Decimal digits; how many."""
    length = 1
    rest = number // 10
    while rest > 0:
        length += 1
        rest //= 10
    for k in range(length - 1, -1, -1):
        out[k] = 48 + number % 10
        number //= 10
    return length


@jit
def whole_results(
    child: int, spans: I32, tokens: I32, token_offsets: I64, values: I32, edges: I32, matches: I32, size: I64
) -> None:
    """Numbers of a message that were, in the same user turn, all that a result said."""
    text = spans[child, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or not tokens[k, FLAGS] & w.NUMBER or tokens[k, END] - tokens[k, START] < 2:
            continue
        parent = values[form, c.ALONE_AT] - 1
        if parent >= 0 and spans[parent, ROUND] == spans[child, ROUND] and spans[parent, TURN] < spans[child, TURN]:
            add_edge(child, parent, WHOLE_RESULT, 0.0, edges, size)
            add_match(k, token_offsets[spans[parent, TEXT]], edges, matches, size)
            values[form, c.ALONE_AT] = 0  # said once


@jit
def minted_ids(
    result: int,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    asked: I32,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """A result shows, unasked, an id that an earlier result minted: its call ran in what that earlier call set up."""
    text, call = spans[result, TEXT], spans[result, CALL]
    found = 0
    last = -1
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or not tokens[k, FLAGS] & w.MINTED or tokens[k, FLAGS] & w.PART or asked[form] == result:
            continue
        first = values[form, c.SPAN_AT]
        if values[form, c.ORIGIN] != c.SHOWN_FIRST or first == last or first == result or spans[first, ROLE] != RESULT:
            continue
        parent = spans[first, CALL]
        if parent >= 0 and not spans[first, FAILED] and spans[parent, TURN] < spans[call, TURN]:
            add_edge(call, parent, MINTED_ID, 0.0, edges, size)
            add_match(k, values[form, c.TOKEN_AT], edges, matches, size)
            last = first
            found += 1
            if found == MOST_MINTED:
                return


@jit
def add_sums(
    result: int, text: U8, spans: I32, tokens: I32, token_offsets: I64, sums: F64, n_sums: int, tools: I64
) -> int:
    """Add the numbers of a result to the running totals of its tool's fields; how many totals there are."""
    of, tool = spans[result, TEXT], spans[result, TOOL]
    tools[tool] += 1
    for k in range(token_offsets[of], token_offsets[of + 1]):
        flags = tokens[k, FLAGS]
        if not (flags & w.NUMBER and flags & w.WHOLE):
            continue
        field = tokens[tokens[k, FIELD], FORM] if tokens[k, FIELD] >= 0 else -1
        at = 0
        while at < n_sums and not (sums[at, SUM_TOOL] == tool and sums[at, SUM_FIELD] == field):
            at += 1
        if at == n_sums:
            if n_sums == MOST_SUMS:
                continue
            sums[at, SUM_TOOL] = tool
            sums[at, SUM_FIELD] = field
            sums[at, SUM_VALUE] = 0.0
            sums[at, SUM_RESULTS] = 0
            sums[at, SUM_LAST] = -1
            n_sums += 1
        sums[at, SUM_VALUE] += decimal(text, tokens[k, START], tokens[k, END])
        if sums[at, SUM_LAST] != result:
            sums[at, SUM_LAST] = result
            sums[at, SUM_RESULTS] += 1
    return n_sums


@jit
def decimal(text: U8, s: int, e: int) -> float:
    """The number at [s, e), without sign; thousands separators allowed."""
    number = 0.0
    place = 0.0
    for i in range(s, e):
        if text[i] == 46:
            place = 1.0
        elif w.is_digit(text[i]):
            number = number * 10.0 + (text[i] - 48)
            place *= 10.0
    return number / place if place > 0.0 else number


@jit
def field_sums(
    child: int,
    first: int,
    text: U8,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    sums: F64,
    n_sums: int,
    tools: I64,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """A number nobody showed that is the exact sum of one field over the results of one tool: an edge to each.

    Most of them must have the field; the others may have failed in words that nobody knows.
    size[N_SUM_EDGES] bounds these edges by four a span of the transcript, whatever a log repeats.
    """
    of = spans[child, TEXT]
    compared = 0
    for k in range(token_offsets[of], token_offsets[of + 1]):
        form = tokens[k, FORM]
        if form < 0 or not tokens[k, FLAGS] & w.NUMBER or tokens[k, END] - tokens[k, START] < 2:
            continue
        if values[form, c.ORIGIN] != c.UNSEEN or compared == MOST_SUMS:
            continue
        compared += 1
        number = decimal(text, tokens[k, START], tokens[k, END])
        for at in range(n_sums):
            if sums[at, SUM_RESULTS] < 2 or 2 * sums[at, SUM_RESULTS] <= tools[int(sums[at, SUM_TOOL])]:
                continue
            if abs(sums[at, SUM_VALUE] - number) <= 1e-9 * number and size[N_SUM_EDGES] + child - first <= 4 * (
                child - first
            ):
                sum_edges(child, first, k, at, spans, tokens, token_offsets, sums, edges, matches, size)


@jit
def sum_edges(
    child: int,
    first: int,
    token: int,
    at: int,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    sums: F64,
    edges: I32,
    matches: I32,
    size: I64,
) -> None:
    """An edge to every result that went into a running total, each with its summand."""
    for parent in range(first, child):
        if spans[parent, ROLE] != RESULT or spans[parent, FAILED] or spans[parent, TOOL] != sums[at, SUM_TOOL]:
            continue
        of = spans[parent, TEXT]
        for k in range(token_offsets[of], token_offsets[of + 1]):
            field = tokens[tokens[k, FIELD], FORM] if tokens[k, FIELD] >= 0 else -1
            if tokens[k, FLAGS] & w.NUMBER and tokens[k, FLAGS] & w.WHOLE and field == sums[at, SUM_FIELD]:
                add_edge(child, parent, FIELD_SUM, 0.0, edges, size)
                add_match(token, k, edges, matches, size)
                size[N_SUM_EDGES] += 1
                break
