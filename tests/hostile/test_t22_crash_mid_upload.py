"""T22: a process killed at any moment of its uploads loses nothing that it acknowledged and leaves nothing half-stored.

The short form; `TRAJCREDIT_KILLS=200` asks for the long one.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.hostile.upload_forever import SIZE
from tests.store.shelf import PROJECT
from trajcredit.store import batches, open_store
from trajcredit.store.checking import check
from trajcredit.store.filters import Filters

KILLS = int(os.environ.get("TRAJCREDIT_KILLS", "4"))
ROOT = Path(__file__).parent.parent.parent


def acknowledged(url: str, name: str, alive: float) -> list[str]:
    """The batches a process said were stored, until it was killed so many seconds after the first."""
    command = [sys.executable, "-m", "tests.hostile.upload_forever", url, name]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(alive)
        process.kill()
        rest = process.stdout.read()
    return [line for line in (first + rest).split("\n")[:-1] if line]


def test_nothing_acknowledged_is_lost_and_nothing_is_half_stored(url: str) -> None:
    chance = random.Random(22)
    said: list[str] = []
    for kill in range(KILLS):
        said += acknowledged(url, f"k{kill}", chance.uniform(0, 0.2))
        with open_store(url) as store, store.read() as conn:
            assert check(conn).problems == ()
            found = Counter(head.id.split("/")[0] for head in batches.load(conn, PROJECT, Filters()).heads)
        assert set(said) <= set(found)
        assert set(found.values()) == {SIZE}
        assert len(found) <= len(said) + kill + 1, "at most one batch a kill was committed and not yet said"
    assert len(said) >= KILLS
