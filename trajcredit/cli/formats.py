"""`trajcredit formats`: what can be read."""

from __future__ import annotations

import click
import msgspec

from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import line

__all__ = ["command"]


@click.command("formats")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(as_json: bool) -> None:
    """The log formats there are readers for; which one a file has is recognised from its structure."""
    from trajcredit.service import plugins

    found = plugins.formats()
    if as_json:
        rows = [{"name": plugin.name, "summary": plugin.summary} for plugin in found]
        json_stdout().write(msgspec.json.encode(rows) + b"\n")
        return
    width = max(len(plugin.name) for plugin in found)
    for plugin in found:
        click.echo(f"{line(plugin.name):{width}}  {line(plugin.summary)}")
