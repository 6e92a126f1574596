"""Texts -> tokens: one pass over the bytes.

JSON is told from other text by its brackets and never parsed into objects: what matters is which token is a whole
value, under which key, beside which others.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import I32, I64, U8
from trajcredit.kernels import words as w
from trajcredit.kernels.jit import jit
from trajcredit.kernels.words import classify, is_digit, is_joiner, is_word, lower, token_end, written_date

# Columns of the token matrix i32[tokens, 7]
START, END = 0, 1  # bytes of the text buffer
FORM = 2  # number of the normal form (forms.intern); until then the date of a token that words.WRITTEN flags
BITS = 3  # hundredths of a bit
FLAGS = 4
SCOPE = 5  # innermost JSON object, or line: neighbours share it
FIELD = 6  # position of the JSON key this is a value of; -1 outside objects
COLUMNS = 7

MOST_PHRASE = 48
"""Characters of several words that are one value."""
TAG, END_TAG = (np.frombuffer(tag, dtype=np.uint8) for tag in (b"<parameter=", b"</parameter>"))
"""Around an argument in the calls that some models write as text."""
DEEPEST = 64
"""Nesting up to which JSON objects keep scopes of their own."""


@jit
def scan(text: U8, offsets: I64, tokens: I32, token_offsets: I64) -> int:
    """Tokens of every text, text i in text[offsets[i]:offsets[i+1]]; their number.

    tokens         i32[most, 7]  filled in order; where the number exceeds `most` the rest was counted, not kept
    token_offsets  i64[n+1]      filled: tokens of text i
    """
    count = np.zeros(1, dtype=np.int64)
    none, zero = int(-1), int(0)  # typed: numba would compile everything anew for a literal
    for i in range(len(offsets) - 1):
        lo, hi = offsets[i], offsets[i + 1]
        if looks_like_json(text, lo, hi):
            scan_json(text, lo, hi, tokens, count)
        elif tag_at(text, lo, hi) == lo:
            scan_tags(text, lo, hi, tokens, count)
        else:
            scan_words(text, lo, hi, zero + (w.COMMAND | w.LINES), zero, none, tokens, count)
            mark_alone(text, lo, hi, tokens, token_offsets[i], count[0])
        token_offsets[i + 1] = count[0]
    return count[0]


@jit
def looks_like_json(text: U8, lo: int, hi: int) -> bool:
    """Whether a text opens and closes as a JSON object or array does."""
    while lo < hi and text[lo] <= 32:
        lo += 1
    while hi > lo and text[hi - 1] <= 32:
        hi -= 1
    if hi - lo < 2:
        return False
    last = text[hi - 1]
    i = lo + 1
    while i < hi - 1 and text[i] <= 32:
        i += 1
    c = text[i]
    if text[lo] == 123:
        return last == 125 and (c == 34 or c == 125)
    opens = c == 34 or c == 123 or c == 91 or c == 93 or c == 45 or is_digit(c)
    return text[lo] == 91 and last == 93 and (opens or c == 116 or c == 102 or c == 110)


@jit
def scan_json(text: U8, lo: int, hi: int, tokens: I32, count: I64) -> None:
    """Tokens of a JSON text: keys, string values, numbers. Every object is a scope."""
    stack = np.zeros(DEEPEST, dtype=np.int64)
    depth = scopes = idkey = 0
    none = int(-1)
    field = none
    i = lo
    while i < hi:
        c = text[i]
        scope = stack[min(depth, DEEPEST - 1)]
        if c == 34:
            end = string_end(text, i + 1, hi)
            if is_key(text, end, hi):
                before = count[0]
                scan_words(text, i + 1, end, int(w.KEY), scope, none, tokens, count)
                field = count[0] - 1 if count[0] > before else none
                idkey = w.IDKEY if names_an_id(text, i + 1, end) else 0
            else:
                scan_words(text, i + 1, end, w.WHOLE | w.COMMAND | idkey, scope, field, tokens, count)
            i = end + 1
        elif c == 123 or c == 125:
            scopes += 1 if c == 123 else 0
            depth = depth + 1 if c == 123 else max(0, depth - 1)
            if c == 123:
                stack[min(depth, DEEPEST - 1)] = scopes
            field, idkey = none, 0
            i += 1
        elif is_word(c):
            end = i + 1
            while end < hi and (is_word(text[end]) or text[end] == 46 or text[end] == 43 or text[end] == 45):
                end += 1
            bits, flags = classify(text, i, end)
            if flags & w.NUMBER:
                emit(i, end, bits, flags | w.WHOLE | w.SHOWN | idkey, scope, field, tokens, count)
            i = end
        else:
            i += 1


@jit
def tag_at(text: U8, i: int, hi: int) -> int:
    """Where the next tag from i on opens an argument that is written as <parameter=KEY>VALUE</parameter>; else hi."""
    while i + len(TAG) <= hi:
        k = 0
        while k < len(TAG) and text[i + k] == TAG[k]:
            k += 1
        if k == len(TAG):
            return i
        i += 1
    return hi


@jit
def scan_tags(text: U8, lo: int, hi: int, tokens: I32, count: I64) -> None:
    """Tokens of arguments in tags: keys and whole values, as if they were one JSON object.

    A value ends at its closing tag, else at the next argument; the line breaks inside the tags are not part of it.
    """
    zero = int(0)
    none = int(-1)
    while lo < hi:
        after = tag_at(text, lo + 1, hi)
        start = lo + len(TAG)
        end = start
        while end < after and text[end] != 62:
            end += 1
        before = count[0]
        scan_words(text, start, end, int(w.KEY), zero, none, tokens, count)
        field = count[0] - 1 if count[0] > before else none
        idkey = w.IDKEY if names_an_id(text, start, end) else 0
        start, end = min(end + 1, after), value_end(text, end, after)
        if start < end and text[start] == 10:
            start += 1
        if start < end and text[end - 1] == 10:
            end -= 1
        scan_words(text, start, max(start, end), w.WHOLE | w.COMMAND | idkey, zero, field, tokens, count)
        lo = after


@jit
def value_end(text: U8, i: int, hi: int) -> int:
    """Position of the first closing tag from i on; hi where there is none."""
    while i + len(END_TAG) <= hi:
        k = 0
        while k < len(END_TAG) and text[i + k] == END_TAG[k]:
            k += 1
        if k == len(END_TAG):
            return i
        i += 1
    return hi


@jit
def string_end(text: U8, i: int, hi: int) -> int:
    """Position of the quote that closes the JSON string whose content starts at i; hi when it never closes."""
    while i < hi and text[i] != 34:
        i += 2 if text[i] == 92 else 1
    return min(i, hi)


@jit
def is_key(text: U8, quote: int, hi: int) -> bool:
    """Whether a colon follows the closing quote."""
    i = quote + 1
    while i < hi and text[i] <= 32:
        i += 1
    return i < hi and text[i] == 58


@jit
def names_an_id(text: U8, s: int, e: int) -> bool:
    """Whether a JSON key ends in id, no, number, order, key or ref."""
    tail = 0
    for i in range(max(s, e - 6), e):
        tail = tail * 256 + lower(text[i])
    size = e - s
    if size >= 2 and tail & 0xFFFF == 0x6964:
        return True
    if size >= 2 and tail & 0xFFFF == 0x6E6F and (size == 2 or text[e - 3] == 95 or text[e - 2] == 78):
        return True
    if size >= 3 and (tail & 0xFFFFFF == 0x6B6579 or tail & 0xFFFFFF == 0x726566):
        return True
    return (size >= 5 and tail & 0xFFFFFFFFFF == 0x6F72646572) or (size >= 6 and tail == 0x6E756D626572)


@jit
def scan_words(text: U8, lo: int, hi: int, base: int, scope: int, field: int, tokens: I32, count: I64) -> None:
    """Tokens of one stretch: a whole text (LINES in `base`) or one JSON string.

    `base` flags every token; of these WHOLE stays only on a token that is the whole stretch, COMMAND only on the first
    line, and there after any "cd X &&".
    """
    lines = base & w.LINES != 0
    begin = lines
    command = base & w.COMMAND
    if command and hi - lo > 3 and text[lo] == 99 and text[lo + 1] == 100 and text[lo + 2] == 32:
        command = 0
    every = base & ~(w.COMMAND | w.WHOLE | w.LINES)
    if base & w.WHOLE and is_phrase(text, lo, hi):
        flags = every | command | w.WHOLE | w.SHOWN | w.PLAIN | w.ALPHA
        emit(lo, hi, 0.0, flags, scope, field, tokens, count)
    i = lo
    while i < hi:
        c = text[i]
        if is_word(c):
            end, plain = token_end(text, i, hi)
            flags = every | command | (w.START if begin else 0)
            if base & w.WHOLE and end == hi and (i == lo or (not plain and is_root(text, lo, i))):
                flags |= w.WHOLE | w.SHOWN
            elif is_shown(text, lo, i, end, hi):
                flags |= w.SHOWN
            begin = False
            if plain and w.month_of(text, i, end) == 0:
                emit(i, end, 0.0, flags | w.PLAIN | w.ALPHA, scope, field, tokens, count)
                i = end
            else:
                i = scan_token(text, lo, i, end, hi, flags, scope, field, tokens, count)
            continue
        if c == 92 and not lines and i + 1 < hi:
            n = text[i + 1]
            if n == 110 or n == 114 or n == 116:
                begin = True
                command = command if n == 116 else 0
                i += 1
        elif c == 10:
            begin = True
            command = 0
            scope += 1 if lines else 0
        elif c == 46 or c == 33 or c == 63:
            begin = True
        elif c == 38 and i > lo and text[i - 1] == 38:
            command = base & w.COMMAND
        i += 1


@jit
def is_root(text: U8, lo: int, s: int) -> bool:
    """Whether a path starts at s, after the / (or ./, ../, ~/) of the value that it is."""
    for i in range(lo, s - 1):
        if text[i] != 46 and text[i] != 126 and text[i] != 47:
            return False
    return text[s - 1] == 47


@jit
def is_phrase(text: U8, lo: int, hi: int) -> bool:
    """Whether a whole value is two to six words in lower case: a name as good as one word."""
    if hi - lo > MOST_PHRASE or hi - lo < 3 or text[lo] == 32:
        return False
    blanks = 0
    for i in range(lo, hi):
        c = text[i]
        if c == 32 and i + 1 < hi and text[i + 1] != 32:
            blanks += 1
        elif not 97 <= c <= 122:
            return False
    return 1 <= blanks <= 5


@jit
def is_shown(text: U8, lo: int, s: int, e: int, hi: int) -> bool:
    """Shown as a value: in quotes, or after = or : (one blank allowed)."""
    if s == lo:
        return False
    before = text[s - 1]
    if before == 34 or before == 39 or before == 96:
        return e < hi and (text[e] == before or text[e] == 92)
    if before == 32 and s - 2 >= lo:
        before = text[s - 2]
    return before == 61 or before == 58


@jit
def scan_token(
    text: U8, lo: int, s: int, e: int, hi: int, flags: int, scope: int, field: int, tokens: I32, count: I64
) -> int:
    """Keep the token at [s, e), which may turn out to be a date of several words; where scanning goes on."""
    if w.is_date(text, s, e):
        emit(s, s + 10, 12.0, flags | w.DATE, scope, field, tokens, count)
        return e
    if 3 <= e - s <= 9 and lower(text[s]) >= 97:
        date, first, last = written_date(text, lo, s, e, hi)
        if date > 0:
            emit(first, last, 12.0, flags | w.DATE | w.WRITTEN, scope, field, tokens, count)
            if count[0] <= len(tokens):
                tokens[count[0] - 1, FORM] = date
            return last
    stop = e
    if e - s > 2 and text[e - 2] == 39 and lower(text[e - 1]) == 115:
        stop = e - 2  # the possessive 's
    bits, more = classify(text, s, stop)
    if bits > 0.0 or more != 0:
        emit(s, stop, bits, flags | more, scope, field, tokens, count)
        if not more & w.NUMBER:
            scan_pieces(text, s, stop, flags | more, scope, field, tokens, count)
    return e


@jit
def scan_pieces(text: U8, s: int, e: int, flags: int, scope: int, field: int, tokens: I32, count: I64) -> None:
    """The pieces of a token with joiners; of a path only the last two components, these without the suffix, and the
    base name."""
    here = (flags & w.OF_PLACE & ~(w.WHOLE | w.ALONE)) | w.PART
    first = s
    if flags & w.PATH:
        last = e - 1
        while last > s and text[last] != 47:
            last -= 1
        before = last - 1
        while before > s and text[before] != 47:
            before -= 1
        if before > s:
            bits, more = classify(text, before + 1, e)
            emit(before + 1, e, bits, here | more, scope, field, tokens, count)
        dot = e - 1
        while dot > last and text[dot] != 46:
            dot -= 1
        if dot > last + 1 and last > s and not is_digit(text[dot + 1]):
            first = before + 1 if before > s else s
            bits, more = classify(text, first, dot)
            emit(first, dot, bits, here | more, scope, field, tokens, count)
        bits, more = classify(text, last + 1, e)
        emit(last + 1, e, bits, here | more | w.PATH | w.BASE, scope, field, tokens, count)
        return
    for i in range(s, e + 1):
        if i < e and not is_joiner(text[i]):
            continue
        if i - first >= 2 and i - first < e - s:
            bits, more = classify(text, first, i)
            if bits > 0.0 or more != 0:
                emit(first, i, bits, here | more, scope, field, tokens, count)
        first = i + 1


@jit
def emit(s: int, e: int, bits: float, flags: int, scope: int, field: int, tokens: I32, count: I64) -> None:
    """Keep one token, if there is room for it."""
    n = count[0]
    count[0] = n + 1
    if n >= len(tokens):
        return
    tokens[n, START] = s
    tokens[n, END] = e
    tokens[n, BITS] = int(100.0 * bits + 0.5)
    tokens[n, FLAGS] = flags
    tokens[n, SCOPE] = scope
    tokens[n, FIELD] = field


@jit
def mark_alone(text: U8, lo: int, hi: int, tokens: I32, first: int, last: int) -> None:
    """Flag the token that is all there is in a text."""
    while lo < hi and text[lo] <= 32:
        lo += 1
    while hi > lo and text[hi - 1] <= 32:
        hi -= 1
    if last == first + 1 and last <= len(tokens) and tokens[first, START] == lo and tokens[first, END] == hi:
        tokens[first, FLAGS] |= w.ALONE | w.WHOLE | w.SHOWN
