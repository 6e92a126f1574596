"""docs/performance.md, with its tables made from the last quiet record of bench/history.jsonl.

    python bench/performance_page.py [--check]

--check changes nothing, and says with exit code 1 that the page is not what the record says.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import FLAT, growth

ROOT = Path(__file__).parent.parent
HISTORY, PAGE = ROOT / "bench" / "history.jsonl", ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- measured: {} -->", "<!-- end of measured -->"
STAGES = ("decode", "read", "graph", "batch", "score", "export parquet")
SPANS = 1e9
CORES, OF_A_NODE, NODE_GBIT, SHARD = 256, 8, 10, 100_000
"""Of the cluster: all cores, those of a node, its network; spans of a shard (the default of `--shard-spans`)."""


def last_quiet(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The last record of a quiet machine; LookupError where there is none."""
    return next(one for one in reversed(records) if one["quiet"])


def tables(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tables of the page by name."""
    return {
        "record": list(_about(record)),
        "budgets": list(_budgets(record)),
        "figures": list(_figures(record)),
        "scaling": list(_scaling(record)),
        "billion": list(_billion(record)),
    }


def page(text: str, record: Mapping[str, Any]) -> str:
    """The page with its tables as the record says."""
    for name, rows in tables(record).items():
        begin = text.index(BEGIN.format(name)) + len(BEGIN.format(name))
        text = text[:begin] + "\n" + "\n".join(rows) + "\n" + text[text.index(END, begin) :]
    return text


def _about(record: Mapping[str, Any]) -> Iterator[str]:
    machine = record["machine"]
    place = f"{machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB"
    yield f"Commit {record['commit']}, {record['at'][:10]}: {place},"
    packages = ", ".join(f"{name} {version}" for name, version in record["packages"].items())
    yield f"Python {machine['python']}, {packages}; load average {record['load'][0]} before. Log: {record['log']}."
    if record["missing"]:
        yield f"Not here, so not measured: {', '.join(record['missing'])}."


def _budgets(record: Mapping[str, Any]) -> Iterator[str]:
    """Every figure that has a budget beside it, and by how much a missed one is missed."""
    yield "| measure | figure | budget | |"
    yield "| --- | --- | --- | --- |"
    for one in record["measures"]:
        if one["budget"] is None:
            continue
        lower, value, budget = one["better"] == "lower", one["value"], one["budget"]
        by = value / budget - 1 if lower else 1 - value / budget
        held = "holds" if by <= 0 else f"missed by {by:.0%}"
        sign = "at most" if lower else "at least"
        yield f"| {one['name']} | {value:.2f} {one['unit']} | {sign} {budget:g} | {held} |"


def _figures(record: Mapping[str, Any]) -> Iterator[str]:
    yield "| measure | figure |"
    yield "| --- | --- |"
    for one in record["measures"]:
        if one["budget"] is None:
            yield f"| {one['name']} | {one['value']:.2f} {one['unit']} |"


def _scaling(record: Mapping[str, Any]) -> Iterator[str]:
    """Time and memory a span at each size; then how much either grows."""
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for point in record.get("curves", ()):
        curves.setdefault(point["what"], []).append(point)
    if not curves:
        yield "This record has none."
        return
    sizes = sorted({_power(point) for points in curves.values() for point in points})
    yield f"| | {' | '.join(f'1e{size} spans' for size in sizes)} | time | memory |"
    yield "| --- |" + " --- |" * (len(sizes) + 2)
    for what, points in curves.items():
        cells = {_power(point): _cell(point) for point in points}
        grown = (_grown(growth(points, figure)) for figure in ("ns", "bytes"))
        yield f"| {what} | {' | '.join(cells.get(size, '') for size in sizes)} | {' | '.join(grown)} |"


def _power(point: Mapping[str, Any]) -> int:
    return round(math.log10(point["spans"]))


def _cell(point: Mapping[str, Any]) -> str:
    memory = "" if point["bytes"] is None else f", {point['bytes']:,.0f} B"
    return f"{point['ns']:,.0f} ns{memory}"


def _grown(by: float | None) -> str:
    if by is None:
        return "not told"
    return f"{'flat' if by <= FLAT else 'NOT flat'}, {by:.2f}"


# ---------------------------------------------------------------- a billion spans


def _billion(record: Mapping[str, Any]) -> Iterator[str]:
    """What goes in, marked as measured or assumed; core-hours of each stage; what a cluster then needs."""
    rates, hours = _rates(record), {}
    yield from _inputs(record)
    yield ""
    yield "| stage | spans a second and core | core-hours for 1e9 spans |"
    yield "| --- | --- | --- |"
    for stage in STAGES:
        hours[stage] = SPANS / rates[stage] / 3600
        yield f"| {stage} | {rates[stage]:,.0f} | {hours[stage]:,.2f} |"
    total, again = sum(hours.values()), hours["decode"] + hours["read"]
    yield f"| all of them | {SPANS / total / 3600:,.0f} | {total:,.1f} |"
    yield f"| decode and read again: shards are planned first | | {again:,.2f} |"
    yield ""
    yield from _needs(record, total + again)


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    """Spans a second and core of each stage, of the log most times over."""
    known = {one["name"]: one["per_second"] for one in record["measures"] if one["per_second"]}
    times = max(int(name.rpartition(" ")[2]) for name in known if name.startswith("whole, log x "))
    return {stage: known[f"{stage}, log x {times}"] for stage in STAGES}


def _at_most(record: Mapping[str, Any], what: str) -> Mapping[str, Any] | None:
    """The largest size of a curve."""
    points = [point for point in record.get("curves", ()) if point["what"] == what]
    return max(points, key=lambda point: int(point["spans"]), default=None)


def _inputs(record: Mapping[str, Any]) -> Iterator[str]:
    size = record["bytes_a_span"]
    graphs, write = _at_most(record, "graphs"), _at_most(record, "store write")
    yield "| input | value | |"
    yield "| --- | --- | --- |"
    yield "| spans a second and core of each stage | below | measured |"
    yield f"| bytes a span of logs, not compressed | {size['log']:,.0f} | measured, of this log |"
    yield f"| bytes a span of a database | {size['database']:,.0f} | measured, SQLite |"
    yield f"| bytes a span of a run's credit and advantage | {size['credits']:,.0f} | two float64, by layout |"
    if graphs is not None and graphs["bytes"] is not None:
        yield f"| memory a span of graphs, at most | {graphs['bytes']:,.0f} bytes | measured |"
    if write is not None:
        yield f"| spans a second into a database, with rows | {1e9 / write['ns']:,.0f} | measured, SQLite |"
    yield f"| spans of a shard | {SHARD:,} | the default |"
    yield f"| cores, all equally loaded | {CORES} | assumed |"
    yield f"| nodes | {CORES // OF_A_NODE} of {OF_A_NODE} cores and {NODE_GBIT} Gbit/s | assumed |"
    yield "| speed of a core of the cluster | as of this machine | assumed |"
    yield "| work of a shard | in proportion to its spans | measured up to the sizes above, assumed beyond |"


def _needs(record: Mapping[str, Any], core_hours: float) -> Iterator[str]:
    size = {name: SPANS * one / 1e9 for name, one in record["bytes_a_span"].items()}
    hours = core_hours / CORES
    rate = 2 * size["log"] / (3600 * hours)
    node, limit = rate / (CORES // OF_A_NODE), NODE_GBIT / 8
    yield f"- Time: {core_hours:,.1f} core-hours / {CORES} cores = {60 * hours:,.1f} minutes."
    workers = math.ceil(core_hours)
    yield f"- To be done in one hour: {workers} cores."
    yield f"- Shards: 1e9 / {SHARD:,} = {math.ceil(SPANS / SHARD):,}, so {SPANS / SHARD / CORES:,.0f} a core."
    graphs = _at_most(record, "graphs")
    if graphs is not None and graphs["bytes"] is not None:
        gigabytes = SHARD * (graphs["bytes"] + record["bytes_a_span"]["log"]) / 1e9
        yield f"- Memory of a worker: {SHARD:,} spans of graphs and their log = {gigabytes:,.2f} GB."
    bound = "the network is not the bound" if node <= limit else "the network is the bound: it takes longer"
    yield (
        f"- Network: logs are read twice, {2 * size['log']:,.0f} GB in {60 * hours:,.1f} minutes = {rate:,.1f} GB/s, "
        f"{node:,.2f} GB/s a node of {limit:,.2f}: {bound}."
    )
    yield (
        f"- Storage: logs {size['log']:,.0f} GB, credit and advantage of a run {size['credits']:,.0f} GB; all in a "
        f"database, with packed columns, graphs and compressed text, {size['database']:,.0f} GB."
    )
    write = _at_most(record, "store write")
    if write is not None:
        yield (
            f"- A database has one writer: {SPANS * write['ns'] / 1e9 / 3600:,.1f} hours for the rows, however many "
            "cores there are. That is why shards become Parquet files."
        )


def main() -> int:
    """Write the page, or say that it is not fresh."""
    records = [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines() if line.strip()]
    text = PAGE.read_text(encoding="utf-8")
    fresh = page(text, last_quiet(records))
    if "--check" in sys.argv:
        return int(fresh != text)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
