"""What critics cost, as ratios to reading the same logs: fit and forecast, keep, and apply what was kept.

    python bench/critics.py LOG... [--kind compatible --kind ridge] [--rounds 3]

Reading is what `trajcredit score` does before it asks a critic: decode, parse, graph, pack. CPU seconds of this
process, the least of the rounds, garbage collected before each. BLAS threads as the machine is set: compare with
OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import trajcredit as tc
from trajcredit import critics


def least(work: Callable[[], Any], rounds: int) -> float:
    """CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("logs", nargs="+")
    asked.add_argument("--kind", action="append", choices=list(critics.KINDS))
    asked.add_argument("--rounds", type=int, default=3)
    given = asked.parse_args()
    batch = tc.batch(tc.read(given.logs))  # compiles the kernels
    read = least(lambda: tc.batch(tc.read(given.logs)), given.rounds)
    portions = batch.n_spans / 100_000
    print(f"{batch.n_spans:,} spans of {batch.n_trajectories:,} trajectories in {len(batch.group_ids):,} groups")
    print(f"{'':32}{'seconds':>10}{'of 100,000 spans':>20}{'of reading':>14}")

    def row(name: str, seconds: float) -> None:
        print(f"{name:32}{seconds:10.2f}{seconds / portions:20.2f}{seconds / read:14.2f}")

    row("read", read)
    for kind in given.kind or ["compatible", "ridge"]:
        row(f"{kind}: fit and forecast", least(lambda kind=kind: critics.fill(batch, kind), given.rounds))  # type: ignore[misc]
        kept = critics.fit(batch, kind)
        row(f"{kind}: fit to keep", least(lambda kind=kind: critics.fit(batch, kind), given.rounds))  # type: ignore[misc]
        row(f"{kind}: apply what was kept", least(lambda kept=kept: kept.fill(batch), given.rounds))  # type: ignore[misc]
        data = critics.to_bytes(kept)
        print(f"{kind}: {len(data):,} bytes in a file")


if __name__ == "__main__":
    main()
