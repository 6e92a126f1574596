"""A record of how fast it is: ratios of one run, with machine and commit, a line of bench/history.jsonl.

    python bench/record.py [LOG] [--quick] [--dry]

LOG as in pipeline.py; without one, a log like tau-bench airline is made up. --quick leaves out what takes minutes.
--dry prints the record and keeps nothing. Peers and devices that are not here are named in the record.
`bench/compare.py` holds the last two records of one machine against each other, `bench/performance_page.py` writes
docs/performance.md from the last quiet one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measures import Measure, every, sizes
from pipeline import made_up
from scaling import curves

HISTORY = Path(__file__).parent / "history.jsonl"
QUIET = 1.5
PACKAGES = ("numpy", "numba", "msgspec", "sqlalchemy", "pyarrow", "torch", "fastapi", "pydantic")
PEERS = ("verl", "networkx", "rustworkx", "inspect_ai")


def machine() -> dict[str, Any]:
    """What the figures depend on, and no name of it."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line), cpu
        )
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of what is measured and of the peers that are here."""
    found = {}
    for name in (*PACKAGES, *PEERS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit, with + where files differ from it."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--dry", action="store_true")
    options = parser.parse_args()
    raw = json.dumps(made_up()).encode() if options.log is None else options.log.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    before = os.getloadavg()[0]
    measures, missing = [], []
    for found in every(raw, options.quick):
        if isinstance(found, Measure):
            measures.append(found)
            budget = "" if found.budget is None else f"   budget {found.budget:g}{'' if found.held else ', MISSED'}"
            print(f"{found.name:<58} {found.value:10.2f} {found.unit}{budget}", flush=True)
        else:
            missing.append(found.name)
            print(f"{found.name}: not here, not measured")
    scaled = []
    for point in curves(*((10_000, 100_000) if options.quick else (100_000, 1_000_000))):
        scaled.append(point)
        print(f"{point['what']:<14} {point['spans']:12,} spans {point['ns']:12,.0f} ns a span", flush=True)
    record = {
        "schema": "trajcredit.bench/1",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "packages": versions(),
        "log": "made up" if options.log is None else options.log.name,
        "load": [round(before, 2), round(os.getloadavg()[0], 2)],
        "quiet": before <= QUIET,
        "missing": missing,
        "bytes_a_span": sizes(raw),
        "measures": [asdict(one) for one in measures],
        "curves": scaled,
    }
    print(f"load average {before:.2f} before; above {QUIET} a record is kept, and never held against another")
    if not options.dry:
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
