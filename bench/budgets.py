"""What no other bench measures: the matcher alone, saving and rescoring, JSON lines, a straightforward build, growth.

    python bench/budgets.py [LOG]      no network, under a minute; LOG as in pipeline.py

Ratios to json.loads of the same bytes but where another yardstick is named; growth is that of ten or a hundred times
as many spans in one transcript. Medians of interleaved rounds; the load average is printed.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import pipeline
import store as storing
import straightforward
from measuring import Measure, timed

from trajcredit.batching import assemble, pack
from trajcredit.exporters import Credit
from trajcredit.formats import read_bytes
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.graph.values import find_values
from trajcredit.model import Span, Trajectory
from trajcredit.registry import exporters
from trajcredit.service.plugins import choose
from trajcredit.store import Store, keeping, logs, run_credits, runs

sys.path.insert(0, str(Path(__file__).parents[1]))  # edges.py builds the tests' hostile transcripts too
edges = importlib.import_module("edges")

__all__ = ["others"]

SHORT, LONG = 200, 20_000
HOSTILE = 2_000
"""Spans of the shorter hostile transcript; the longer has ten times as many."""


def others(raw: bytes) -> Iterator[Measure]:
    """All of them."""
    trajectories = [t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)]
    graphs = build_graphs(trajectories)
    yield from matched(raw, trajectories)
    yield from kept(raw, graphs)
    yield from written(graphs)
    yield from built(raw)
    yield from growth()


def matched(raw: bytes, trajectories: list[Trajectory]) -> Iterator[Measure]:
    """The kernels that find values and what each was taken from: a pass over all texts, no rules of calls or state."""
    never = np.zeros(sum(len(t.spans) for t in trajectories), dtype=bool)
    took = timed({"json": lambda: json.loads(raw), "ours": lambda: find_values(trajectories, never, never)})
    yield Measure("value matcher alone, edges with matches", took["ours"] / took["json"], "lower", "x json", 0.25)


def scores(batch: Any) -> list[Credit]:
    """Credit of the seven attributors."""
    found = [(choice.label, choice.attributor(batch)) for choice in pipeline.SCORED]
    return [Credit(batch, name, {}, f.credit, f.advantage, f.notes) for name, f in found]


def kept(raw: bytes, graphs: list[SpanGraph]) -> Iterator[Measure]:
    """All scores into a store that has the log; and from that store to scores again."""
    with storing.new_sqlite() as store:
        storing.write(store, logs.packed(raw, "log.json"), keeping.keep(storing.PROJECT, graphs))

        def rescore() -> tuple[Any, list[Credit]]:
            loaded = storing.load(store)
            return loaded.ids, scores(assemble(loaded.heads, loaded.columns, loaded.rewards))

        ids, found = rescore()
        for again, once in zip(found, scores(pack(graphs)), strict=True):
            np.testing.assert_array_equal(again.advantage, once.advantage)
        took = timed({"json": lambda: json.loads(raw), "rescore": rescore, "save": lambda: _save(store, ids, found)})
    yield Measure("save all scores, seven runs", took["save"] / took["json"], "lower", "x json", 0.3)
    yield Measure("reload from the store and rescore", took["rescore"] / took["json"], "lower", "x json", 0.15)


def _save(store: Store, ids: tuple[str, ...], found: list[Credit]) -> None:
    with store.write() as conn:
        for credit in found:
            run = runs.create(conn, storing.PROJECT, storing.GRPO).id
            runs.start(conn, run)
            run_credits.save(conn, run, ids, credit.batch, credit.credit, credit.advantage)


def written(graphs: list[SpanGraph]) -> Iterator[Measure]:
    """Parquet of one attributor against json.dumps of rows that are ready, which need not even be made."""
    credit = scores(pack(graphs))[-1:]
    lines = io.BytesIO()
    exporters.get("jsonl")()(credit, lines)
    rows = [json.loads(line) for line in lines.getvalue().splitlines()]

    def parquet() -> None:
        exporters.get("parquet")()(credit, io.BytesIO())

    def standard() -> None:
        out = io.StringIO()
        for row in rows:
            out.write(json.dumps(row) + "\n")

    took = timed({"parquet": parquet, "json lines": standard})
    name = "export parquet against JSON lines by the standard library"
    yield Measure(name, took["json lines"] / took["parquet"], "higher", "x", 10)


def built(raw: bytes) -> Iterator[Measure]:
    """The whole way, into a new SQLite file, against a straightforward build: the same advantages first."""
    [grpo, dag] = choose(["grpo", "dag"])

    def ours() -> list[float]:
        graphs = build_graphs([t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)])
        with storing.new_sqlite() as store:
            storing.write(store, logs.packed(raw, "log.json"), keeping.keep(storing.PROJECT, graphs))
            loaded = storing.load(store)
            batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
            flat, credit = grpo.attributor(batch), dag.attributor(batch)
            scored = [Credit(batch, "", {}, one.credit, one.advantage, ()) for one in (flat, credit)]
            _save(store, loaded.ids, scored)
        return [float(np.nanmax(part)) for part in np.split(flat.advantage, batch.span_offsets[1:-1])]

    np.testing.assert_allclose(ours(), straightforward.advantages(raw), rtol=1e-9, atol=1e-12)
    took = timed({"ours": ours, "theirs": lambda: straightforward.advantages(raw)}, 3)
    name = "whole way into SQLite against pydantic, substrings, networkx, ORM"
    yield Measure(name, took["theirs"] / took["ours"], "higher", "x", 4)


# ---------------------------------------------------------------- long and hostile transcripts


def same_value(n: int) -> Trajectory:
    """One value in every result and every call."""
    spans = [Span("user", -1, text="start at QX-00017Z")]
    for k in range((n - 1) // 2):
        spans.append(_call(k, "QX-00017Z"))
        spans.append(Span("tool_result", k, text=f"QX-00017Z again, {k}", result_of=len(spans) - 1))
    return Trajectory(id="same", spans=spans)


def nested(n: int) -> Trajectory:
    """Every value holds the one before: a, a-1, a-1-2 and so on, starting anew after twenty."""
    spans = [Span("user", -1, text="start")]
    value = "QX"
    for k in range((n - 1) // 2):
        value = f"QX{k}" if k % 20 == 0 else f"{value}-{k}"
        spans.append(_call(k, value))
        spans.append(Span("tool_result", k, text=f"{value} and {value}-{k + 1}", result_of=len(spans) - 1))
    return Trajectory(id="nested", spans=spans)


def _call(turn: int, value: str) -> Span:
    return Span("tool_call", turn, name="look_up", arguments={"id": value}, arguments_raw=json.dumps({"id": value}))


CASES: dict[str, Callable[[int], Trajectory]] = {
    "ids with a shared prefix": lambda n: edges.chain(n, 0),
    "one value in every result": same_value,
    "nested values": nested,
}


def growth() -> Iterator[Measure]:
    """Time a span in a long transcript against short ones; ten times the spans of hostile transcripts."""
    made = {"chain of ids": edges.chain, "coding agent": edges.mixed}
    for name, make in made.items():
        short = [make(SHORT + 1, 1000 * k) for k in range(LONG // SHORT)]
        long = [make(LONG + 1, 0)]
        took = timed({"short": lambda: build_graphs(short), "long": lambda: build_graphs(long)}, 3)  # noqa: B023  # runs at once
        label = f"graph, {name}: time a span at {LONG:,} spans against {SHORT}"
        yield Measure(label, took["long"] / took["short"], "lower", "x", 1.5)
    for name, hostile in CASES.items():
        pair = [hostile(HOSTILE + 1)], [hostile(10 * HOSTILE + 1)]
        took = timed({"short": lambda: build_graphs(pair[0]), "long": lambda: build_graphs(pair[1])}, 3)  # noqa: B023
        label = f"graph, hostile, {name}: time of {10 * HOSTILE:,} spans against {HOSTILE:,}"
        yield Measure(label, took["long"] / took["short"], "lower", "x", 20)


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path)
    options = parser.parse_args()
    raw = json.dumps(pipeline.made_up()).encode() if options.log is None else options.log.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    began = time.perf_counter()
    for one in others(raw):
        missed = "" if one.held else "   MISSED"
        print(f"{one.name:<80} {one.value:8.2f} {one.unit:7} budget {one.budget}{missed}", flush=True)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
