"""What each call names: whole arguments that identify something, files of a command line."""

from __future__ import annotations

from trajcredit.arrays import I32, I64, U8
from trajcredit.kernels import words as w
from trajcredit.kernels.carriers import CALLS, ROLE, TEXT
from trajcredit.kernels.jit import jit
from trajcredit.kernels.scan import BITS, END, FLAGS, FORM, START

WHOLE_BITS = 1400
"""Hundredths of a bit that a whole argument needs to name a resource."""
MENTIONED, WHOLE, PIECE = 0, 1, 2
"""How a call names it: inside a command line, as a whole argument, as the end of a path that is a whole argument."""
MOST = 32
"""Resources of one call."""


@jit
def resources(text: U8, spans: I32, tokens: I32, token_offsets: I64, offsets: I64, found: I32) -> int:
    """Tokens that name a resource, call by call; how many. What does not fit in `found` is counted, not kept.

    offsets  i64[spans+1]  filled: rows of `found` that belong to span i
    found    i32[most, 3]  filled: token; WHOLE, PIECE or MENTIONED; 1 where it looks like a file
    """
    n = 0
    for i in range(len(spans)):
        offsets[i] = n
        if spans[i, ROLE] != CALLS:
            continue
        of, whole_end = spans[i, TEXT], -1
        for k in range(token_offsets[of], token_offsets[of + 1]):
            if tokens[k, FORM] < 0 or n - offsets[i] == MOST:
                continue
            whole = names_whole(tokens[k, FLAGS], tokens[k, BITS])
            whole_end = tokens[k, END] if whole else whole_end
            file = looks_like_file(text, tokens[k, START], tokens[k, END], tokens[k, FLAGS])
            if whole or (file and tokens[k, FLAGS] & w.COMMAND):
                if n < len(found):
                    found[n, 2] = file
                    found[n, 0] = k
                    found[n, 1] = WHOLE if whole else (PIECE if tokens[k, START] < whole_end else MENTIONED)
                n += 1
    offsets[len(spans)] = n
    return n


@jit
def names_whole(flags: int, bits: int) -> bool:
    """A whole argument that is telling, or a number under a key that names an identifier; dates never."""
    if not flags & w.WHOLE or flags & (w.DATE | w.KEY):
        return False
    return bits >= WHOLE_BITS or (flags & w.NUMBER and flags & w.IDKEY) != 0


@jit
def looks_like_file(text: U8, s: int, e: int, flags: int) -> bool:
    """A path, its base name, or a name with a suffix that is no number."""
    if flags & (w.KEY | w.NUMBER | w.DATE):
        return False
    if flags & w.PATH:
        return True
    for i in range(s + 1, e - 1):
        if text[i] == 46 and not w.is_digit(text[i + 1]):
            return True
    return False
