"""--engine and --workers: where commands that score do their work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["engine", "workers"]


def engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """--engine E and --workers N."""
    command = workers("Processes at once, of engine pool or ray; else one a core.")(command)
    text = "in-process, pool (processes of this machine) or ray (extra `ray`): the same numbers, to the bit."
    return click.option("--engine", metavar="E", default="in-process", show_default=True, help=text)(command)


def workers(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--workers N."""
    return click.option("--workers", metavar="N", type=int, help=text)
