"""The `trajcredit` command: which sub-commands there are, and how every one of them ends."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NoReturn

import click

from trajcredit import __version__
from trajcredit.errors import TrajcreditError

__all__ = ["COMMANDS", "main", "root"]

COMMANDS = {
    "demo": "The main job on bundled logs: read, graph, score, blame, export.",
    "score": "Credit of every span of your logs, as JSON lines or parquet.",
    "graph": "Which span used which earlier one, each edge with its evidence.",
    "blame": "The most blamed and most praised spans, with why.",
    "show": "The transcripts as they were read.",
    "formats": "The log formats there are readers for.",
    "attributors": "The attributors, what they do and their parameters.",
}
"""Name -> line of the overview; module `trajcredit.cli.NAME` holds `command`, and is imported when it is used."""


class Root(click.Group):
    """Sub-commands are imported on use; errors raised on purpose end as one line and their exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"trajcredit.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            value = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_closed_pipe()
        except TrajcreditError as error:
            _end(str(error), error.exit_code)
        except OSError as error:
            _end(f"{error.filename}: {error.strerror}" if error.filename else str(error), 2)
        return value


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="trajcredit")
def root() -> None:
    """Which call earned the reward: agent logs in, per-span credit out.

    \b
    Exit codes: 0 all right; 1 some of many inputs failed (each is named, the rest is done);
    2 bad usage or nothing readable; 3 a service we need failed.
    """


def main() -> None:
    """What the `trajcredit` script runs."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # the real streams are TextIOWrappers
    root()


def _end(message: str, code: int) -> NoReturn:
    from trajcredit.cli.terminal import visible

    click.echo(f"error: {visible(message)}", err=True)
    sys.exit(code)


def _leave_closed_pipe() -> NoReturn:
    """Who read our output has seen enough: that is no failure, and Python must not complain at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
