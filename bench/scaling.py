"""Time and memory a span, from a thousand spans to ten million: flat, or not.

    python bench/scaling.py [--graphs 100000] [--spans 1000000] [--json]
    python bench/scaling.py --graphs 1000000 --spans 10000000          needs some minutes and 12 GB of memory

Each size is a process of its own: the median time of some passes, and the peak of its memory during the first of them
less what it held before. Graphs are built of made-up runs like those of tau-bench airline; attributors score a batch of
such graphs so many times over (other groups, the same graphs); the store writes that many of them, rows for queries
included, into a new SQLite file, and reads a batch from it.
Flat: from 10,000 spans on no size takes more than 1.5 times as long, or as many bytes, a span as any smaller one;
falling is fine, since what a call costs apart from its spans is spread over more. Load is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import pipeline
import store as storing
from measuring import FLAT, growth

from trajcredit.batching import Batch, assemble, pack
from trajcredit.formats import read_bytes
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory
from trajcredit.service.plugins import choose
from trajcredit.store import Store, keeping, open_store, trajectories

__all__ = ["curves"]

SEED_RUNS = 200
ATTRIBUTORS = ("grpo", "dag", "gae:lam=0.95")
BUILT = ("graphs", "store write", "store read")
"""What is measured up to --graphs; attributors up to --spans."""
LONG_ENOUGH, MOST_PASSES = 0.5, 5
"""Seconds and passes after which no more are made."""
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


def measured(what: str, spans: int) -> dict[str, float | None]:
    """Spans, seconds, and bytes of memory above what there was before; null where the system does not tell."""
    if what == "graphs":
        made = runs(spans)
        build_graphs(made[:2])
        return _watched(sum(len(t.spans) for t in made), lambda: build_graphs(made))
    if what.startswith("store"):
        return _stored(what, spans)
    seed = tiled(pack(build_graphs(runs(min(spans, 40 * SEED_RUNS)))), 1)
    batch = tiled(seed, max(1, round(spans / seed.n_spans)))
    [choice] = choose([what])
    choice.attributor(seed)
    return _watched(batch.n_spans, lambda: choice.attributor(batch))


def _stored(what: str, spans: int) -> dict[str, float | None]:
    kept = keeping.keep(storing.PROJECT, build_graphs(runs(min(spans, 40 * SEED_RUNS))))
    per_copy = sum(len(one.spans[0]) for one in kept)
    copies, passes = max(1, round(spans / per_copy)), count()
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "store.db")) as store:
        storing.warm_up(store)

        def write() -> None:
            number = next(passes)
            for copy in range(copies):
                items = [replace(one, external_id=f"{number}-{copy}-{one.external_id}") for one in kept]
                with store.write() as conn:
                    trajectories.add(conn, storing.PROJECT, items)

        if what == "store write":
            return _watched(copies * per_copy, write)
        write()
        return _watched(_read(store).n_spans, lambda: _read(store))


def _read(store: Store) -> Batch:
    loaded = storing.load(store)
    return assemble(loaded.heads, loaded.columns, loaded.rewards)


def _watched(spans: int, work: Callable[[], Any]) -> dict[str, float | None]:
    gc.collect()
    before = _held("VmRSS", anew=True)
    times: list[float] = []
    peak = None
    while not times or (sum(times) < LONG_ENOUGH and len(times) < MOST_PASSES):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        peak = peak or _held("VmHWM")
    held = None if before is None or peak is None else float(max(0, peak - before))
    return {"spans": float(spans), "seconds": statistics.median(times), "bytes": held}


def _held(which: str, anew: bool = False) -> int | None:
    """Bytes of memory of this process as Linux counts them; `anew`: freed memory goes back, the peak is forgotten."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    if anew:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in status.read_text().splitlines() if line.startswith(which))
    return 1024 * int(line.split()[1])


def in_its_own_process(what: str, spans: int) -> dict[str, Any]:
    """The same, measured by a new process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", what, str(spans)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    n = found["spans"]
    held = None if found["bytes"] is None else round(found["bytes"] / n, 1)
    return {"what": what, "spans": int(n), "ns": round(1e9 * found["seconds"] / n, 1), "bytes": held}


def curves(graphs: int, spans: int) -> Iterator[dict[str, Any]]:
    """Nanoseconds and bytes a span of every part at every power of ten, from 1,000 up."""
    for what, most in (*((name, graphs) for name in BUILT), *((name, spans) for name in ATTRIBUTORS)):
        for size in (10**k for k in range(3, 9) if 10**k <= most):
            yield in_its_own_process(what, size)


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=100_000, help="spans of the largest set of graphs, and stored")
    parser.add_argument("--spans", type=int, default=1_000_000, help="spans of the largest batch")
    parser.add_argument("--json", action="store_true", help="a line of JSON a size")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "SPANS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], int(options.one[1]))))
        return
    if not options.json:
        print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores")
    by_name: dict[str, list[dict[str, Any]]] = {}
    for point in curves(options.graphs, options.spans):
        by_name.setdefault(point["what"], []).append(point)
        if options.json:
            print(json.dumps(point), flush=True)
            continue
        memory = "memory not told" if point["bytes"] is None else f"{point['bytes']:,.0f} bytes a span"
        print(f"{point['what']:<14} {point['spans']:12,} spans {point['ns']:12,.0f} ns a span {memory:>24}", flush=True)
    if options.json:
        return
    for what, points in by_name.items():
        for figure, word in (("ns", "time"), ("bytes", "memory")):
            grown = growth(points, figure)
            if grown is not None:
                flat = "flat" if grown <= FLAT else "NOT flat"
                print(f"{what:<14} {word:<6} {flat}: a span takes at most {grown:.2f} x what it took at a smaller size")


if __name__ == "__main__":
    main()
