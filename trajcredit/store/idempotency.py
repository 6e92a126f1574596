"""Answers kept under the key that a client sent with its request, for when it asks again."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from trajcredit.errors import InputError
from trajcredit.store.border import now, project_name
from trajcredit.store.tables import idempotency

__all__ = ["LONGEST_KEY", "Remembered", "recall", "remember"]

LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer to a request, and the hash of that request: another one under the same key is a mistake."""

    request_sha256: str
    response: bytes
    created: str


def remember(conn: Connection, project: str, key: str, request_sha256: str, response: bytes) -> None:
    """Keep an answer, in the transaction of what it answers for."""
    if not 0 < len(key) <= LONGEST_KEY:
        raise InputError(f"an idempotency key has 1 to {LONGEST_KEY} characters, not {len(key)}")
    row = {"project": project_name(project), "key": key, "request_sha256": request_sha256}
    conn.execute(insert(idempotency), row | {"response": response, "created": now()})


def recall(conn: Connection, project: str, key: str) -> Remembered | None:
    """The answer kept under the key; null where there is none."""
    c = idempotency.c
    query = select(c.request_sha256, c.response, c.created).where(c.project == project, c.key == key)
    row = conn.execute(query).one_or_none()
    return None if row is None else Remembered(*row)
