"""What commands that export share: what may go to standard output, and what is told of a file of tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trajcredit.cli.terminal import line, say
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.plugins import Exported, Exporter

__all__ = ["fitting", "tell_counted", "to_stdout"]


def to_stdout(exporter: Exporter) -> None:
    """Refuse what a terminal cannot show."""
    if exporter.suffix != ".jsonl":
        raise InputError(f"a {exporter.suffix[1:]} file cannot be written to standard output: name a file with -o")


def fitting(exporter: Exporter, out: str) -> None:
    """Refuse a name whose ending says another kind of file than is written."""
    from trajcredit.service.plugins import exporters

    ending = Path(out).suffix
    if ending != exporter.suffix and ending in {plugin.suffix for plugin in exporters()}:
        raise InputError(f"this exporter writes {exporter.suffix} files, and {Path(out).name!r} says otherwise")


def tell_counted(done: Exported) -> None:
    """What a file of tokens holds, how it was aligned, and what was left out."""
    for told in done.counted.lines() if done.counted is not None else ():
        say(line(told))
