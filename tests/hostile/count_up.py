"""A process that writes or reads beside others: `python -m tests.hostile.count_up URL NAME write|read TIMES`.

A writer reads a counter, stores a trajectory and writes the counter plus one, in one transaction; a reader looks
whether it can see half of that. What either prints last is the longest that one of them took, in seconds.
"""

from __future__ import annotations

import sys
import time

from sqlalchemy import Connection, text

from tests.build import run
from tests.store.shelf import PROJECT
from trajcredit.graph import build_graphs
from trajcredit.store import Store, keeping, open_store, pages, trajectories


def write(store: Store, name: str) -> None:
    """One more trajectory, and the counter says so."""
    kept = keeping.keep(PROJECT, build_graphs([run("ucrra", 1.0, name=name)]))
    with store.write() as conn:
        seen = counter(conn)
        trajectories.add(conn, PROJECT, kept)
        conn.execute(text("UPDATE counter SET n = :n"), {"n": seen + 1})


def read(store: Store, name: str) -> None:
    """As many trajectories as the counter says."""
    with store.read() as conn:
        seen = counter(conn)
        assert pages.page(conn, PROJECT, limit=1).total == seen, f"{name} saw half of a transaction"


def counter(conn: Connection) -> int:
    """What the counter says."""
    return int(conn.scalar(text("SELECT n FROM counter")))


def main(url: str, name: str, what: str, times: str) -> None:
    """So many times; an error ends it with status 1."""
    work = {"write": write, "read": read}[what]
    longest = 0.0
    with open_store(url) as store:
        for n in range(int(times)):
            start = time.perf_counter()
            work(store, f"{name}-{n}")
            longest = max(longest, time.perf_counter() - start)
    print(f"{longest:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
