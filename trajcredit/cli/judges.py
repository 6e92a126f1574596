"""`trajcredit judges`: who can give an opinion on spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import line

if TYPE_CHECKING:
    from trajcredit.service.plugins import Plugin

__all__ = ["command"]


@click.command("judges")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(as_json: bool) -> None:
    """The judges, and their parameters as `trajcredit judge NAME:key=value,...` takes them."""
    from trajcredit.service import plugins

    found = plugins.judges()
    if as_json:
        json_stdout().write(msgspec.json.encode([_row(plugin) for plugin in found], enc_hook=str) + b"\n")
    else:
        click.echo("\n".join(_text(found)))


def _row(plugin: Plugin) -> dict[str, object]:
    from trajcredit.service.plugins import type_text

    fields = [
        {"name": p.name, "type": type_text(p.type), "default": p.default, "sentence": p.sentence}
        for p in plugin.parameters
    ]
    return {"name": plugin.name, "summary": plugin.summary, **_facts(plugin.name), "parameters": fields}


def _facts(name: str) -> dict[str, object]:
    """With its parameters at their defaults."""
    from trajcredit.registry import judges

    made = judges.get(name)()
    return {"scale": made.scale, "segments": made.segments, "on_the_spot": made.local}


def _text(found: Sequence[Plugin]) -> Iterator[str]:
    from trajcredit.service.plugins import default_text, type_text

    for plugin in found:
        facts = _facts(plugin.name)
        spot = f" `-a judge:judge={plugin.name}` asks it on the spot." if facts["on_the_spot"] else ""
        yield f"{line(plugin.name)}  {line(plugin.summary)}{spot}"
        scale = str(facts["scale"])
        yield f"    one score a segment ({facts['segments']}), on the scale {scale}: {RANGES[scale]}"
        for p in plugin.parameters:
            yield f"    {p.name}={default_text(p.default)}  ({type_text(p.type)}) {line(p.sentence)}"


RANGES = {"state": "how things stand after it, 0..1", "credit": "what it did, -1..1"}
