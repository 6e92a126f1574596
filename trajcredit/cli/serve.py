"""`trajcredit serve`: the web interface and the HTTP API over the database."""

from __future__ import annotations

import errno
import os
import socket
from importlib import resources
from pathlib import Path

import click

from trajcredit.cli.stored import database
from trajcredit.cli.terminal import line, say
from trajcredit.errors import InputError

__all__ = ["HOST", "PORT", "command", "free_port", "tell_missing_web"]

HOST, PORT = "127.0.0.1", 8765
BUILD = "the web interface is not built: install Node 20.19 or newer and run `npm ci && npm run build` in web/"


@click.command("serve")
@database
@click.option("--host", default=HOST, show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 for any free one.")
@click.option("--allow-remote", is_flag=True, help="Let other machines in: whoever reaches the server may do anything.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name that the server goes by (repeatable).")
@click.option(
    "--tokenizers",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Its folders, each a tokenizer, may be named by exports.",
)
@click.option(
    "--judges",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="TOML with the models that judgings may ask [TRAJCREDIT_JUDGES].",
)
def command(
    db: str,
    host: str,
    port: int,
    allow_remote: bool,
    allow_host: tuple[str, ...],
    tokenizers: Path | None,
    judges: Path | None,
) -> None:
    """The web interface and the HTTP API over the database, which is made where there is none, until Ctrl-C."""
    from trajcredit.api.serving import serve

    tell_missing_web()
    try:
        serve(db, host, port, _ready, allow_remote, allow_host, tokenizers, judges)
    except InputError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EADDRINUSE:
            raise InputError(f"{error}: name another port with --port, or 0 for any free one") from error
        raise


def _ready(url: str) -> None:
    click.echo(f"trajcredit on {url}")


def free_port(port: int) -> int:
    """The port of this machine, or 0 where somebody listens there already, which is said."""
    try:
        with socket.create_server((HOST, port)):
            return port
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        say(f"note: port {port}: {why}; a free one is used")
        return 0


def tell_missing_web() -> None:
    """Say so where the package has no web interface, and what to do: the build's own words, where it left some."""
    folder = resources.files("trajcredit") / "web"
    if (folder / "index.html").is_file():
        return
    missing = folder / "missing.txt"
    say(f"note: {line(missing.read_text(encoding='utf-8')) if missing.is_file() else BUILD}")
