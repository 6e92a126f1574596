"""How deep the JSON of a log nests, in the parts too that no reader looks at: seen at a glance, then told exactly.

A record may nest as deep as MAX_DEPTH, counted from the record. What a call or a declaration
holds counts by itself, since readers keep it as one value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import BOOL, I64, U8
from trajcredit.formats.repair import MAX_DEPTH

__all__ = ["may_nest_too_deep", "nests_too_deep"]

BY_THEMSELVES = frozenset(
    {
        "action_input",
        "args",
        "arguments",
        "functions",
        "input",
        "input_schema",
        "inputSchema",
        "parameters",
        "tool_input",
        "tools",
    }
)
"""Keys of arguments and declarations, whose values count from there on."""
STEP = 1 << 18
"""Bytes looked at together: they and what is made of them fit the cache."""
FEW = 1 << 14
"""Up to so many bytes, counting brackets is cheaper than looking."""
WORD = 64
BITS: TypeAlias = npt.NDArray[np.uint64]
ONE, TOP, ALL = np.uint64(1), np.uint64(WORD - 1), np.uint64(2**WORD - 1)
EVEN = np.uint64(0x5555_5555_5555_5555)
"""The bits of even places."""


# ---------------------------------------------------------------- at a glance


def may_nest_too_deep(data: bytes, lines: bool) -> bool:
    """Whether a record of these bytes may nest too deep; where not, none that is JSON does.

    One pass, a bit a byte and 64 of them at once: quotes give what is text, and brackets outside of it the depth, which
    is told for every 64 bytes from above. Bytes that are one JSON value cannot mislead it. Where they are `lines`, some
    of them broken, a text may seem to go on in the next line, or the depth not to be 0 there: then nothing is known.
    """
    if len(data) <= 2 * MAX_DEPTH:
        return False
    if len(data) <= FEW and data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    depth, in_text, start = 0, 0, 0
    while start < len(data):
        end = min(start + STEP, len(data))
        while end > start and data[end - 1 : end] == b"\\":  # so that no escape goes on in the next step
            end -= 1
        size = end - start
        chunk = np.frombuffer(data[start:end].ljust(-(-size // WORD) * WORD), np.uint8)
        quotes = _quotes(chunk)
        if quotes is None or not size:
            return True
        text, in_text = _text(quotes, in_text)
        outside = ~text
        folded = chunk | 0x20  # `[` and `{` differ in this bit alone, and so do `]` and `}`
        opened, closed = _bits(folded == ord("{")) & outside, _bits(folded == ord("}")) & outside
        up, down = np.bitwise_count(opened), np.bitwise_count(closed)
        after = depth + np.cumsum(up.astype(np.int16) - down, dtype=np.int64)
        if (after + down).max() > MAX_DEPTH or (lines and not _ends_as_it_began(chunk, text, opened, closed, after)):
            return True
        depth, start = int(after[-1]), end
    return False


def _text(quotes: BITS, in_text: int) -> tuple[BITS, int]:
    """Which bytes are text, their first quote included, and whether the next one is."""
    parity = quotes.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        parity ^= parity << np.uint64(shift)
    carried = np.bitwise_xor.accumulate(np.concatenate(([np.uint64(in_text)], parity >> TOP)))
    return parity ^ (np.uint64(0) - carried[:-1]), int(carried[-1])


def _ends_as_it_began(chunk: U8, text: BITS, opened: BITS, closed: BITS, after: I64) -> bool:
    """Whether lines end outside of texts and brackets, each last one in 64 bytes."""
    ends = _bits(chunk == ord("\n"))
    at = np.flatnonzero(ends)
    if (ends[at] & text[at]).any():
        return False
    behind = ends[at]
    for shift in (1, 2, 4, 8, 16, 32):
        behind |= behind >> np.uint64(shift)
    behind = ~behind  # what stands behind the last one
    left = np.bitwise_count(opened[at] & behind).astype(np.int16) - np.bitwise_count(closed[at] & behind)
    return bool((after[at] == left).all())


def _quotes(chunk: U8) -> BITS | None:
    """Where a text begins or ends: quotes behind an even number of backslashes; null where a word of those hides it."""
    quotes, slashes = _bits(chunk == ord('"')), _bits(chunk == ord("\\"))
    last = _shifted(slashes >> TOP)
    before = (slashes << ONE) | last
    if not (before & slashes).any():
        return quotes & ~before
    if (slashes == ALL).any():
        return None
    starts = slashes & ~before
    even, odd = starts & EVEN, starts & ~EVEN
    of_odd = _shifted((slashes + odd < slashes).astype(np.uint64))  # it ends in a run that began at an odd place
    goes_on = slashes & last  # the run: as if it began before the first place, which is odd as well, or else at it
    even, odd = even | (goes_on & ~of_odd), odd | (goes_on & of_odd)
    ends_of_even, ends_of_odd = (slashes + even) & ~slashes, (slashes + odd) & ~slashes
    escaped: BITS = (ends_of_even & ~EVEN) | (ends_of_odd & EVEN) | (of_odd & ~slashes)
    return quotes & ~escaped


def _shifted(bits: BITS) -> BITS:
    """What each word says to the next one."""
    return np.concatenate(([np.uint64(0)], bits[:-1]))


def _bits(mask: BOOL) -> BITS:
    return np.packbits(mask, bitorder="little").view("<u8")


# ---------------------------------------------------------------- exactly


class _Pairs(list[tuple[str, Any]]):
    """An object, with keys that come again."""


def nests_too_deep(data: bytes) -> str | None:
    """What of a record nests deeper than MAX_DEPTH levels: a key of BY_THEMSELVES, or the record (an empty text)."""
    try:
        record = json.loads(data, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
    except RecursionError:
        return ""
    except ValueError:
        return None  # whoever decodes it says what is wrong
    apart: list[tuple[str, Any]] = []
    if _is_deep(record, apart):
        return ""
    return next((key for key, value in apart if _is_deep(value, None)), None)


def _is_deep(value: Any, apart: list[tuple[str, Any]] | None) -> bool:
    """Whether a value nests too deep; what counts by itself is laid `apart` (null: nothing is)."""
    level: Sequence[Any] = [value]
    for _ in range(MAX_DEPTH):
        inside: list[Any] = []
        for item in level:
            if isinstance(item, _Pairs):
                for key, inner in item:
                    if not isinstance(inner, list):
                        continue
                    if apart is not None and key in BY_THEMSELVES:
                        apart.append((key, inner))
                    else:
                        inside.append(inner)
            elif isinstance(item, list):
                inside += [inner for inner in item if isinstance(inner, list)]
        if not inside:
            return False
        level = inside
    return True
