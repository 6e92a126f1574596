"""Which database, and arguments that name a trajectory in it."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trajcredit.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from trajcredit.cli.options import Asked
    from trajcredit.service.opening import Store

__all__ = ["DEFAULT_PROJECT", "database", "project", "project_of", "recalled", "stored_name"]

Command = Callable[..., Any]

DEFAULT_PROJECT = "default"

database = click.option(
    "--db",
    metavar="URL",
    envvar="TRAJCREDIT_DB",
    default="trajcredit.db",
    show_default=True,
    show_envvar=True,
    help="Database: a path or a postgresql:// URL.",
)
project = click.option("--project", metavar="NAME", help="Project in the database; else that of trajcredit.toml.")


def project_of(given: str | None) -> str:
    """The project asked for, else that of the settings of this folder."""
    from trajcredit import settings

    return given or settings.find(()).project or DEFAULT_PROJECT


def stored_name(asked: Asked, trajectory: str | None) -> str | None:
    """The only argument, where it can be no log: then it names a stored trajectory."""
    if len(asked.paths) > 1 or asked.paths[0] == "-" or os.path.lexists(asked.paths[0]):
        return None
    [name] = asked.paths
    if glob.has_magic(name) and glob.glob(name, recursive=True):
        return None
    if trajectory is not None:
        raise InputError(f"there is no file {name!r}, and --trajectory picks from the trajectories of files")
    return name


@contextmanager
def recalled(db: str, project: str, name: str) -> Iterator[tuple[Store, str]]:
    """The database, and our id of the trajectory of that name in it; the error says that it is no file either."""
    from trajcredit.service import opening, recalling

    try:
        store = opening.existing(db)
        with store:
            yield store, recalling.id_of(store, project, name)
    except NotFoundError as error:
        raise NotFoundError(f"there is no file {name!r}, and {error}") from error
