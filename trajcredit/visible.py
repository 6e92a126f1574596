"""Hostile text made harmless: what could steer a terminal or hide from a reader is written out."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), lone surrogates, line and paragraph separators."""
_JOINERS = "\u200c\u200d"
"""Format characters that scripts and emoji are spelt with; they move nothing."""


def visible(text: str, keep: str = "") -> str:
    """The text with every character that could steer a terminal or hide from a reader written as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or c in _JOINERS or not _hidden(c) else _escaped(c) for c in text)


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
