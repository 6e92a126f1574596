"""The `trajcredit` command: which sub-commands there are, and how every one of them ends."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from trajcredit import __version__
from trajcredit.cli.streams import open_closed, silence
from trajcredit.cli.terminal import say
from trajcredit.errors import TrajcreditError

__all__ = ["COMMANDS", "main", "root"]

COMMANDS = {
    "demo": "The main job on bundled logs: read, graph, score, blame, export, serve.",
    "score": "Credit of every span of your logs, as JSON lines or parquet.",
    "graph": "Which span used which earlier one, each edge with its evidence.",
    "blame": "The most blamed and most praised spans, with why.",
    "show": "The transcripts as they were read.",
    "eval": "Attributors graded on labels: known culprits, true advantages.",
    "sweep": "Many parameter settings in one pass, a line each.",
    "advise": "Which attributor suits a data set, and why.",
    "diagnose": "Ten ways a run looks broken: found, clear, or what the log lacks to tell.",
    "trust": "How far a judge can be trusted on your runs: outcomes, itself, others, labels.",
    "select": "Rollouts to train on: passing ones, the best of each group, preference pairs.",
    "relabel": "Failed rollouts as if what they did had been asked for.",
    "critic": "A critic fitted to logs and kept in a file, for logs to come.",
    "judge": "What a judge says of every trajectory, kept in a file.",
    "ingest": "Keep logs in the database.",
    "run": "Score what is kept, and keep the credit.",
    "export": "The credit rows of a run.",
    "reward": "Verdicts that come later.",
    "label": "What people say of spans: read in, or written out.",
    "serve": "The web interface and the HTTP API.",
    "db": "The database brought up to date, or checked.",
    "formats": "The log formats there are readers for.",
    "attributors": "The attributors, what they do and their parameters.",
    "judges": "The judges and their parameters.",
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

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _ending():  # --help and --version are written here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _ending(), _warnings_told():
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except OSError:  # standard error is full or gone: nobody can be told what was wrong with the usage
            silence(sys.stderr)
            sys.exit(2)


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
    open_closed()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # the real streams are TextIOWrappers
    root()


@contextmanager
def _ending() -> Iterator[None]:
    """Errors raised on purpose, and streams that fail, end as one line and their exit code."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # who read our output has seen enough: that is no failure
        silence(sys.stdout)
        sys.exit(0)
    except TrajcreditError as error:
        _end(str(error), error.exit_code)
    except OSError as error:  # files are named, and standard error is never waited for
        silence(sys.stdout)
        _end(f"{error.filename or 'standard output'}: {error.strerror or error}", 2)


@contextmanager
def _warnings_told() -> Iterator[None]:
    """What the library logs is told as everything else is."""
    import logging

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(f"{record.levelname.lower()}: {record.getMessage()}")

    logger, handler = logging.getLogger("trajcredit"), Told(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _end(message: str, code: int) -> NoReturn:
    say(f"error: {' '.join(part.strip() for part in message.splitlines())}")
    sys.exit(code)
