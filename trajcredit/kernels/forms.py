"""Tokens -> numbers of their normal forms: equal values get equal numbers, compared byte for byte."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import I32, I64, U8
from trajcredit.kernels import words as w
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import END, FLAGS, FORM, START

# Columns of the form matrix i64[forms, 3]: form k is arena[AT:AT + SIZE]
HASH, AT, SIZE = 0, 1, 2

LONGEST = 512
"""Bytes of the longest token compared: a longer run is data, not a value somebody copies."""


@jit
def intern(text: U8, tokens: I32, n_tokens: int, slots: I32, forms: I64, arena: U8) -> int:
    """Fill column FORM of every token; the number of distinct forms, -1 when a table is too small.

    slots  i32[power of two]  zeros; an open hash table of form numbers + 1
    forms  i64[most, 3]       filled
    arena  u8[4 * bytes + 16] filled: a normal form is no longer than its token, and a byte is in four tokens at most
    """
    scratch = np.empty(LONGEST, dtype=np.uint8)
    n_forms = 0
    for i in range(n_tokens):
        flags = tokens[i, FLAGS]
        s, e = tokens[i, START], tokens[i, END]
        if flags & w.WRITTEN:
            length = write_date(tokens[i, FORM], scratch)
        elif flags & w.PLAIN and e - s <= LONGEST and text[s] >= 97 and text[e - 1] <= 122:
            length = e - s  # a lower-case word is its own normal form
            for k in range(length):
                scratch[k] = text[s + k]
        else:
            length = w.normal_form(text, s, e, flags, scratch)
        if length == 0:
            tokens[i, FORM] = -1
            continue
        tag = hash_of(scratch, length)
        form = find(scratch, length, tag, slots, forms, arena)
        if form < 0:
            slot = -1 - form
            form = n_forms
            at = forms[form - 1, AT] + forms[form - 1, SIZE] if form > 0 else 0
            if 2 * form >= len(slots) or form >= len(forms) or at + length > len(arena):
                return -1
            slots[slot] = form + 1
            forms[form, HASH] = tag
            forms[form, AT] = at
            forms[form, SIZE] = length
            for k in range(length):
                arena[at + k] = scratch[k]
            n_forms += 1
        tokens[i, FORM] = form
    return n_forms


@jit
def hash_of(data: U8, length: int) -> int:
    """FNV-1a, folded; i64."""
    h = np.uint64(14695981039346656037)
    for i in range(length):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return int(np.int64(h ^ (h >> np.uint64(29))))


@jit
def find(data: U8, length: int, tag: int, slots: I32, forms: I64, arena: U8) -> int:
    """Number of the form data[:length] of hash `tag`, or -1 - (the free slot where it would go)."""
    mask = len(slots) - 1
    slot = tag & mask
    while slots[slot] != 0:
        k = slots[slot] - 1
        if forms[k, HASH] == tag and forms[k, SIZE] == length:
            at = forms[k, AT]
            i = 0
            while i < length and arena[at + i] == data[i]:
                i += 1
            if i == length:
                return k
        slot = (slot + 1) & mask
    return -1 - slot


@jit
def write_date(date: int, out: U8) -> int:
    """yyyymmdd as yyyy-mm-dd; its length."""
    out[4] = 45
    out[7] = 45
    for k in (9, 8, 6, 5, 3, 2, 1, 0):
        out[k] = 48 + date % 10
        date //= 10
    return 10
