"""The open database: one transaction that writes at a time, any number that read."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, InternalError, OperationalError

from trajcredit.errors import InputError, StoreError
from trajcredit.store import migrate, postgres, sqlite

__all__ = ["Store", "StoreFullError", "open_store"]

_log = logging.getLogger(__name__)


class StoreFullError(StoreError):
    """No space left for the database; nothing of the transaction was kept, and reads go on."""


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """An open database. `name` is its URL without the password."""

    name: str
    _writer: Engine
    _reader: Engine
    _file: tuple[int, int] | None = None
    """Device and number of the SQLite file that was opened."""
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that may write: it waits until it is the only one, of this process and of all others.

        It is committed, and on disk, when the block ends; an error undoes all of it.
        """
        self._still_there()
        with _told(self.name), self._lock, self._writer.connect() as conn, conn.begin():
            yield conn

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One transaction that cannot write and sees one state of the database. Keep it short."""
        self._still_there()
        with _told(self.name), self._reader.connect() as conn, conn.begin():
            yield conn

    def _still_there(self) -> None:
        """StoreError where the file was deleted or replaced: what is written now would be in no file at all."""
        if self._file is not None and _identity(Path(self.name)) != self._file:
            raise StoreError(f"{self.name}: the file is gone, or is another one now: start again with the one you mean")

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL; SQLite else."""
        return self._reader.dialect.name == "postgresql"

    def close(self) -> None:
        """Close every connection."""
        self._writer.dispose()
        self._reader.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_store(url: str, migrations: Path | None = None) -> Store:
    """The database at `sqlite:///PATH`, `PATH` or `postgresql://...`, brought to the version of this program.

    StoreError where it cannot be reached, was written by a newer trajcredit, or lies on a network file system.
    """
    place = _parsed(url)
    if place.get_backend_name() == "postgresql":
        return _opened_postgres(place, migrations or migrate.folder())
    return _opened_sqlite(place, migrations or migrate.folder())


def _parsed(url: str) -> URL:
    """A URL of one of the two databases; a bare path is a SQLite file."""
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        place = make_url(url.replace("postgres://", "postgresql://", 1) if url.startswith("postgres://") else url)
    except (ArgumentError, ValueError):  # the latter of a port; neither is shown, for it holds the password
        kind = url.partition("://")[0]
        raise InputError(f"{kind}://... is no URL of a database: expected sqlite:///PATH or postgresql://...") from None
    if place.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(f"{place.drivername}: no such database here; known: sqlite, postgresql")
    return place


def _opened_sqlite(place: URL, migrations: Path) -> Store:
    if place.database in (None, "", ":memory:"):
        raise InputError("a database in memory would be another one for every connection: give a file")
    path = Path(place.database or "").absolute()
    if path.is_dir():
        raise StoreError(f"{path}: is a folder; a database is a file")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: there is no folder {path.parent}")
    if path.exists() and not os.access(path, os.R_OK):
        raise StoreError(f"{path}: no permission to read it")
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"{path}: no permission to write in {path.parent}, where SQLite keeps files beside a database")
    sqlite.refuse_network(path.parent)
    if not path.exists():  # known by its number before anybody writes
        try:
            path.touch()
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from error
    store = Store(str(path), sqlite.writer(path), sqlite.reader(path), _identity(path))
    with _closed_on_error(store):
        with store.read() as conn:
            old, behind = migrate.version(conn), migrate.pending(conn, store.name, migrations)
        if behind and old is not None:
            _log.info("%s is upgraded from version %s; a copy is kept in %s", path, old, sqlite.copy_before(path, old))
        if behind:
            _upgrade(store.name, sqlite.migrator(path), migrations)
    return store


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _opened_postgres(place: URL, migrations: Path) -> Store:
    name = place.render_as_string(hide_password=True)
    store = Store(name, postgres.writer(place), postgres.reader(place))
    with _closed_on_error(store):
        with store.read() as conn:
            postgres.refuse_other_encodings(conn)
            behind = migrate.pending(conn, name, migrations)
        if behind:
            _upgrade(name, postgres.migrator(place), migrations)
    return store


@contextmanager
def _closed_on_error(store: Store) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise


def _upgrade(name: str, engine: Engine, migrations: Path) -> None:
    """Bring the database to our version in one transaction, unless another process just did."""
    with _told(name), engine.begin() as conn:
        if migrate.pending(conn, name, migrations):
            migrate.upgrade(conn, migrations)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What goes wrong with the database itself, as StoreError; what is wrong with a statement is a bug and stays."""
    try:
        yield
    except DBAPIError as error:
        if _is_full(error.orig):
            why = f"{name}: no space left; nothing of this step was stored: free some, and send it again"
            raise StoreFullError(why) from error
        if isinstance(error, OperationalError | InterfaceError | InternalError) or type(error) is DatabaseError:
            raise StoreError(f"{name}: {error.orig}") from error
        raise


def _is_full(error: BaseException | None) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return getattr(error, "sqlstate", None) == "53100"
