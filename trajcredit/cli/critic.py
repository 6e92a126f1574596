"""`trajcredit critic`: a critic fitted once, for logs to come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, finish, logs, read_batch
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import line, working
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.fitting import Shown

__all__ = ["command"]

SHOWN = 8
"""Tools of a pool that are named."""


@click.command("critic")
@click.argument("action", type=click.Choice(["fit", "show"]), metavar="fit|show")
@logs("reward", "group_by", "writes", "reads", "project", takes="PATH...")
@click.option("--kind", metavar="NAME", help="Of fit: the kind of critic [compatible].")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option("-o", "--out", metavar="FILE", help="Of fit: where to keep it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(asked: Asked, action: str, kind: str | None, rewards: str | None, out: str | None, as_json: bool) -> None:
    """Fit a critic to your logs and keep it in a file, or show what such a file holds.

    `-a doubly_robust:critic=FILE` then scores new logs by it, without fitting anything again: tasks it was fitted to by
    models that did not see them, and with a warning where the logs are unlike those it was fitted to.
    """
    from trajcredit.service import files, fitting

    if action == "show":
        if len(asked.paths) != 1 or (kind, rewards, out) != (None, None, None):
            raise InputError("critic show takes the FILE of one fitted critic, and no options but --json")
        _tell(fitting.shown(Path(asked.paths[0])), as_json)
        return
    if out is None:
        raise InputError("critic fit: say with -o FILE where to keep it")
    files.keep_apart(Path(out), (*asked.paths, *([rewards] if rewards is not None else [])))
    reading, batch = read_batch(asked, rewards)
    with working("fitting"):
        found = fitting.fit(batch, kind or "compatible", Path(out))
    _tell(found, as_json)
    finish(reading)


def _tell(found: Shown, as_json: bool) -> None:
    if as_json:
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    else:
        click.echo("\n".join(_text(found)))


def _text(found: Shown) -> Iterator[str]:
    yield f"critic {line(found.kind)}, fingerprint {found.fingerprint}"
    if not found.current:
        yield "fitted by another version of this program: fit it again where the same numbers matter"
    if not found.pools:
        yield "fitted to nothing: every forecast is 0"
    for pool in found.pools:
        names = ", ".join(map(line, pool.tools[:SHOWN])) or "none"
        more = len(pool.tools) - SHOWN
        yield f"tools: {names}" + (f" and {more} more" if more > 0 else "")
        yield f"  {line(pool.fitted)}"
        usual = {name: "unknown" if value is None else f"{value:.3g}" for name, value in pool.usual.items()}
        if pool.models:
            yield f"  {pool.models} models; outcomes rise by {usual['slope']} where forecasts do by 1, out of fold"
            new = f"{_percent(pool.usual['features'])} of features and {_percent(pool.usual['tools'])} of calls are"
            yield f"  mean outcome of a task {usual['outcome']}; {new} of a kind that no other tasks have"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"
