"""Span bodies as one byte buffer that a kernel can scan, and the way back from bytes to characters.

ASCII stays as it is. Anything else is folded first, so that equal values are equal bytes: NFKC, case, typographic
punctuation, `\\uXXXX` escapes and %XX codes. Where folding moves characters, a map leads back to the logged text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from trajcredit.arrays import I32, I64, U8, offsets_of
from trajcredit.model import Span, body

__all__ = ["UPPER", "Places", "TextBuffer", "collect", "fold", "is_withheld", "told"]

UPPER = 1
"""Byte put before a folded capital outside ASCII: the scanner reads it as "the next letter was a capital"."""

_ESCAPED = r"(?P<escape>(?:\\u[0-9a-fA-F]{4})+)"
_PERCENT = r"(?P<percent>(?:%[0-9a-fA-F]{2})+)"
_FOREIGN = r"(?P<foreign>(?:[A-Za-z](?=[\u0300-\u036f]))?[^\x00-\x7f]+)"
LONGEST_CLUSTER = 32
"""Characters that fold together at most; no script stacks more marks, and normalising longer runs is quadratic."""
_KEPT = "-_./:@+'#"
"""ASCII that a decoded run may hold: a decoded quote or brace must not look like structure."""
_MOVED = re.compile(f"{_ESCAPED}|{_PERCENT}|{_FOREIGN}")
_WITHHELD = re.compile(r"\s{0,9}[\[<(]+(?:REDACTED|redacted)[^\[\]<>()\n]{0,200}[\])>]+\s{0,9}")


@dataclass(frozen=True, slots=True)
class Places:
    """The way back from the bytes of a folded text to its characters: `starts[k]` is where character k begins."""

    starts: I32

    def __getitem__(self, bytes_: I64) -> I64:
        """The characters that byte positions stand for; of characters folded into one, the first."""
        found: I64 = np.searchsorted(self.starts, bytes_, side="right") - 1
        return found


@dataclass(frozen=True, slots=True)
class TextBuffer:
    """Distinct texts end to end.

    data      u8[B]     folded bytes
    offsets   i64[n+1]  text i is data[offsets[i]:offsets[i+1]]
    moved     text -> its places, for texts where bytes and characters differ
    """

    data: U8
    offsets: I64
    moved: dict[int, Places]


def told(span: Span) -> str:
    """The body of a span as far as values are looked for in it: "" where it was withheld."""
    return "" if is_withheld(span) else body(span)


def is_withheld(span: Span) -> bool:
    """Whether a mark stands for the whole body: "[REDACTED_TEXT len=115]", whose length is nobody's value."""
    text = body(span)
    return "REDACTED" in text[:32].upper() and len(text) < 256 and _WITHHELD.fullmatch(text) is not None


def collect(texts: Sequence[str]) -> TextBuffer:
    """The buffer of these texts, in order."""
    pieces: list[bytes] = []
    moved: dict[int, Places] = {}
    for i, text in enumerate(texts):
        if text.isascii() and "%" not in text and "\\u" not in text:
            pieces.append(text.encode("ascii"))
            continue
        piece, places = fold(text)
        pieces.append(piece)
        if places is not None:
            moved[i] = places
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return TextBuffer(data, offsets_of(len(piece) for piece in pieces), moved)


def fold(text: str) -> tuple[bytes, Places | None]:
    """Folded bytes of a text, and the place of every character in them (None where they are one to one)."""
    pieces: list[bytes] = []
    sizes = None
    at = 0
    for found in _MOVED.finditer(text):
        sizes = np.ones(len(text), dtype=np.int32) if sizes is None else sizes
        start, end = found.span()
        pieces.append(text[at:start].encode("ascii"))
        sizes[start:end] = 0
        folded, places = _fold_run(found)
        pieces.append(folded)
        sizes[start : start + len(places)] = places
        at = end
    if sizes is None:
        return text.encode("ascii"), None
    pieces.append(text[at:].encode("ascii"))
    return b"".join(pieces), Places(np.concatenate([[0], np.cumsum(sizes)], dtype=np.int32))


def _fold_run(found: re.Match[str]) -> tuple[bytes, I32]:
    """One run that folding changes, and how many bytes each of its characters became."""
    run = found.group()
    if found.lastgroup == "escape":
        units = [int(run[i + 2 : i + 6], 16) for i in range(0, len(run), 6)]
        decoded = b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")
        return _spread(decoded, len(run))
    if found.lastgroup == "percent":
        return _spread(bytes.fromhex(run.replace("%", "")).decode("utf-8", "replace"), len(run))
    codes, which = np.unique(np.frombuffer(run.encode("utf-32-le"), dtype=np.uint32), return_inverse=True)
    characters = [chr(code) for code in codes.tolist()]
    if any(unicodedata.combining(c) or "\u1160" <= c <= "\u11ff" for c in characters):
        return _fold_clusters(run)
    folded = [_folded(c) for c in characters]
    sizes = np.array([len(piece) for piece in folded], dtype=np.int32)[which]
    return b"".join([folded[k] for k in which.tolist()]), sizes


def _fold_clusters(run: str) -> tuple[bytes, I32]:
    """A run with marks or conjoining letters, which fold together with the letter before them."""
    starts = [0]
    for i, c in enumerate(run):
        joins = unicodedata.combining(c) or "\u1160" <= c <= "\u11ff"
        if i and (not joins or i - starts[-1] == LONGEST_CLUSTER):
            starts.append(i)
    folded = [_folded(run[a:b]) for a, b in pairwise([*starts, len(run)])]
    sizes = np.zeros(len(run), dtype=np.int32)
    sizes[starts] = [len(piece) for piece in folded]
    return b"".join(folded), sizes


def _spread(decoded: str, length: int) -> tuple[bytes, I32]:
    """Decoded characters, their bytes spread evenly over the coded text they came from."""
    folded = [_folded(c) for c in decoded]
    sizes = np.zeros(length, dtype=np.int32)
    np.add.at(sizes, [k * length // max(1, len(folded)) for k in range(len(folded))], [len(p) for p in folded])
    return b"".join(folded), sizes


@lru_cache(maxsize=65536)
def _folded(cluster: str) -> bytes:
    """NFKC and case folding; letters, digits and marks stay, dashes and quotes become ASCII, the rest is a space."""
    out: list[bytes] = []
    for character in unicodedata.normalize("NFKC", cluster):
        if character.isascii():
            out.append(character.encode("ascii") if character.isalnum() or character in _KEPT else b" ")
        elif character.isalnum() or unicodedata.combining(character):
            if character.isupper():
                out.append(bytes([UPPER]))
            out.append(character.casefold().encode())
        else:
            kind = unicodedata.category(character)
            out.append({"Pd": b"-", "Pi": b"'", "Pf": b"'"}.get(kind, b" "))
    return b"".join(out)
