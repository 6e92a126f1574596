"""What goes to the terminal: text made harmless, cut to width, progress where somebody watches."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO, TypeVar

import click

__all__ = ["COMPILING", "amount", "binary_stdout", "line", "paragraph", "say", "visible", "watched", "working"]

T = TypeVar("T")

COMPILING = "working (the first run also compiles the kernels, which can take a minute)"

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), lone surrogates, line and paragraph separators."""
_JOINERS = "\u200c\u200d"
"""Format characters that scripts and emoji are spelt with; they move nothing."""


def visible(text: str, keep: str = "") -> str:
    """The text with every character that could steer a terminal or hide from a reader written as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _harmless(c) or c in keep else _escape(c) for c in text)


def line(text: str, width: int = 0) -> str:
    """The text on one line, made harmless; cut to `width` characters, where one is given."""
    flat = visible(" ".join(text.split()))
    return flat if width <= 0 or len(flat) <= width else flat[: max(width - 1, 0)] + "…"


def paragraph(text: str, indent: str) -> str:
    """The whole text, made harmless, its own lines kept and indented."""
    return "\n".join(indent + part if part else "" for part in visible(text, keep="\n\t").split("\n"))


def amount(n: int, one: str, many: str = "") -> str:
    """A number and its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def say(message: str) -> None:
    """One line to standard error."""
    click.echo(visible(message), err=True)


def binary_stdout() -> BinaryIO:
    """Standard output for bytes."""
    return sys.stdout.buffer


def watched(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, counted on a terminal while they come."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total)


def working(what: str) -> AbstractContextManager[Any]:
    """A sign of life on a terminal while something of unknown length runs."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def _harmless(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _HIDDEN


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
