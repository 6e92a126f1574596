"""`trajcredit attributors`: who can say what a span deserves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import line, visible

if TYPE_CHECKING:
    from trajcredit.service.plugins import Plugin

__all__ = ["command", "markdown"]


@click.command("attributors")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The page docs/attributors.md.")
def command(as_json: bool, as_markdown: bool) -> None:
    """The attributors, what they do, and their parameters as `-a NAME:key=value,...` takes them."""
    from trajcredit.service import plugins

    found = plugins.attributors()
    if as_json:
        json_stdout().write(msgspec.json.encode(list(map(_row, found)), enc_hook=str) + b"\n")
    elif as_markdown:
        click.echo(visible("\n".join(markdown(found)), keep="\n"))
    else:
        click.echo("\n".join(_text(found)))


def _row(plugin: Plugin) -> dict[str, object]:
    from trajcredit.service.plugins import type_text

    fields = [
        {"name": p.name, "type": type_text(p.type), "default": p.default, "sentence": p.sentence}
        for p in plugin.parameters
    ]
    known = {"name": plugin.name, "summary": plugin.summary, "scope": plugin.scope, "needs": plugin.needs}
    return {**known, "parameters": fields}


def _text(found: Sequence[Plugin]) -> Iterator[str]:
    from trajcredit.service.plugins import default_text, type_text

    for plugin in found:
        needs = f" Needs {', '.join(plugin.needs)}." if plugin.needs else ""
        yield f"{line(plugin.name)}  {line(plugin.summary)}{needs}"
        for p in plugin.parameters:
            yield f"    {p.name}={default_text(p.default)}  ({type_text(p.type)}) {line(p.sentence)}"


def markdown(found: Sequence[Plugin]) -> Iterator[str]:
    """The page of the docs; a test fails when it is not what the registry says."""
    from trajcredit.service.plugins import default_text, type_text

    yield "# Attributors"
    yield ""
    yield "Written by `poe docs` from the code; a test fails when it is out of date. `-a NAME:key=value,...` on the"
    yield 'command line, `tc.attribute(batch, "NAME", key=value)` in Python.'
    for plugin in found:
        yield f"\n## {plugin.name}\n"
        yield "\n\n".join((plugin.summary, *plugin.details)) + "\n"
        needs = f"the batch columns {', '.join(plugin.needs)}" if plugin.needs else "no critic and no judge"
        yield f"Needs {needs}; {SCOPES[plugin.scope or 'group']}."
        if plugin.parameters:
            yield "\n| parameter | type | default | what it does |\n| --- | --- | --- | --- |"
        for p in plugin.parameters:
            cells = (p.name, type_text(p.type).replace("|", "\\|"), f"`{default_text(p.default)}`", p.sentence)
            yield f"| {' | '.join(cells)} |"


SCOPES = {"group": "groups can be scored apart", "batch": "uses statistics across groups"}
