"""docs/performance.md, with its tables made from the last quiet record of bench/history.jsonl.

    python bench/performance_page.py [--check]

--check changes nothing, and says with exit code 1 that the page is not what the record says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HISTORY, PAGE = ROOT / "bench" / "history.jsonl", ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- measured: {} -->", "<!-- end of measured -->"
SPANS = 1e9
CORES = 256


def last_quiet(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The last record of a quiet machine; LookupError where there is none."""
    return next(one for one in reversed(records) if one["quiet"])


def tables(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tables of the page by name."""
    return {"record": list(_about(record)), "ratios": list(_ratios(record)), "billion": list(_billion(record))}


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
        yield f"Not installed, so not compared: {', '.join(record['missing'])}."


def _ratios(record: Mapping[str, Any]) -> Iterator[str]:
    yield "| measure | figure | budget | |"
    yield "| --- | --- | --- | --- |"
    for one in record["measures"]:
        figure = f"{one['value']:.2f} {one['unit']}"
        if one["budget"] is None:
            yield f"| {one['name']} | {figure} | | |"
            continue
        lower = one["better"] == "lower"
        sign, held = (
            ("at most", one["value"] <= one["budget"]) if lower else ("at least", one["value"] >= one["budget"])
        )
        yield f"| {one['name']} | {figure} | {sign} {one['budget']:g} | {'holds' if held else 'missed'} |"


def _billion(record: Mapping[str, Any]) -> Iterator[str]:
    """Core-hours of each stage for SPANS spans, by what one core did in this record."""
    rates = {one["name"].partition(",")[0]: one["per_second"] for one in record["measures"] if one["per_second"]}
    whole = {one["name"]: one["per_second"] for one in record["measures"] if one["per_second"]}
    largest = max((int(name.rpartition(" ")[2]) for name in whole if name.startswith("whole, log x")), default=1)
    yield "| stage | spans a second and core | core-hours for 1e9 spans |"
    yield "| --- | --- | --- |"
    total = 0.0
    for stage in ("decode", "read", "graph", "batch", "score", "export parquet"):
        rate = whole.get(f"{stage}, log x {largest}") or rates[stage]
        hours = SPANS / rate / 3600
        total += hours
        yield f"| {stage} | {rate:,.0f} | {hours:,.2f} |"
    yield f"| all of them | {SPANS / total / 3600:,.0f} | {total:,.1f} |"
    index = SPANS / whole[f"decode, log x {largest}"] / 3600 + SPANS / whole[f"read, log x {largest}"] / 3600
    hours, size = (total + index) / CORES, {name: SPANS * one / 1e9 for name, one in record["bytes_a_span"].items()}
    rate = 2 * size["log"] / (3600 * hours)
    yield ""
    minutes = 60 * hours
    yield f"In shards every log is read twice: {index:,.1f} core-hours more. On {CORES} cores that is {minutes:,.0f} minutes,"
    yield f"in which {rate:,.2f} GB/s of logs are read in all, {1000 * rate / CORES:,.1f} MB/s by each core."
    credit = f"credit and advantage of one run {size['credits']:,.0f} GB"
    yield f"Logs {size['log']:,.0f} GB; {credit}; all in a database, with packed columns,"
    yield f"graphs and compressed text, {size['database']:,.0f} GB."


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
