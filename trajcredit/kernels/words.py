"""What a token is: where it ends, what kind of value it looks like, how many bits its repetition is worth.

Bits say how unlikely a chance repetition is: an id of eight random characters proves a dependency, the word "flight"
proves nothing. docs/edges.md has the table.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import U8
from trajcredit.kernels.jit import jit

# flags of a token
PART = 1  # piece of a compound token
PLAIN = 2  # lower-case word: counts only where it is shown as a value
WHOLE = 4  # a whole JSON value
SHOWN = 8  # a whole value, quoted, or after = or :
KEY = 16  # inside a JSON key
NUMBER = 32
DATE = 64
ALPHA = 128  # letters only: proves nothing where the text also has it in lower case
START = 256  # first word of a sentence
MINTED = 512  # looks like a generated id: letters and digits
PATH = 1024
IDKEY = 2048  # value of a JSON key that ends like the name of an identifier
ALONE = 4096  # the whole text is this one token
COMMAND = 8192  # in the first line of a value, after any "cd X &&"
WRITTEN = 16384  # a date in words
LINES = 32768  # of a stretch: a whole text, in which every line is a scope
WORDS = 65536
"""An identifier made of words: line_number. Like any word it can be known from elsewhere."""
DOTTED = 131072  # words joined by dots: self.items, session.id
BASE = 262144  # of a piece: the last name of a path, which other paths end in too
GUESSED = ALPHA | WORDS | DOTTED
"""Made of words alone: whoever writes much on a subject comes upon it without having looked."""
OF_PLACE = SHOWN | WHOLE | KEY | START | IDKEY | ALONE | COMMAND
"""Flags that say where a token stands; the others say what it looks like."""

NUMBERED = 3.5
"""Bits of a short lower-case word that ends in a number of one or two digits, which adds its own: python3, utf8."""
UPPER = 1  # graph.text.UPPER: the next letter was a capital
MONTH_SIZES = (7, 8, 5, 5, 3, 4, 4, 6, 9, 7, 8, 8)
MONTHS = "januaryfebruarymarchaprilmayjunejulyaugustseptemberoctobernovemberdecember"


def _classes() -> U8:
    """Class of every byte: 1 digit, 2 letter (underscore, anything outside ASCII, the mark of a capital), 4 joiner."""
    table = np.zeros(256, dtype=np.uint8)
    table[48:58] = 1
    table[65:91] = table[97:123] = table[128:] = table[95] = table[UPPER] = 2
    table[[ord(c) for c in "-./:@+'#"]] = 4  # between word characters these make one token
    return table


CLASSES = _classes()


@jit
def is_digit(c: int) -> bool:
    """0 to 9."""
    return CLASSES[c] == 1


@jit
def is_word(c: int) -> bool:
    """A letter or digit, underscore, anything outside ASCII, or the mark of a folded capital."""
    return CLASSES[c] & 3 != 0


@jit
def is_joiner(c: int) -> bool:
    """- . / : @ + ' # between word characters make one token."""
    return CLASSES[c] == 4


@jit
def lower(c: int) -> int:
    """ASCII letters in lower case."""
    return c + 32 if 65 <= c <= 90 else c


@jit
def token_end(text: U8, start: int, hi: int) -> tuple[int, bool]:
    """End of the token that starts at a word character, and whether it is a plain lower-case word.

    A thousands separator belongs to its number; the number of a line in a file (main.py:12) is another token.
    """
    i = start
    while i < hi and 97 <= text[i] <= 122:
        i += 1
    if i == hi or not (is_word(text[i]) or is_joiner(text[i])):
        return i, True
    plain = i > start
    digits = i == start
    suffix = False
    while i < hi:
        c = text[i]
        if is_word(c):
            digits = digits and is_digit(c)
            plain = False
            i += 1
        elif is_joiner(c) and i + 1 < hi and is_word(text[i + 1]):
            if c == 58 and suffix and numbers_line(text, i + 1, hi):
                break
            suffix = (c == 46 and not is_digit(text[i + 1])) or (suffix and c != 47)
            digits = plain = False
            i += 1
        elif c == 47 and i + 2 < hi and (text[i + 1] == 46 or text[i + 1] == 45) and is_word(text[i + 2]):
            digits = plain = suffix = False  # a component that starts with a dot or a hyphen
            i += 2
        elif c == 44 and digits and is_thousands(text, start, i, hi):
            i += 4
        else:
            break
    return i, plain


@jit
def numbers_line(text: U8, i: int, hi: int) -> bool:
    """Whether digits stand at i that no word goes on after, unless a colon is between."""
    if not is_digit(text[i]):
        return False
    while i < hi and is_digit(text[i]):
        i += 1
    if i == hi or text[i] == 58:
        return True
    return not is_word(text[i]) and not (is_joiner(text[i]) and i + 1 < hi and is_word(text[i + 1]))


@jit
def is_thousands(text: U8, start: int, comma: int, hi: int) -> bool:
    """Whether a comma after a number so far separates exactly three more digits, as in 48,213."""
    head = start
    while head < comma and text[head] != 44:
        head += 1
    if head - start > 3 or text[start] == 48 or comma + 3 >= hi:
        return False
    for k in range(comma + 1, comma + 4):
        if not is_digit(text[k]):
            return False
    return comma + 4 >= hi or not is_word(text[comma + 4])


@jit
def is_date(text: U8, s: int, e: int) -> bool:
    """2031-03-09 or 2031/03/09, alone or before the T of a time."""
    if e - s < 10 or not (e - s == 10 or text[s + 10] == 84):
        return False
    for k in range(10):
        c = text[s + k]
        if k == 4 or k == 7:
            if c != 45 and c != 47:
                return False
        elif not is_digit(c):
            return False
    return text[s + 5] < 50 and text[s + 8] < 52


@jit
def digit_bits(text: U8, s: int, e: int) -> float:
    """3.32 bits a digit; leading zeros and zeros after a decimal point none, other zeros at the end half: round
    numbers are common."""
    digits = 0
    trailing = 0
    for i in range(s, e):
        if text[i] == 46:
            while text[e - 1] == 48:
                e -= 1
            break
    for i in range(s, e):
        c = text[i]
        if is_digit(c) and (digits > 0 or c != 48):
            digits += 1
            trailing = trailing + 1 if c == 48 else 0
    return 3.32 * (digits - trailing) + 1.66 * trailing


@jit
def classify(text: U8, s: int, e: int) -> tuple[float, int]:
    """Bits and flags of the token at [s, e), alone: what its characters say, not where it stands."""
    digits = upper = low = joiners = commas = dots = inner = marks = 0
    slash = at = under = False
    mark = False
    for i in range(s, e):
        c = text[i]
        if is_digit(c):
            digits += 1
        elif 97 <= c <= 122:
            low += 1
        elif 65 <= c <= 90:
            upper += 1
            inner += 1 if i > s else 0
        elif c == UPPER:
            upper += 1
            inner += 1 if i > s else 0
            mark = True
        elif c >= 128:
            if c & 0xC0 != 0x80 and not mark:
                low += 1
            mark = mark and c & 0xC0 == 0x80
        elif c == 95:
            under = True
        elif c == 44:
            commas += 1
        else:
            joiners += 1
            dots += 1 if c == 46 else 0
            slash = slash or c == 47
            at = at or c == 64
            marks += 1 if c == 39 else 0
    letters = upper + low
    if letters == 0:
        if digits == 0:
            return 0.0, 0
        return number_bits(text, s, e, digits, joiners, dots)
    count = letters + digits
    if slash or at or under or (dots > 0 and marks == 0):
        flags = PATH if slash else 0
        minted = MINTED if digits >= 2 and count >= 6 and not slash and not at else 0
        of_words = digits == 0 and not slash and not at and dots == 0  # line_number: an identifier that one can guess
        flags |= WORDS if of_words else DOTTED if digits == 0 and not slash and not at else minted
        return min(30.0, (1.4 if of_words else 2.2) * (e - s)), flags
    if digits > 0:
        return mixed_bits(text, s, e, digits, letters, upper, joiners)
    return word_bits(letters, upper, inner, joiners - marks)


@jit
def number_bits(text: U8, s: int, e: int, digits: int, joiners: int, dots: int) -> tuple[float, int]:
    """A number, or digits joined by anything but one dot (a clock, a phone number, a version)."""
    bits = digit_bits(text, s, e)
    if joiners == 0 or (joiners == 1 and dots == 1):
        return (bits, NUMBER) if e - s >= 3 else (0.0, NUMBER)
    return (bits, 0) if digits >= 3 else (0.0, 0)


@jit
def mixed_bits(text: U8, s: int, e: int, digits: int, letters: int, upper: int, joiners: int) -> tuple[float, int]:
    """Letters and digits: an identifier, unless it is a count with a unit (10am, 3-day), which is worth its digits."""
    i = s
    while i < e and is_digit(text[i]):
        i += 1
    if i > s and upper == 0 and digits == i - s and (letters <= 3 or (joiners > 0 and text[i] == 45)):
        return digit_bits(text, s, i), 0
    ends = is_digit(text[e - 1]) and is_digit(text[e - min(digits, 2)])
    if digits <= 2 and upper == 0 and joiners == 0 and 3 <= letters <= 6 and ends:
        return NUMBERED + digit_bits(text, e - digits, e), 0
    minted = MINTED if digits >= 2 and letters + digits >= 6 else 0
    return min(40.0, 4.0 * (letters + digits)), minted


@jit
def word_bits(letters: int, upper: int, inner: int, joiners: int) -> tuple[float, int]:
    """Letters only: capitals, inner capitals, a capitalised word, or a plain word."""
    if upper == 0:
        return 0.0, PLAIN | ALPHA
    if letters == 1:
        return 0.0, 0
    if upper == letters:
        return min(24.0, 4.0 * letters), ALPHA
    if inner > joiners:
        return min(24.0, 1.2 * letters), ALPHA
    return 7.5 * (1 + joiners), ALPHA


@jit
def normal_form(text: U8, s: int, e: int, flags: int, out: U8) -> int:
    """Write the token as it is compared into `out`; its length, 0 when `out` is too short.

    Lower case; numbers without thousands separators and without zeros after the decimal point; dates with hyphens.
    """
    if e - s > len(out):
        return 0
    n = 0
    if flags & DATE:
        for i in range(s, s + 10):
            out[n] = 45 if text[i] == 47 else text[i]
            n += 1
        return n
    point = -1
    for i in range(s, e):
        c = text[i]
        if c == UPPER or (c == 44 and flags & NUMBER):
            continue
        if c == 46:
            point = n
        out[n] = lower(c)
        n += 1
    if flags & NUMBER and point > 0:  # a file of the name .0 keeps it
        while out[n - 1] == 48:
            n -= 1
        n = point if n == point + 1 else n
    return n


@jit
def month_of(text: U8, s: int, e: int) -> int:
    """1 to 12 for the English name or three-letter form of a month, else 0."""
    at = 0
    for month in range(12):
        size = MONTH_SIZES[month]
        if lower(text[s]) == ord(MONTHS[at]) and (e - s == 3 or e - s == size):
            k = 1
            while k < e - s and lower(text[s + k]) == ord(MONTHS[at + k]):
                k += 1
            if k == e - s:
                return month + 1
        at += size
    return 0


@jit
def small_number(text: U8, i: int, hi: int, most: int) -> tuple[int, int]:
    """The number of at most `most` digits at i and the position after it; -1 where there is none."""
    value = 0
    k = i
    while k < hi and k - i <= most and is_digit(text[k]):
        value = value * 10 + text[k] - 48
        k += 1
    return (value, k) if i < k <= i + most else (-1, i)


@jit
def written_date(text: U8, lo: int, s: int, e: int, hi: int) -> tuple[int, int, int]:
    """A date in words around the month name at [s, e): yyyymmdd and its range, or 0.

    "March 9, 2031", "March 9th 2031", "9 March 2031", "9th of March, 2031".
    """
    month = month_of(text, s, e)
    if month == 0:
        return 0, s, e
    day, after = small_number(text, skip_blank(text, e, hi), hi, 2)
    first = s
    if day > 0:
        after = skip_suffix(text, after, hi)
    else:
        day, first = day_before(text, lo, s)
        after = e
    year, end = small_number(text, skip_blank(text, after, hi), hi, 4)
    if not 1 <= day <= 31 or year < 1000 or (end < hi and is_word(text[end])):
        return 0, s, e
    return year * 10000 + month * 100 + day, first, end


@jit
def skip_blank(text: U8, i: int, hi: int) -> int:
    """Past one comma or full stop and up to two blanks."""
    if i < hi and (text[i] == 44 or text[i] == 46):
        i += 1
    stop = min(hi, i + 2)
    while i < stop and text[i] == 32:
        i += 1
    return i


@jit
def skip_suffix(text: U8, i: int, hi: int) -> int:
    """Past st, nd, rd or th."""
    if i + 1 < hi and 97 <= lower(text[i]) <= 122 and 97 <= lower(text[i + 1]) <= 122:
        return i + 2
    return i


@jit
def day_before(text: U8, lo: int, s: int) -> tuple[int, int]:
    """The day written before a month name ("9", "9th", "9th of") and where it starts; 0 where there is none."""
    i = s - 1
    while i >= lo and text[i] == 32:
        i -= 1
    if i - 1 >= lo and lower(text[i - 1]) == 111 and lower(text[i]) == 102:
        i -= 2
        while i >= lo and text[i] == 32:
            i -= 1
    if i - 1 >= lo and lower(text[i]) >= 97 and lower(text[i - 1]) >= 97:
        i -= 2
    end = i + 1
    while i >= lo and end - i <= 2 and is_digit(text[i]):
        i -= 1
    if end == i + 1 or (i >= lo and is_word(text[i])):
        return 0, s
    day = 0
    for k in range(i + 1, end):
        day = day * 10 + text[k] - 48
    return day, i + 1
