"""Stored trajectories with finished runs over them, made through the verbs that people use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from tests.store.shelf import PROJECT
from trajcredit.service.asking import configured
from trajcredit.service.executing import execute
from trajcredit.service.running import RunView, Wanted, ask, find
from trajcredit.store import Store, runs

__all__ = ["PROJECT", "counted", "ran"]


def ran(store: Store, name: str, wanted: Wanted | None = None, **parameters: Any) -> RunView:
    """A run of the attributor of that name over what is stored now, finished."""
    asked = ask(store, PROJECT, name, parameters, wanted or Wanted())
    with store.write() as conn:
        started = runs.start(conn, asked.id)
    assert started is not None
    execute(store, started)
    found = find(store, PROJECT, asked.id)
    assert (found.state, found.error) == ("done", None)
    assert found.label == configured(name, parameters).label
    return found


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """The statements that are sent to the database while the block runs."""
    sent: list[str] = []

    def note(conn: Any, cursor: Any, statement: str, *rest: Any) -> None:
        sent.append(statement)

    event.listen(store._reader, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(store._reader, "before_cursor_execute", note)
