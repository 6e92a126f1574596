"""What is known about every value of one transcript while its spans are walked in order: who said it first, who showed
it since, how common it is."""

from __future__ import annotations

from trajcredit.arrays import I32, I64
from trajcredit.kernels import words as w
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import BITS, END, FLAGS, FORM, START

# Columns of the span matrix i32[spans, 9]
ROLE, TEXT, TURN, FAILED, CALL, TOOL, ROUND, WRITES, SINCE = range(9)
"""CALL: of a result, its call or -1. ROUND: how many user turns came before, the own one included. WRITES: a call that
stored what its arguments say. SINCE: the last span before that replaced what came before it (a summary), or -1."""
N_SPAN_COLUMNS = 9
# Roles
NOBODY, SYSTEM, USER, RESULT, CALLS, SAYS, REASONS, RELAYS = range(8)
"""RELAYS: it stands for what came before, which is no longer seen."""

# Columns of the value matrix i32[forms, 32]
STAMP = 0  # transcript + 1 the row is valid for
ORIGIN = 1  # who said it first
HOLDERS = 2  # user turns and results that hold it
HOLDER = 3  # the last span counted in HOLDERS, or the child whose tokens are being gathered
LOWER = 4  # it stands in lower case as plain text
DECLARED = 5  # it stands in the tool declarations
ALONE_AT = 6  # last result that is this number and nothing else, + 1
CARRIED = 7  # how many spans carried it
TOPIC = 8  # a call of the agent named it
SPAN_AT = 9  # 8 columns: the first four carriers and the latest four
TOKEN_AT = 17  # 8 columns: the token in each
WROTE = 25  # the first call of the agent that stored this value of its own, + 1; the token in it
WROTE_LAST = 27  # the same of the last such call, 0 where it is the first
CLAIMED = 29  # the first user turn that said it, shown before to the agent and told to nobody, + 1; the token in it
TOLD = 31  # a message of the agent said it
N_VALUE_COLUMNS = 32
KEPT = 8
# Columns of a pick: a value of a child and where it can come from
TOKEN, WORTH, SOURCES, CHOICE, SOURCE, SOURCE_TOKEN = 0, 1, 2, 3, 4, 12
N_PICK_COLUMNS = 20
MOST_LOOKED = 48
"""Tokens of a call among which it names what it looks at."""
THING_BITS = 1400
"""Hundredths of a bit of a whole argument that names a thing (resources.WHOLE_BITS)."""
# Origins
UNSEEN, AGENT, SYSTEM_TEXT, SHOWN_FIRST = range(4)


@jit
def fresh(values: I32, form: int, stamp: int) -> None:
    """Clear the row of a form that was last used in another transcript."""
    if values[form, STAMP] != stamp:
        values[form, :SPAN_AT] = 0
        values[form, WROTE] = 0
        values[form, WROTE_LAST] = 0
        values[form, CLAIMED] = 0
        values[form, TOLD] = 0
        values[form, STAMP] = stamp
        values[form, HOLDER] = -1


@jit
def survey(
    first: int, last: int, stamp: int, declared: int, spans: I32, tokens: I32, token_offsets: I64, values: I32
) -> tuple[int, int]:
    """Look over one transcript before walking it: how many observations it has, how many distinct values they carry.

    Fills HOLDERS, LOWER and DECLARED; `declared` is the text of the tool declarations, -1 where there are none.
    """
    observations = distinct = 0
    for i in range(first, last):
        role = spans[i, ROLE]
        observes = role == USER or role == RESULT
        observations += 1 if observes else 0
        text = spans[i, TEXT]
        for k in range(token_offsets[text], token_offsets[text + 1]):
            form = tokens[k, FORM]
            if form < 0:
                continue
            fresh(values, form, stamp)
            flags = tokens[k, FLAGS]
            if flags & w.PLAIN and not flags & (w.SHOWN | w.KEY | w.PART):
                values[form, LOWER] = 1
            if not observes or values[form, HOLDER] == i:
                continue
            values[form, HOLDER] = i
            values[form, HOLDERS] += 1
            distinct += 1 if values[form, HOLDERS] == 1 and tokens[k, BITS] > 0 else 0
    if declared >= 0:
        for k in range(token_offsets[declared], token_offsets[declared + 1]):
            form = tokens[k, FORM]
            if form >= 0:
                fresh(values, form, stamp)
                values[form, DECLARED] = 1
    return observations, distinct


@jit
def own(span: int, agent: int, spans: I32, tokens: I32, token_offsets: I64, values: I32) -> None:
    """The agent (or the system text) wrote these values: what nobody showed before is its own."""
    text = spans[span, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or tokens[k, FLAGS] & w.KEY:
            continue
        if values[form, ORIGIN] == UNSEEN:
            values[form, ORIGIN] = agent
        if spans[span, ROLE] == CALLS:
            values[form, TOPIC] = 1
        elif spans[span, ROLE] == SAYS:
            values[form, TOLD] = 1
        if spans[span, WRITES] and (values[form, ORIGIN] == AGENT or values[form, WROTE] != 0):
            at = WROTE if values[form, WROTE] == 0 else WROTE_LAST
            values[form, at] = span + 1
            values[form, at + 1] = k


@jit
def carry(span: int, spans: I32, tokens: I32, token_offsets: I64, values: I32, asked: I32) -> None:
    """A user turn or result shows these values. What the result's own call asked for is an echo and carries nothing."""
    call = spans[span, CALL]
    if spans[span, ROLE] == RESULT and call >= 0:
        text = spans[call, TEXT]
        for k in range(token_offsets[text], token_offsets[text + 1]):
            if tokens[k, FORM] >= 0 and not tokens[k, FLAGS] & w.KEY:
                asked[tokens[k, FORM]] = span
    text = spans[span, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or asked[form] == span:
            continue
        if values[form, ORIGIN] == UNSEEN:
            values[form, ORIGIN] = SHOWN_FIRST
        if spans[span, ROLE] == USER and is_news(form, spans, values):
            values[form, CLAIMED] = span + 1
            values[form, CLAIMED + 1] = k
        if tokens[k, FLAGS] & w.ALONE and tokens[k, FLAGS] & w.NUMBER:
            values[form, ALONE_AT] = span + 1
        add_carrier(span, k, form, tokens, values)


@jit
def is_news(form: int, spans: I32, values: I32) -> bool:
    """Whether a value that a user turn says was shown before, by none but results that the user does not see."""
    if values[form, ORIGIN] != SHOWN_FIRST or values[form, CARRIED] == 0 or values[form, CLAIMED] != 0:
        return False
    return spans[values[form, SPAN_AT], ROLE] == RESULT and values[form, TOLD] == 0


@jit
def relay(span: int, spans: I32, tokens: I32, token_offsets: I64, values: I32) -> None:
    """A summary shows these values from here on, and nobody before it: the agent no longer sees who did."""
    text = spans[span, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        form = tokens[k, FORM]
        if form < 0 or tokens[k, FLAGS] & w.KEY:
            continue
        if values[form, ORIGIN] != SYSTEM_TEXT:
            values[form, ORIGIN] = SHOWN_FIRST
        n = values[form, CARRIED]
        if n > 0 and values[form, SPAN_AT + slot_of(n - 1)] != span:
            values[form, CARRIED] = 0
        add_carrier(span, k, form, tokens, values)


@jit
def add_carrier(span: int, token: int, form: int, tokens: I32, values: I32) -> None:
    """Remember that a span shows a form; within one span a whole token is better than a piece of one."""
    n = values[form, CARRIED]
    if n > 0:
        latest = slot_of(n - 1)
        if values[form, SPAN_AT + latest] == span:
            known = tokens[values[form, TOKEN_AT + latest], FLAGS]
            better = known & w.PART and not tokens[token, FLAGS] & w.PART
            if better or (tokens[token, FLAGS] & w.SHOWN and not known & (w.SHOWN | w.PART)):
                values[form, TOKEN_AT + latest] = token
            return
    slot = slot_of(n)
    values[form, SPAN_AT + slot] = span
    values[form, TOKEN_AT + slot] = token
    values[form, CARRIED] = n + 1


@jit
def slot_of(n: int) -> int:
    """Where the n-th carrier is kept: the first four stay, later ones take turns in the other four."""
    return n if n < KEPT // 2 else KEPT // 2 + n % (KEPT // 2)


@jit
def hides(flags: int) -> bool:
    """Whether a token that is matched hides the pieces that follow it: a compound, or a piece of a path."""
    return not flags & w.PART or flags & w.PATH != 0


@jit
def is_short(token: int, tokens: I32) -> bool:
    """A word so short that another case makes it another word: MIA the airport, Mia the passenger."""
    return tokens[token, END] - tokens[token, START] <= 4


@jit
def is_short_capitals(token: int, tokens: I32) -> bool:
    """An abbreviation in capitals: a part of a longer name (LiveViewTest.DOM) says nothing of the thing itself."""
    letters = tokens[token, END] - tokens[token, START]
    return tokens[token, FLAGS] & w.ALPHA != 0 and letters <= 4 and tokens[token, BITS] == 400 * letters


@jit
def candidates(child: int, token: int, spans: I32, tokens: I32, values: I32, pick: I32) -> int:
    """Fill the sources that a child's token can have, oldest first, and the token in each; how many, at most KEPT.

    Not a result of the child's own turn; a failed result, or what came before a summary, only where no other shows the
    value; not two pieces of different compounds, save of paths; a plain word only where it was shown as a value and is
    used in a call.
    """
    form, carried = tokens[token, FORM], values[tokens[token, FORM], CARRIED]
    claimed = values[form, CLAIMED] - 1
    n = 0
    if claimed >= spans[child, SINCE] and may_come(child, token, claimed, values[form, CLAIMED + 1], spans, tokens):
        pick[SOURCE], pick[SOURCE_TOKEN] = claimed, values[form, CLAIMED + 1]
        n = 1
    half = KEPT // 2
    for k in range(min(carried, KEPT)):
        slot = slot_of(k if k < half or carried <= KEPT else carried - KEPT + k)
        span, source = values[form, SPAN_AT + slot], values[form, TOKEN_AT + slot]
        if n < KEPT and span != claimed and may_come(child, token, span, source, spans, tokens):
            pick[SOURCE + n], pick[SOURCE_TOKEN + n] = span, source
            n += 1
    return preferred(preferred(n, spans[child, SINCE], False, spans, pick), -1, True, spans, pick)


@jit
def may_come(child: int, token: int, span: int, source: int, spans: I32, tokens: I32) -> bool:
    """Whether a child's token can be the token `source` of an earlier span."""
    flags, there = tokens[token, FLAGS], tokens[source, FLAGS]
    if span < 0 or (spans[span, ROLE] == RESULT and spans[span, TURN] >= spans[child, TURN]):
        return False
    if flags & there & w.PART and (not flags & there & w.PATH or flags & there & w.BASE):
        return False
    if there & w.PART and spans[span, ROLE] == RESULT and is_short_capitals(source, tokens):
        return False
    if flags & w.PLAIN and (spans[child, ROLE] != CALLS or not there & w.SHOWN):
        return False
    return not (flags & w.ALPHA and tokens[token, BITS] != tokens[source, BITS] and is_short(token, tokens))


@jit
def preferred(n: int, since: int, sound: bool, spans: I32, pick: I32) -> int:
    """Of the n sources of a pick keep those from span `since` on, or with `sound` those that did not fail, unless that
    leaves none; how many."""
    kept = 0
    for j in range(n):
        span = pick[SOURCE + j]
        kept += 1 if span >= since and not (sound and spans[span, FAILED]) else 0
    if kept == 0:
        return n
    kept = 0
    for j in range(n):
        span = pick[SOURCE + j]
        if span >= since and not (sound and spans[span, FAILED]):
            pick[SOURCE + kept], pick[SOURCE_TOKEN + kept] = span, pick[SOURCE_TOKEN + j]
            kept += 1
    return kept


@jit
def shown_since(pick: I32, j: int, spans: I32) -> int:
    """How many of the sources of a pick that are kept are results, or summaries, of a later turn than source j."""
    n = 0
    for k in range(j + 1, pick[SOURCES]):
        shows = spans[pick[SOURCE + k], ROLE] == RESULT or spans[pick[SOURCE + k], ROLE] == RELAYS
        n += 1 if shows and spans[pick[SOURCE + k], TURN] > spans[pick[SOURCE + j], TURN] else 0
    return n


@jit
def thing_of(result: int, spans: I32, tokens: I32, token_offsets: I64) -> int:
    """The form of what the call of a result names first, as a whole argument or as a path; -1 for nothing."""
    call = spans[result, CALL]
    if spans[result, ROLE] != RESULT or call < 0:
        return -1
    text = spans[call, TEXT]
    for k in range(token_offsets[text], min(token_offsets[text + 1], token_offsets[text] + MOST_LOOKED)):
        flags = tokens[k, FLAGS]
        whole = flags & w.WHOLE != 0 and tokens[k, BITS] >= THING_BITS
        if (whole or flags & w.PATH) and not flags & (w.KEY | w.DATE | w.PART):
            return tokens[k, FORM]
    return -1
