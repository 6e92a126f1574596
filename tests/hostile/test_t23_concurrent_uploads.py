"""T23: eight processes that upload and reward at once: none is told "locked", nothing is lost, nothing stored twice.

The short form; `TRAJCREDIT_WRITES=100` asks for more uploads a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.hostile.ingest_all import SHARED
from tests.service.uploads import PROJECT
from trajcredit.store import batches, open_store
from trajcredit.store.checking import check
from trajcredit.store.filters import Filters

WRITERS = 8
WRITES = int(os.environ.get("TRAJCREDIT_WRITES", "5"))
ROOT = Path(__file__).parent.parent.parent


def test_eight_processes_upload_and_reward_at_once(url: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.ingest_all", url, f"w{n}", str(WRITES)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(WRITERS)
    ]
    created = 0
    for process in processes:
        said, complaints = process.communicate(timeout=240)
        assert process.returncode == 0, complaints
        created += int(said)
    assert created == SHARED * WRITES, "each of the shared ones was created by exactly one"
    with open_store(url) as store, store.read() as conn:
        assert check(conn).problems == ()
        loaded = batches.load(conn, PROJECT, Filters())
    names = [head.id for head in loaded.heads]
    assert len(names) == len(set(names)) == WRITERS * WRITES * 2 + SHARED * WRITES
    rewards = {head.id: given for head, given in zip(loaded.heads, loaded.rewards, strict=True)}
    for n in range(WRITES):
        late = [reward for reward in rewards[f"shared-{n}-0"] if reward.name is not None]
        assert {reward.name for reward in late} == {f"w{k}" for k in range(WRITERS)}
        assert len(late) == WRITERS
