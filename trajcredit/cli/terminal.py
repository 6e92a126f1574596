"""What goes to the terminal: text made harmless, cut to width, progress where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import click

from trajcredit.cli.streams import silence
from trajcredit.visible import visible

__all__ = ["COMPILING", "aligned", "amount", "gauge", "line", "paragraph", "say", "visible", "watched", "working"]

T = TypeVar("T")

COMPILING = "working (the first run also compiles the kernels, which can take a minute)"


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


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Rows of a table as lines: the first column to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join(["  " + row[0].ljust(widths[0]), *cells]).rstrip()


def say(message: str) -> None:
    """One line to standard error; where that is full or gone, nobody is told and the work goes on."""
    try:
        click.echo(visible(message), err=True)
    except OSError:
        silence(sys.stderr)


def watched(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, counted on a terminal while they come."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    piped = not sys.stdout.isatty()  # what goes there must not be led to the terminal
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=not piped) as progress:
        yield from progress.track(items, total=total)


@contextmanager
def gauge(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, moved by whoever is told (done, total)."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


def working(what: str) -> AbstractContextManager[Any]:
    """A sign of life on a terminal while something of unknown length runs."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)
