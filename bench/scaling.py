"""Time and memory a span, from a thousand spans to ten million: flat, or not.

    python bench/scaling.py [--graphs 1000000] [--spans 10000000]

Each size is a process of its own: the peak of its memory less what it had before. Graphs are built of made-up runs like
those of tau-bench airline, attributors score a batch of such graphs so many times over (other groups, the same graphs).
Flat is held: from 10,000 spans on no size takes more than 1.5 times as long a span as a smaller one. Load is printed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import fields, replace
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import pipeline

from trajcredit.batching import Batch, pack
from trajcredit.formats import read_bytes
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory
from trajcredit.service.plugins import choose

SEED_RUNS = 200
FLAT, FROM = 1.5, 10_000
ATTRIBUTORS = ("grpo", "dag", "gae:lam=0.95")
OF_TRAJECTORIES = frozenset(
    {"outcome", "group", "pool", "terminated", "truncated", "policy_version", "bootstrap", "score_start"}
)


def runs(spans: int) -> list[Trajectory]:
    """Made-up runs of about so many spans."""
    raw = json.dumps(pipeline.made_up(max(1, spans // 40))).encode()
    return [t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)]


def tiled(batch: Batch, times: int) -> Batch:
    """The batch so many times over: groups of each copy are its own."""
    new: dict[str, Any] = {"graphs": None}
    for field in fields(batch):
        column = getattr(batch, field.name)
        if isinstance(column, np.ndarray) and field.name not in ("span_offsets", "parent_offsets"):
            new[field.name] = np.tile(column, times)
    copy = np.arange(times)
    new["parents"] = new["parents"] + np.repeat(copy * batch.n_spans, len(batch.parents))
    new["group"] = new["group"] + np.repeat(copy * len(batch.group_ids), batch.n_trajectories)
    for name in ("span_offsets", "parent_offsets"):
        lengths = np.tile(np.diff(getattr(batch, name)), times)
        new[name] = np.concatenate([[0], np.cumsum(lengths)])
    new["trajectory_ids"] = tuple(f"{k}-{name}" for k in range(times) for name in batch.trajectory_ids)
    new["group_ids"] = tuple(f"{k}-{name}" for k in range(times) for name in batch.group_ids)
    new["values"] = np.where(new["action_mask"], 0.5, np.nan)
    for column in new.values():
        if isinstance(column, np.ndarray):
            column.setflags(write=False)  # as those of every batch: kernels are compiled for such
    return replace(batch, **new)


def measured(what: str, spans: int) -> dict[str, float]:
    """Spans, seconds, and bytes of memory above what there was before."""
    if what == "graphs":
        trajectories = runs(spans)
        build_graphs(trajectories[:2])
        return _watched(sum(len(t.spans) for t in trajectories), lambda: build_graphs(trajectories))
    seed = tiled(pack(build_graphs(runs(min(spans, 40 * SEED_RUNS)))), 1)
    batch = tiled(seed, max(1, round(spans / seed.n_spans)))
    [choice] = choose([what])
    choice.attributor(seed)
    return _watched(batch.n_spans, lambda: choice.attributor(batch))


def _watched(spans: int, work: Any) -> dict[str, float]:
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"spans": spans, "seconds": seconds, "bytes": 1024.0 * (peak - before)}


def in_its_own_process(what: str, spans: int) -> dict[str, float]:
    """The same, measured by a new process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", what, str(spans)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=100_000, help="spans of the largest set of graphs")
    parser.add_argument("--spans", type=int, default=1_000_000, help="spans of the largest batch")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "SPANS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], int(options.one[1]))))
        return
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores")
    for what, most in (("graphs", options.graphs), *((name, options.spans) for name in ATTRIBUTORS)):
        times, sizes = [], [10**k for k in range(3, 9) if 10**k <= most]
        for spans in sizes:
            found = in_its_own_process(what, spans)
            n = found["spans"]
            time_, memory = f"{1e9 * found['seconds'] / n:,.0f} ns", f"{found['bytes'] / n:,.0f} bytes"
            print(f"{what:<14} {n:12,.0f} spans {time_:>14} a span {memory:>14} a span", flush=True)
            if n > FROM / 2:
                times.append(found["seconds"] / n)
        if len(times) > 1:
            growth = max(now / min(times[:k]) for k, now in enumerate(times) if k)
            word = "flat" if growth <= FLAT else "NOT flat"
            print(f"{what:<14} {word}: at most {growth:.2f} x what a smaller size took a span\n", flush=True)


if __name__ == "__main__":
    main()
