"""`trajcredit graph`: dependency edges with their evidence."""

from __future__ import annotations

from pathlib import Path

import click

from trajcredit.cli.options import Asked, finish, logs, read_logs_with_tools, tell, trajectory
from trajcredit.cli.streams import binary_stdout, json_stdout, xml_stdout
from trajcredit.cli.terminal import COMPILING, working

__all__ = ["command"]

DRAWINGS = ("jsonl", "json", "dot", "mermaid", "graphml")
"""As the service knows them; written again here so that --help need not import it, and a test compares."""
STANDARD_OUTPUT = {"jsonl": json_stdout, "json": json_stdout, "graphml": xml_stdout}
"""How what could steer the terminal is kept off it; labels of pictures are harmless as they are drawn."""


@click.command("graph")
@logs("writes", "reads")
@trajectory
@click.option("--to", type=click.Choice(DRAWINGS), default="jsonl", show_default=True, help="Edge rows, or a picture.")
@click.option("-o", "--out", metavar="FILE", help="Write to FILE, not to stdout.")
def command(asked: Asked, trajectory: str | None, to: str, out: str | None) -> None:
    """Which span used which earlier one: one row an edge, with the matched text on both sides.

    `jsonl` is one edge a line, `json` one whole graph a line; `mermaid` and `graphml` hold one graph, so name a
    trajectory.
    """
    from trajcredit.service import drawing, files, notes, stateless

    if out is not None:
        files.keep_apart(Path(out), asked.paths)
    reading = read_logs_with_tools(asked)
    picked = stateless.only(reading, trajectory)
    tell(notes.of_reading(picked))
    with working(COMPILING):
        graphs = stateless.graphs(picked, asked.settings.writes)
    tell(notes.of_graphs(graphs))
    pieces = drawing.draw(graphs, to)
    if out is None:
        STANDARD_OUTPUT.get(to, binary_stdout)().writelines(pieces)
    else:
        with files.written_whole(Path(out)) as file:
            file.writelines(pieces)
    finish(reading)
