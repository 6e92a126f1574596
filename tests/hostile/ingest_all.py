"""A process that keeps logs and rewards beside others: `python -m tests.hostile.ingest_all URL NAME TIMES`.

Each time one log of its own, one that all have, and a reward on a trajectory of the latter. Prints how many of the
shared trajectories it was told it had created.
"""

from __future__ import annotations

import json
import sys

from tests.service.uploads import PROJECT, log, rollout
from trajcredit.service.ingesting import ingest
from trajcredit.service.rewarding import late
from trajcredit.store import open_store

__all__ = ["SHARED"]

SHARED = 3
"""Trajectories of the log that all have."""


def main(url: str, name: str, times: str) -> None:
    """So many times; an error ends it with status 1."""
    created = 0
    with open_store(url) as store:
        for n in range(int(times)):
            own = log(*(rollout(f"{name}-{n}-{k}") for k in range(2)), name="own.jsonl")
            shared = log(*(rollout(f"shared-{n}-{k}") for k in range(SHARED)), name="shared.jsonl")
            answer = ingest(store, PROJECT, [own, shared], key=f"{name}-{n}")
            ends = [item.status for item in answer.items]
            assert ends[:2] == ["created"] * 2, ends
            assert set(ends[2:]) <= {"created", "duplicate"}, ends
            created += ends[2:].count("created")
            reward = {"trajectory": f"ext:shared-{n}-0", "value": n, "name": name, "at": f"2026-01-01T00:00:{n:02}Z"}
            assert late(store, PROJECT, json.dumps(reward).encode()).appended == 1
    print(created)


if __name__ == "__main__":
    main(*sys.argv[1:])
