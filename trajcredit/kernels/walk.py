"""All transcripts of a chunk, span by span: what each child uses, then what each observation adds."""

from __future__ import annotations

from math import log2

import numpy as np

from trajcredit.arrays import I32, I64, U8
from trajcredit.kernels import carriers as c
from trajcredit.kernels.carriers import CALL, CALLS, FAILED, REASONS, RELAYS, RESULT, ROLE, SAYS, SYSTEM, TOOL, USER
from trajcredit.kernels.derived import MOST_SUMS, add_sums, field_sums, minted_ids, neighbours, whole_results
from trajcredit.kernels.jit import jit
from trajcredit.kernels.match import choose, gather, write_edges
from trajcredit.kernels.surroundings import IGNORED, N_COUNTERS, N_SUM_EDGES, N_WORTH_COLUMNS
from trajcredit.kernels.written import shown_again

FLOOR = 9.5
"""Bits an edge needs at least; log2 of the distinct values of the transcript where that is more."""
COMMON = 0.34
"""A value held by more than this share of the observations (and by more than 4) makes no edge."""


@jit
def walk(
    text: U8,
    span_offsets: I64,
    declared: I64,
    spans: I32,
    tokens: I32,
    token_offsets: I64,
    slots: I32,
    forms: I64,
    arena: U8,
    most_tokens: int,
    edges: I32,
    matches: I32,
    ignored: I64,
) -> tuple[int, int]:
    """Value edges of every transcript: how many edges and matches; those beyond the tables were counted, not kept.

    declared     i64[T]  text of the tool declarations, -1 none
    most_tokens          tokens of the longest text of an action
    edges, matches       filled (match.CHILD and so on)
    ignored      i64[T]  filled: uses of values that are too common to prove anything
    """
    values = np.zeros((len(forms), c.N_VALUE_COLUMNS), dtype=np.int32)
    asked = np.full(len(forms), -1, dtype=np.int32)
    marks = np.full((len(forms), 2), -1, dtype=np.int32)
    picks = np.empty((most_tokens + 1, c.N_PICK_COLUMNS), dtype=np.int32)
    link = np.empty((most_tokens + 1) * c.KEPT, dtype=np.int32)
    worth = np.zeros((len(spans), N_WORTH_COLUMNS))
    head = np.full(len(spans), -1, dtype=np.int32)
    sums = np.zeros((MOST_SUMS, 5))
    tools = np.zeros(1 + spans[:, TOOL].max() if len(spans) else 1, dtype=np.int64)
    size = np.zeros(N_COUNTERS, dtype=np.int64)
    for t in range(len(span_offsets) - 1):
        first, last = span_offsets[t], span_offsets[t + 1]
        observed, distinct = c.survey(first, last, t + 1, declared[t], spans, tokens, token_offsets, values)
        floor, common = max(FLOOR, log2(max(1, distinct))), max(4.0, COMMON * observed)
        n_sums = int(0)  # typed: numba would compile its users twice for a literal
        tools[:] = 0
        size[N_SUM_EDGES:] = 0
        for i in range(first, last):
            role = spans[i, ROLE]
            if role == CALLS or role == SAYS or role == REASONS or role == RELAYS:
                n = gather(i, common, spans, tokens, token_offsets, values, picks, size)
                choose(i, n, spans, tokens, token_offsets, values, picks, marks, worth, size)
                write_edges(i, n, floor, spans, tokens, picks, worth, head, link, edges, matches, size)
                if role == CALLS:
                    neighbours(
                        i, t + 1, text, spans, tokens, token_offsets, slots, forms, arena, values, edges, matches, size
                    )
                elif role == SAYS:
                    whole_results(i, spans, tokens, token_offsets, values, edges, matches, size)
                if role == CALLS or role == SAYS:
                    field_sums(
                        i, first, text, spans, tokens, token_offsets, values, sums, n_sums, tools, edges, matches, size
                    )
                if role == RELAYS:
                    c.relay(i, spans, tokens, token_offsets, values)
                else:
                    c.own(i, c.AGENT, spans, tokens, token_offsets, values)
            elif role == SYSTEM:
                c.own(i, c.SYSTEM_TEXT, spans, tokens, token_offsets, values)
            elif role == USER or role == RESULT:
                c.carry(i, spans, tokens, token_offsets, values, asked)
                if role == RESULT and spans[i, CALL] >= 0:
                    shown_again(i, floor, common, spans, tokens, token_offsets, values, asked, edges, matches, size)
                if role == RESULT and not spans[i, FAILED] and spans[i, CALL] >= 0:
                    minted_ids(i, spans, tokens, token_offsets, values, asked, edges, matches, size)
                    n_sums = add_sums(i, text, spans, tokens, token_offsets, sums, n_sums, tools)
        ignored[t] = size[IGNORED]
    return size[0], size[1]
