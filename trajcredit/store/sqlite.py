"""A SQLite file: the settings it must have, where it must not lie, and the copy made before it changes shape."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event

from trajcredit.errors import StoreError

__all__ = ["copy_before", "migrator", "network_type", "reader", "refuse_network", "writer"]

BUSY_MS = 10_000
"""How long a writer waits for the writer of another process."""
NETWORK_TYPES = frozenset(
    [
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb2",
        "smb3",
        "smbfs",
    ]
)
_SETTINGS = (f"busy_timeout = {BUSY_MS}", "journal_mode = WAL", "synchronous = FULL")


def writer(path: Path) -> Engine:
    """The one connection of a process that writes; its transactions take the write lock when they begin.

    A transaction that reads first and asks for the lock later fails behind another writer however long it waits.
    """
    engine = _engine(path, ("foreign_keys = ON",), pool_size=1, max_overflow=0, pool_timeout=None)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reader(path: Path) -> Engine:
    """Connections that see one state of the database for as long as their transaction lasts, and cannot write."""
    engine = _engine(path, ("foreign_keys = ON", "query_only = ON"), pool_size=8, max_overflow=32)
    event.listen(engine, "begin", _begin)
    return engine


def migrator(path: Path) -> Engine:
    """A connection that may rebuild tables: with foreign keys on, dropping the old one would empty its children."""
    engine = _engine(path, ("foreign_keys = OFF",), poolclass=NullPool)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def copy_before(path: Path, version: str) -> Path:
    """A copy of the database as it is, beside it."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    copy = path.with_name(f"{path.name}.{version}-{stamp}.bak")
    conn = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)
    try:
        conn.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error as error:
        copy.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: no copy could be made before the upgrade, so nothing was changed: {error}"
        ) from error
    finally:
        conn.close()
    return copy


def refuse_network(path: Path) -> None:
    """StoreError where the file lies on a network file system: its locks lie, and then the database breaks."""
    mounts = Path("/proc/self/mountinfo")
    found = network_type(path, mounts.read_text("utf-8", "replace").splitlines()) if mounts.exists() else None
    if found is not None:
        raise StoreError(f"{path} is on a network file system ({found}): use a local disk, or a postgresql:// URL")


def network_type(path: Path, mounts: Iterable[str]) -> str | None:
    """The type of the network file system that holds the path; null for a local one. `mounts`: lines of mountinfo."""
    place, deepest, kind = path.resolve(), -1, ""
    for mount in mounts:
        left, _, right = mount.partition(" - ")
        root = Path(left.split(" ")[4].encode().decode("unicode_escape"))
        if place.is_relative_to(root) and len(root.parts) >= deepest:
            deepest, kind = len(root.parts), right.split(" ")[0]
    return kind if kind in NETWORK_TYPES else None


def _engine(path: Path, settings: tuple[str, ...], **pool: Any) -> Engine:
    # isolation_level None: the driver begins nothing by itself, the `begin` hooks do
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(
        url, connect_args={"isolation_level": None, "timeout": BUSY_MS / 1000}, hide_parameters=True, **pool
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: object) -> None:
        for setting in (*_SETTINGS, *settings):
            connection.execute(f"PRAGMA {setting}")

    return engine


def _begin(conn: Connection) -> None:
    conn.exec_driver_sql("BEGIN")


def _begin_immediate(conn: Connection) -> None:
    conn.exec_driver_sql("BEGIN IMMEDIATE")
