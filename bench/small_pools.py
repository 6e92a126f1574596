"""Whether `doubly_robust` falls back by itself where a pool is small: 16 groups of every family, drawn anew each time.

    python bench/small_pools.py [ORACLE] [--draws 6] [--groups 16]

ORACLE is the folder of the oracle bench, ../shared/bench/oracle where none is given. Printed is, for updates of 64, 256
and 1,024 trajectories, the efficiency at that size of `doubly_robust` told so (`update_size`), flat `grpo` being 1; the
same of `rloo`, which is what no skill comes to: where that is below 1, so few groups measure nothing.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from credit import ROOT, SIZES, rows_of, scorer_of

import trajcredit as tc
from trajcredit import critics
from trajcredit.service import attributing, plugins

SETTINGS = [*(f"doubly_robust:update_size={size}" for size in SIZES), "rloo"]


def main() -> None:
    """Draw, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("oracle", nargs="?", type=Path, default=ROOT.parent / "shared" / "bench" / "oracle")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--groups", type=int, default=16)
    asked = parser.parse_args()
    if not (asked.oracle / "dev.jsonl.gz").is_file():
        sys.exit(f"{asked.oracle}: no dev.jsonl.gz in it: nothing measured")
    with gzip.open(asked.oracle / "dev.jsonl.gz") as file:
        lines = [(msgspec.json.decode(line)["group_id"], line) for line in file]
    with gzip.open(asked.oracle / "dev_labels.jsonl.gz") as file:
        labels = [msgspec.json.decode(line) for line in file]
    of_family: dict[str, list[str]] = defaultdict(list)
    for row in labels:
        if row["kind"] == "task":
            of_family[row["family"]].append(row["group_id"])
    heads = [f"{name} {size}" for name in ("auto", "rloo") for size in SIZES]
    print("draw  " + "  ".join(f"{head:>9}" for head in heads))
    for draw in range(asked.draws):
        random = np.random.default_rng(draw)
        kept = {
            group
            for family in sorted(of_family)
            for group in random.choice(of_family[family], asked.groups, replace=False).tolist()
        }
        found = measured(asked.oracle, [line for group, line in lines if group in kept], labels, kept)
        print(f"{draw:4d}  " + "  ".join(f"{value:9.2f}" for value in found))


def measured(oracle: Path, lines: list[bytes], labels: list[Any], kept: set[str]) -> list[float]:
    """Efficiency of each setting at its own size, and of `rloo` at every size, by the scorer of the bench."""
    scorer = scorer_of(oracle)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "drawn.jsonl"
        log.write_bytes(b"".join(lines))
        batch = tc.batch(tc.read(log))
    names = set(batch.trajectory_ids)
    truth = scorer.Labels(
        row for row in labels if (row["group_id"] in kept if row["kind"] == "task" else row["trajectory_id"] in names)
    )
    filled: attributing.Filled = {"compatible": critics.fill(batch, "compatible")}
    reports = []
    for choice in plugins.choose(SETTINGS):
        credit = attributing.scored(batch, choice.label, choice.attributor, choice.critic, filled)
        predicted, _, _ = truth.read_pred(rows_of(credit))
        reports.append(scorer.score(truth, predicted, curve=False)["macro"]["efficiency"])
    return [*(report[size] for report, size in zip(reports, SIZES, strict=False)), *(reports[-1][n] for n in SIZES)]


if __name__ == "__main__":
    main()
