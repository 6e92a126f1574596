"""T22: `trajcredit ingest` killed at any moment: what it said is on disk is there, whole; the next one does the rest.

The short form; `TRAJCREDIT_KILLS=200` asks for the long one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.service.uploads import PROJECT, log, rollout
from trajcredit.store import documents, open_store, pages
from trajcredit.store.checking import check

KILLS = int(os.environ.get("TRAJCREDIT_KILLS", "3"))
ROOT = Path(__file__).parent.parent.parent
FILES, EACH = 40, 8
COMMAND = "import sys; from trajcredit.cli import main; sys.argv[0] = 'trajcredit'; main()"


def told(url: str, paths: Sequence[str], alive: float) -> dict[str, str]:
    """The trajectories (the client's id -> ours) that a process said were stored before it was killed."""
    command = [sys.executable, "-c", COMMAND, "ingest", "--json", "--db", url, *paths]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(alive)
        process.kill()
        lines = (first + process.stdout.read()).split(b"\n")[:-1]
    items = [json.loads(line) for line in lines]
    assert {item["status"] for item in items} <= {"created", "duplicate"}
    return {item["external_id"]: item["id"] for item in items}


def whole(url: str, paths: Sequence[str]) -> dict[str, int]:
    """How many met which end in a process that nobody kills."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "ingest", "--json", "--db", url, *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    ends = [json.loads(line)["status"] for line in done.stdout.splitlines()]
    return {end: ends.count(end) for end in ("created", "duplicate")}


def test_what_a_killed_ingest_said_is_there_and_the_next_one_does_the_rest(url: str, tmp_path: Path) -> None:
    chance = random.Random(22)
    paths = []
    for n in range(FILES):
        file = tmp_path / f"{n:03}.jsonl"
        file.write_bytes(log(*(rollout(f"{n}-{k}", k % 2, text="x" * 2000) for k in range(EACH))).data)
        paths.append(str(file))
    acknowledged: dict[str, str] = {}
    for _ in range(KILLS):
        some = told(url, paths, chance.uniform(0, 0.4))
        assert all(acknowledged.get(name, own) == own for name, own in some.items()), "an id of ours never changes"
        acknowledged |= some
        with open_store(url) as store, store.read() as conn:
            assert check(conn).problems == ()
            for name, own in acknowledged.items():
                assert len(documents.document(conn, PROJECT, own).spans) == 4, name
    assert len(acknowledged) >= EACH
    rest = whole(url, paths)
    assert rest["created"] + rest["duplicate"] == FILES * EACH
    assert rest["duplicate"] >= len(acknowledged)
    with open_store(url) as store, store.read() as conn:
        assert pages.page(conn, PROJECT).total == FILES * EACH
        assert check(conn).problems == ()
