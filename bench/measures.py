"""What `record.py` measures: ratios within one run, each with the direction that is better and its budget.

Every measure is small enough that all of them take some minutes. Peers that are not installed are named as such.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import networkx
import numpy as np
import pipeline
import store as storing
import torch
from budgets import others
from inspected import our_messages, their_messages, written
from kernels import GOALS, OURS, SHAPES, TWINS, medians, tokens, verl_peers
from measuring import Measure, NotHere, timed
from spans import flat
from uploads import ingested

from trajcredit import kernels
from trajcredit.arrays import offsets_of
from trajcredit.engines import engine
from trajcredit.formats import read, read_bytes
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory
from trajcredit.service.building import graphs_by
from trajcredit.store import keeping, logs, open_store

__all__ = ["Measure", "NotHere", "every", "sizes"]

ROUNDS = 5
COLD = "from trajcredit.service.warming import warm; import time; t = time.time(); warm(); print(time.time() - t)"


def every(raw: bytes, quick: bool) -> Iterator[Measure | NotHere]:
    """All of them; `quick` leaves out what takes minutes (compiling anew, ten times the log)."""
    yield from stages(raw, quick)
    yield from stored(raw)
    yield from others(raw)
    yield from ingested()
    yield from padded(quick)
    yield from flat()
    yield from ancestors()
    yield from transcripts()
    yield from pool(raw, 1 if quick else 10)
    if not quick:
        yield from first_call()
    if not torch.cuda.is_available():
        yield NotHere("a CUDA device (bench/gpu.py: the torch twins against numba and the copy rate)")


def stages(raw: bytes, quick: bool) -> Iterator[Measure]:
    """Each stage of the main job against json.loads of the same bytes, at once and ten times over."""
    for times in (1,) if quick else (1, 10):
        data = raw if times == 1 else pipeline.shifted(json.loads(raw), times)
        found = pipeline.measured(data, ROUNDS)
        spans = sum(len(t.spans) for t in read_bytes(data, "log.json") if isinstance(t, Trajectory))
        for stage in ("decode", "read", "graph", "batch", "score", "export parquet", "whole"):
            budget = 7.0 if stage == "whole" and times > 1 else pipeline.BUDGETS.get(stage)
            name = f"{stage}, log x {times}"
            yield Measure(name, found[stage] / found["json"], "lower", "x json", budget, spans / found[stage])


def stored(raw: bytes) -> Iterator[Measure]:
    """Storing a log in a new SQLite file, and the columns of packed rows against one row a span."""
    graphs = build_graphs([t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)])
    clock = storing.store_a_log(raw, graphs, 3, storing.new_sqlite)
    before = clock["raw log"] + clock["keep"] - clock["columns"]
    spans = sum(len(graph.trajectory.spans) for graph in graphs)
    for name, seconds, budget in (
        ("store, packed rows only", before + clock["write packed"], 0.8),
        ("store, with rows for queries", before + clock["write rows"], 1.6),
    ):
        yield Measure(name, seconds / clock["json"], "lower", "x json", budget, spans / seconds)
    with storing.new_sqlite() as store:
        ids, batch = storing.filled(store, graphs, 60_000)
        storing.row_tables(store, storing.load(store).columns)
        read = storing.read_columns(store, 3)
        n = batch.n_spans
        yield Measure(
            "columns, packed rows against Core", read["rows"] / read["blocks"], "higher", "x", 30, n / read["load"]
        )
        credit = storing.write_and_read_credits(store, ids, batch, 3)
        for what in ("write", "read"):
            ours, theirs = credit[f"{what} blocks"], credit[f"{what} rows"]
            yield Measure(f"credits, {what} packed against Core", theirs / ours, "higher", "x", None, n / ours)


def sizes(raw: bytes) -> dict[str, float]:
    """Bytes a span: of the log as it is, of a new SQLite file with it, of a run's credit and advantage."""
    graphs = build_graphs([t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)])
    spans = sum(len(graph.trajectory.spans) for graph in graphs)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store.db"
        with open_store(str(place)) as store:
            storing.write(store, logs.packed(raw, "log.json"), keeping.keep(storing.PROJECT, graphs))
        return {"log": len(raw) / spans, "database": place.stat().st_size / spans, "credits": 16.0}


def padded(quick: bool) -> Iterator[Measure | NotHere]:
    """Token kernels against numpy and verl on the same padded rows."""
    verl = verl_peers()
    if not verl:
        yield NotHere("verl 0.9.1")
    for shape in SHAPES[1:] if quick else SHAPES:
        t = tokens(*shape)
        for kernel, function in OURS.items():
            peers = {"numpy": TWINS[kernel], **verl.get(kernel, {})}
            on = t.mask != 0
            for peer in peers.values():
                np.testing.assert_allclose(peer(t)[on], function(t)[on], rtol=1e-3, atol=1e-4)
            took = medians({"ours": function, **peers}, t)
            if verl:  # torch is at times faster on one thread: what is published is against its best
                for name, seconds in on_one_thread(lambda: medians(verl[kernel], t)).items():  # noqa: B023  # runs at once
                    took[name] = min(took[name], seconds)
            for name in peers:
                goal = GOALS.get((kernel, shape)) if name == "verl" else None
                label = f"{kernel} {shape[0]} x {shape[1]} against {name}"
                yield Measure(label, took[name] / took["ours"], "higher", "x", goal, t.mask.size / took["ours"])


def on_one_thread(work: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What is measured with one thread of torch."""
    torch: Any = importlib.import_module("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return work()
    finally:
        torch.set_num_threads(before)


def ancestors() -> Iterator[Measure | NotHere]:
    """Ancestors of the last span of 200 graphs of 200 spans, three edges a span."""
    random = np.random.default_rng(0)
    n, graphs = 200, 200
    parents = [np.unique(random.integers(0, child, 3)) for child in range(1, n)]
    degree = np.array([0, *map(len, parents)])
    flat = np.concatenate(parents)
    offsets = offsets_of(np.tile(degree, graphs).tolist())
    every_parent = np.concatenate([flat + n * g for g in range(graphs)])
    sinks = np.zeros(n * graphs, dtype=bool)
    sinks[n - 1 :: n] = True
    gate = np.ones(len(every_parent), dtype=bool)
    edges = [(int(p), child) for child, own in enumerate(parents, 1) for p in own]

    def ours() -> Any:
        return kernels.ancestors(sinks, offsets, every_parent, gate)

    known = networkx.DiGraph(edges)
    peers: dict[str, Callable[[], Any]] = {
        "networkx": lambda: [networkx.ancestors(known, n - 1) for _ in range(graphs)]
    }
    if importlib.util.find_spec("rustworkx"):
        rustworkx = importlib.import_module("rustworkx")
        rust = rustworkx.PyDiGraph()
        rust.add_nodes_from(range(n))
        rust.add_edges_from_no_data(edges)
        peers["rustworkx"] = lambda: [rustworkx.ancestors(rust, n - 1) for _ in range(graphs)]
    else:
        yield NotHere("rustworkx")
    found = set(np.flatnonzero(ours()[:n]).tolist()) | {n - 1}
    for name, peer in peers.items():
        assert set(peer()[0]) | {n - 1} == found, name
    took = timed({"ours": ours, **peers})
    for name in peers:
        yield Measure(
            f"DAG ancestors against {name}", took[name] / took["ours"], "higher", "x", None, n * graphs / took["ours"]
        )


def transcripts() -> Iterator[Measure | NotHere]:
    """Reading an Inspect AI log that inspect_ai wrote, against its own reader, which validates more."""
    if not importlib.util.find_spec("inspect_ai"):
        yield NotHere("inspect_ai")
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "log.json"
        theirs = written(place, pipeline.made_up(60))

        def ours() -> Any:
            return list(read(str(place)))

        for mine, sample in zip(ours(), theirs().samples, strict=True):
            assert our_messages(mine) == their_messages(sample), mine.id
        data = place.read_bytes()
        took = timed({"ours": ours, "inspect_ai": theirs, "json": lambda: json.loads(data)}, 3)
    yield Measure("reading an Inspect log against inspect_ai", took["inspect_ai"] / took["ours"], "higher", "x")
    yield Measure("reading an Inspect log", took["ours"] / took["json"], "lower", "x json")


def pool(raw: bytes, times: int) -> Iterator[Measure]:
    """Graphs of a log by two processes against one, processes there already."""
    data = raw if times == 1 else pipeline.shifted(json.loads(raw), times)
    trajectories = [t for t in read_bytes(data, "log.json") if isinstance(t, Trajectory)]
    with engine("pool", 2) as two:
        graphs_by(two, trajectories)
        took = timed({"one": lambda: build_graphs(trajectories), "two": lambda: graphs_by(two, trajectories)}, 3)
    name = f"graphs by a pool of 2 against one process, log x {times}"
    yield Measure(name, took["one"] / took["two"], "higher", "x")


def first_call() -> Iterator[Measure]:
    """The first graph and credit of a process on a machine that never compiled, against one that has."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}

        def seconds() -> float:
            done = subprocess.run(
                [sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True
            )
            return float(done.stdout)

        cold = seconds()
        yield Measure("first call in a process, kernels kept against compiled", cold / seconds(), "higher", "x")
