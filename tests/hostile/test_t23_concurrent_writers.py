"""T23: eight processes that read and write at once lose no update, see nothing half-done, and are never told "locked".

The short form; `TRAJCREDIT_WRITES=500` asks for more transactions a writer. Times are the bench's to judge.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sqlalchemy import text

from tests.hostile.count_up import counter
from tests.store.shelf import PROJECT
from trajcredit.store import open_store, pages
from trajcredit.store.checking import check

WRITERS, READERS = 8, 2
WRITES = int(os.environ.get("TRAJCREDIT_WRITES", "12"))
ROOT = Path(__file__).parent.parent.parent


def test_eight_writers_and_two_readers_at_once(url: str) -> None:
    with open_store(url) as store, store.write() as conn:
        conn.execute(text("CREATE TABLE counter (n INTEGER NOT NULL)"))
        conn.execute(text("INSERT INTO counter VALUES (0)"))
    work = [(f"w{n}", "write", WRITES) for n in range(WRITERS)] + [
        (f"r{n}", "read", 2 * WRITES) for n in range(READERS)
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.count_up", url, name, what, str(times)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, what, times in work
    ]
    for process in processes:
        longest, said = process.communicate(timeout=240)
        assert process.returncode == 0, said
        assert float(longest) < 10
    with open_store(url) as store, store.read() as conn:
        assert counter(conn) == pages.page(conn, PROJECT, limit=1).total == WRITERS * WRITES
        assert check(conn).problems == ()
