"""A PostgreSQL database: one writer at a time as on SQLite, readers that see one state, many rows by COPY."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event

from trajcredit.errors import InputError, StoreError

__all__ = ["migrator", "reader", "refuse_other_encodings", "writer"]

WRITER_LOCK = 0x7472616A
"""The advisory lock that every writing transaction holds until it ends.

It makes what is read before it is written safe, as BEGIN IMMEDIATE does on SQLite, and it makes rewards visible in the
order of their ids, without which no id could be a watermark.
"""
WAIT = "10s"


def writer(url: URL) -> Engine:
    """Connections whose transactions wait for each other, over all processes."""
    engine = _engine(url, pool_size=1, max_overflow=0, pool_timeout=None, pool_pre_ping=True)
    event.listen(engine, "begin", _wait_for_writers)
    return engine


def reader(url: URL) -> Engine:
    """Connections that see one state of the database for as long as their transaction lasts, and cannot write."""
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    engine = _engine(url, pool_size=8, max_overflow=32, pool_pre_ping=True, execution_options=options)

    @event.listens_for(engine, "connect")
    def read_binary(connection: Any, record: object) -> None:
        connection.cursor_factory = _binary_cursor()

    return engine


def migrator(url: URL) -> Engine:
    """A connection that changes the shape of the database while nobody writes."""
    engine = _engine(url, poolclass=NullPool)
    event.listen(engine, "begin", _wait_for_writers)
    return engine


def refuse_other_encodings(conn: Connection) -> None:
    """StoreError where the database cannot hold every character."""
    encoding = conn.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise StoreError(f"the database has encoding {encoding}; it must be UTF8: createdb --encoding=UTF8")


def _engine(url: URL, **options: Any) -> Engine:
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), hide_parameters=True, **options)
    except ModuleNotFoundError as error:
        raise InputError("PostgreSQL needs its driver: pip install 'trajcredit[postgres]'") from error

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.execute(f"SET lock_timeout = '{WAIT}'")
        connection.commit()

    return engine


@cache
def _binary_cursor() -> type[Any]:
    """Cursors whose results come as the database holds them: as text a blob is twice as long, and parsed."""
    from psycopg import Cursor
    from psycopg.pq import Format

    class BinaryCursor(Cursor[Any]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.format = Format.BINARY

    return BinaryCursor


def _wait_for_writers(conn: Connection) -> None:
    conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})")
