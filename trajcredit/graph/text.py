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

import numpy as np

from trajcredit.arrays import I64, U8, offsets_of

__all__ = ["UPPER", "Places", "TextBuffer", "collect", "fold"]

UPPER = 1
"""Byte put before a folded capital outside ASCII: the scanner reads it as "the next letter was a capital"."""

_ESCAPED = r"(?P<escape>(?:\\u[0-9a-fA-F]{4})+)"
_PERCENT = r"(?P<percent>(?:%[0-9a-fA-F]{2})+)"
_FOREIGN = r"(?P<foreign>(?:[A-Za-z](?=[\u0300-\u036f]))?[^\x00-\x7f]+)"
_KEPT = "-_./:@+'#"
"""ASCII that a decoded run may hold: a decoded quote or brace must not look like structure."""
_MOVED = re.compile(f"{_ESCAPED}|{_PERCENT}|{_FOREIGN}")


@dataclass(frozen=True, slots=True)
class Places:
    """The way back from the bytes of a folded text to its characters, piece by piece.

    A piece starts at byte `starts[k]` and character `characters[k]`; where `steps[k]` is 1 the two go on together,
    where it is 0 all its bytes stand for that one character.
    """

    starts: I64
    characters: I64
    steps: I64

    def __getitem__(self, bytes_: I64) -> I64:
        """The characters that byte positions stand for."""
        piece = np.searchsorted(self.starts, bytes_, side="right") - 1
        found: I64 = self.characters[piece] + self.steps[piece] * (bytes_ - self.starts[piece])
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
    """Folded bytes of a text, and their places (None where bytes and characters are one to one).

    A folded run keeps the place of each character where it can; where several characters become one or one becomes
    several, all bytes of a cluster stand for its first character.
    """
    pieces: list[bytes] = []
    rows: list[tuple[int, int, int]] = []
    at = size = 0
    for found in _MOVED.finditer(text):
        start, end = found.span()
        rows.append((size, at, 1))
        pieces.append(text[at:start].encode("ascii"))
        size += start - at
        for cluster, first in _clusters(found, start):
            piece = _folded(cluster)
            rows.append((size, first, 0))
            pieces.append(piece)
            size += len(piece)
        at = end
    if not pieces:
        return text.encode("ascii"), None
    rows.append((size, at, 1))
    pieces.append(text[at:].encode("ascii"))
    starts, characters, steps = np.array(rows, dtype=np.int64).T
    return b"".join(pieces), Places(np.ascontiguousarray(starts), characters, steps)


def _clusters(found: re.Match[str], start: int) -> list[tuple[str, int]]:
    """Character clusters of one match with the place of their first character: a base letter and its marks."""
    text = found.group()
    if found.lastgroup == "escape":
        units = [int(text[i + 2 : i + 6], 16) for i in range(0, len(text), 6)]
        decoded = b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")
        return _at_even_steps(decoded, start, len(text))
    if found.lastgroup == "percent":
        decoded = bytes.fromhex(text.replace("%", "")).decode("utf-8", "replace")
        return _at_even_steps(decoded, start, len(text))
    clusters: list[tuple[str, int]] = []
    for i, character in enumerate(text):
        if clusters and (unicodedata.combining(character) or _is_jamo(character)):
            clusters[-1] = (clusters[-1][0] + character, clusters[-1][1])
        else:
            clusters.append((character, start + i))
    return clusters


def _at_even_steps(decoded: str, start: int, length: int) -> list[tuple[str, int]]:
    """Decoded characters spread over the coded text they came from."""
    step = length / max(1, len(decoded))
    return [(character, start + int(i * step)) for i, character in enumerate(decoded)]


def _is_jamo(character: str) -> bool:
    return "\u1160" <= character <= "\u11ff"


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
