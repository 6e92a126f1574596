"""The words around a value, in a child and where it may come from: which source fits, and what each explains."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64, I32, I64
from trajcredit.kernels import carriers as c
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALL, CALLS, RESULT, ROLE, TEXT, USER
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import BITS, FLAGS, FORM, SCOPE

WINDOW = 24
"""Tokens on either side of a value that can tell one carrier from another."""
BESIDE = 4
"""How many times as much a value that stands beside the value now counts as one that the agent once asked about."""
SAME_FILE = 25
"""How many times as much again the file counts that a call names and the source is a look at."""
MOST_PATHS = 8
"""Files that one call names as whole arguments: the first."""

# Columns of the matrix of what the sources of one child are worth
TOLD, ECHOED, FIRM, EXPLAINS, FITS, ASKED = range(6)
N_WORTH_COLUMNS = 6
# Columns of the mark matrix i32[forms, 2]
NEAR, COUNTED = 0, 1
# Counters i64[5]: edges, matches, values whose surroundings were compared; and of this transcript: edges of sums, uses
# of values too common to prove anything
N_EDGES, N_MATCHES, COMPARED, N_SUM_EDGES, IGNORED = range(5)
N_COUNTERS = 5


@jit
def fit_surroundings(
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
    """Choose the source of every pick by the words around the value; note what every source explains, and which fit."""
    paths = np.empty(MOST_PATHS, dtype=np.int64)
    n_paths = whole_paths(child, spans, tokens, token_offsets, paths) if n > 0 else 0
    for i in range(n):
        if picks[i, c.SOURCES] > 1 and spans[picks[i, c.SOURCE], ROLE] != USER:
            for k in range(n_paths):
                marks[tokens[paths[k], FORM], NEAR] = size[COMPARED]
            best_context(child, i, size[COMPARED], spans, tokens, token_offsets, values, picks, marks)
            size[COMPARED] += 1
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j], EXPLAINS:] = 0.0
    for i in range(n):
        worth[picks[i, c.SOURCE + picks[i, c.CHOICE]], FITS] = 1.0
        for j in range(picks[i, c.SOURCES]):
            worth[picks[i, c.SOURCE + j], EXPLAINS] += picks[i, c.WORTH]
    first = size[COMPARED]
    size[COMPARED] += n
    for i in range(n):
        marks[tokens[picks[i, c.TOKEN], FORM], NEAR] = first + i
    for i in range(n):
        for j in range(picks[i, c.SOURCES]):
            source = picks[i, c.SOURCE + j]
            if worth[source, ASKED] == 0.0:
                worth[source, ASKED] = 1.0
                stamp = -2 - size[COMPARED]
                size[COMPARED] += 1
                worth[source, EXPLAINS] += asked_for(
                    source, first, n, stamp, spans, tokens, token_offsets, picks, marks
                )


@jit
def asked_for(
    source: int,
    number: int,
    n: int,
    stamp: int,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    picks: I32,
    marks: I32,
) -> float:
    """Worth of the picks that the call of a result names: what it answers is about them, whoever showed them first."""
    call = spans[source, CALL]
    if spans[source, ROLE] != RESULT or call < 0:
        return 0.0
    told = 0.0
    text = spans[call, TEXT]
    for k in range(token_offsets[text], min(token_offsets[text + 1], token_offsets[text] + 2 * WINDOW)):
        form = tokens[k, FORM]
        i = marks[form, NEAR] - number if form >= 0 else -1
        if 0 <= i < n and marks[form, COUNTED] != stamp:
            marks[form, COUNTED] = stamp
            known = False
            for j in range(picks[i, c.SOURCES]):
                known = known or picks[i, c.SOURCE + j] == source
            told += 0.0 if known else picks[i, c.WORTH]
    return told


@jit
def whole_paths(child: int, spans: I32, tokens: I32, token_offsets: I64, paths: I64) -> int:
    """Fill `paths` with the first tokens of a call that are paths and whole arguments; how many.

    They stand beside everything the call says, however far away: what is written into a file was seen in that file.
    """
    found = 0
    text = spans[child, TEXT]
    for k in range(token_offsets[text], token_offsets[text + 1]):
        flags = tokens[k, FLAGS]
        if flags & w.PATH and flags & w.WHOLE and not flags & w.KEY and tokens[k, FORM] >= 0 and found < len(paths):
            paths[found] = k
            found += 1
    return found if spans[child, ROLE] == CALLS else 0


@jit
def best_context(
    child: int,
    i: int,
    number: int,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    values: I32,
    picks: I32,
    marks: I32,
) -> None:
    """Choose the source whose surroundings of the value share most with its surroundings in the child.

    number  of this comparison, never used before
    marks   i32[forms, 2]  NEAR: the comparison in which a form stood beside the value (the files that the call names
                           are marked already); COUNTED: that and the source for
                           which it was last counted
    """
    token = picks[i, c.TOKEN]
    text = spans[child, TEXT]
    for k in range(max(token_offsets[text], token - WINDOW), min(token_offsets[text + 1], token + WINDOW + 1)):
        beside = tokens[k, SCOPE] == tokens[token, SCOPE] and tokens[k, FORM] >= 0
        if beside and tells(tokens[k, BITS], tokens[k, FLAGS]):
            marks[tokens[k, FORM], NEAR] = number
    best = -1
    for j in range(picks[i, c.SOURCES]):
        stamp = number * c.KEPT + j
        marks[tokens[token, FORM], COUNTED] = stamp
        span, source = picks[i, c.SOURCE + j], picks[i, c.SOURCE_TOKEN + j]
        text = spans[span, TEXT]
        lo, hi = max(token_offsets[text], source - WINDOW), min(token_offsets[text + 1], source + WINDOW + 1)
        score = shared(lo, hi, tokens[source, SCOPE], number, stamp, tokens, values, marks)
        if spans[span, ROLE] == RESULT and spans[span, CALL] >= 0:
            text = spans[spans[span, CALL], TEXT]
            lo, hi = token_offsets[text], min(token_offsets[text + 1], token_offsets[text] + 2 * WINDOW)
            score += shared(lo, hi, -1, number, stamp, tokens, values, marks)
        if score > best:
            best = score
            picks[i, c.CHOICE] = j


@jit
def shared(lo: int, hi: int, scope: int, number: int, stamp: int, tokens: I32, values: I32, marks: I32) -> int:
    """Bits, in 400ths, of what tokens lo..hi (of one scope; -1 any) share with the surroundings of the child's token.

    Each value counts once, what the agent asked about earlier a quarter: a year beside the name it looks for is likely
    the right one. Integers, so that the order of the words does not decide between equals.
    """
    score = 0
    for k in range(lo, hi):
        form = tokens[k, FORM]
        if form < 0 or marks[form, COUNTED] == stamp or not (scope == -1 or tokens[k, SCOPE] == scope):
            continue
        if marks[form, NEAR] == number:
            same_file = scope == -1 and tokens[k, FLAGS] & w.PATH and tokens[k, FLAGS] & w.WHOLE
            score += (SAME_FILE if same_file else 1) * BESIDE * max(100, tokens[k, BITS])
            marks[form, COUNTED] = stamp
        elif scope >= 0 and values[form, c.TOPIC] and tells(tokens[k, BITS], tokens[k, FLAGS]):
            score += tokens[k, BITS]
            marks[form, COUNTED] = stamp
    return score


@jit
def tells(bits: int, flags: int) -> bool:
    """Whether a token says something about its surroundings: a value of some kind, not a word of the language."""
    return not flags & w.KEY and (bits >= 300 or flags & w.SHOWN != 0)
