"""The database behind the stored verbs: opened, brought up to date, looked over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trajcredit.errors import NotFoundError
from trajcredit.store import Store, StoreFullError, open_store
from trajcredit.store.checking import Checked, check
from trajcredit.store.migrate import version

__all__ = [
    "DEFAULT_PROJECT",
    "Checked",
    "Opened",
    "Store",
    "StoreFullError",
    "checked",
    "existing",
    "file_name",
    "look_at",
    "open_store",
    "upgraded",
]

DEFAULT_PROJECT = "default"
FILE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Opened:
    """A database by its name, and its version now."""

    name: str
    version: str


def existing(url: str) -> Store:
    """The database for who only wants what is in it; NotFoundError where there is none, and none is made."""
    if "://" not in url or url.startswith(FILE):
        path = Path(url.removeprefix(FILE))
        if not path.exists():
            raise NotFoundError(f"there is no database at {path}: `trajcredit ingest` makes one, --db names another")
    return open_store(url)


def file_name(store: Store) -> str | None:
    """What its SQLite file is called, without where it lies; None of another database."""
    return None if "://" in store.name else Path(store.name).name


def look_at(store: Store) -> None:
    """StoreError where the database cannot be read."""
    with store.read() as conn:
        version(conn)


def upgraded(url: str) -> Opened:
    """Bring a database to the version of this program: opening it does."""
    with existing(url) as store, store.read() as conn:
        return Opened(store.name, version(conn) or "")


def checked(url: str) -> Checked:
    """Whether everything in the database is sound."""
    with existing(url) as store, store.read() as conn:
        return check(conn)
