"""Raw logs: the bytes as they came, compressed, once a project and content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import zstandard
from sqlalchemy import Connection, delete, exists, insert, select

from trajcredit.errors import NotFoundError
from trajcredit.store.border import now, project_name
from trajcredit.store.bulk import among
from trajcredit.store.tables import logs, trajectories

__all__ = ["RawLog", "compress", "decompress", "forget_unused", "keep_raw", "name_of", "packed", "raw"]

LEVEL = 1
"""Of zstd: level 3 is a tenth smaller and a third slower."""


@dataclass(frozen=True, slots=True)
class RawLog:
    """One upload ready to be kept. `name` is what the client called it: a label, never a path."""

    sha256: str
    data: bytes
    size: int
    name: str | None = None
    format: str | None = None


def packed(data: bytes, name: str | None = None, format: str | None = None, sha: str | None = None) -> RawLog:
    """Hash and compress an upload, before the transaction that keeps it. `sha`: its hash, where it is known."""
    return RawLog(sha or sha256(data).hexdigest(), compress([data])[0], len(data), name, format)


def keep_raw(conn: Connection, project: str, log: RawLog) -> str:
    """Keep the bytes unless the project has them already; their hash."""
    kept = (logs.c.project == project_name(project), logs.c.sha256 == log.sha256)
    if not conn.scalar(select(exists().where(*kept))):
        row = {"project": project, "sha256": log.sha256, "data": log.data, "size": log.size, "received": now()}
        conn.execute(insert(logs), row | {"name": log.name, "format": log.format})
    return log.sha256


def name_of(conn: Connection, project: str, sha: str) -> str | None:
    """What the bytes of that hash were called when they first came; null where they never did."""
    found: str | None = conn.scalar(select(logs.c.name).where(logs.c.project == project, logs.c.sha256 == sha))
    return found


def raw(conn: Connection, project: str, sha: str) -> bytes:
    """The bytes of one upload, as they came."""
    data = conn.scalar(select(logs.c.data).where(logs.c.project == project, logs.c.sha256 == sha))
    if data is None:
        raise NotFoundError(f"no raw log {sha} in project {project!r}")
    return decompress(data)


def forget_unused(conn: Connection, project: str, shas: Sequence[str]) -> None:
    """Delete those of the logs that no trajectory was read from."""
    if not shas:
        return
    used = exists().where(trajectories.c.project == logs.c.project, trajectories.c.raw_sha256 == logs.c.sha256)
    conn.execute(delete(logs).where(logs.c.project == project, among(conn, logs.c.sha256, shas), ~used))


def compress(pieces: Sequence[bytes]) -> list[bytes]:
    """Each piece as one zstd frame that says its size."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    return [compressor.compress(piece) for piece in pieces]


def decompress(frame: bytes) -> bytes:
    """What `compress` took."""
    return zstandard.ZstdDecompressor().decompress(frame)
