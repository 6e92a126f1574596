"""The one process of a database that works on runs, or that judges: locks that end with it, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from trajcredit.errors import StoreError
from trajcredit.store.engine import Store
from trajcredit.store.postgres import WRITER_LOCK

__all__ = ["sole_runner"]

LOCKS = {"runner": WRITER_LOCK + 1, "judge": WRITER_LOCK + 2}
"""The advisory locks, on PostgreSQL, of the process that works on the runs of a database and of the one that judges."""


@contextmanager
def sole_runner(store: Store, who: str = "runner") -> Iterator[bool]:
    """Whether it is us while the block runs. Nothing is at work elsewhere then: what is said to be was left behind.

    `who`: "runner" works on runs, "judge" asks judges; one does not wait for the other.
    """
    with _on_postgres(store, LOCKS[who]) if store.is_postgres else _beside_file(f"{store.name}-{who}") as held:
        yield held


@contextmanager
def _beside_file(lock: str) -> Iterator[bool]:
    """A file beside the database that the kernel locks; it stays, since removing it would race."""
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"{lock}: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


@contextmanager
def _on_postgres(store: Store, lock: int) -> Iterator[bool]:
    """A lock of a session that has no transaction open, or the database could not clean up behind it."""
    options = {"isolation_level": "AUTOCOMMIT", "postgresql_readonly": False}
    with store._reader.connect().execution_options(**options) as conn:
        held = bool(conn.exec_driver_sql(f"SELECT pg_try_advisory_lock({lock})").scalar_one())
        try:
            yield held
        finally:
            if held:
                conn.exec_driver_sql(f"SELECT pg_advisory_unlock({lock})")
