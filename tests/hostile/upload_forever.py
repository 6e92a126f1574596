"""A process that uploads until it is killed: `python -m tests.hostile.upload_forever URL NAME`.

One transaction a batch; what is committed is said on standard output, as the server says it to a client: the name of
the batch, then a line feed.
"""

from __future__ import annotations

import sys
from itertools import count

from tests.build import run
from tests.store.shelf import put
from trajcredit.store import open_store

SIZE = 8
"""Trajectories a batch."""


def main(url: str, name: str) -> None:
    """Until somebody kills us."""
    with open_store(url) as store:
        for n in count():
            batch = f"{name}-{n}"
            items = [run("ucrrauccrra" * 5, k / SIZE, name=f"{batch}/{k}") for k in range(SIZE)]
            put(store, *items, raw=batch.encode() * 1000)
            print(batch, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
