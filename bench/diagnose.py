"""How often each failure mode is found where it is, and where it is not: generated data sets and their twins.

    python bench/diagnose.py [--seeds 100] [--first 0] [--mode NAME]... [--others] [--write]

A row a mode: of so many seeds, in how many the mode was found in the data set that has it and in the twin without it,
the median figure of both, the threshold (KL has two: too far, and too near). Wanted are at least 95 and at most 5 of
100. `--others` adds how often a twin was said to have some other mode (it may have it: an easy task set has uniform
groups). `--write` puts the table into docs/diagnostics.md, all modes of it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.diagnostics.worlds import WORLDS, world
from trajcredit.diagnostics import MODES
from trajcredit.service import diagnosing, stateless

PAGE = Path(__file__).parent.parent / "docs" / "diagnostics.md"
BEGIN, END = "<!-- measured: modes -->", "<!-- end of measured -->"


@dataclass(frozen=True)
class Measured:
    """Over the seeds: in how many the mode was found, its figures by the threshold they are held against, and how often
    each other mode was found."""

    found: int
    figures: dict[float, list[float]]
    others: Counter[str]

    def medians(self) -> str:
        """One for each threshold, the highest threshold first."""
        return " / ".join(f"{np.median(own):.2g}" for _, own in sorted(self.figures.items(), reverse=True)) or "-"

    def thresholds(self) -> str:
        """As `medians`."""
        return " / ".join(f"{threshold:g}" for threshold in sorted(self.figures, reverse=True)) or "-"


def main() -> None:
    """Generate, diagnose, count."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seeds", type=int, default=100)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--mode", action="append", choices=list(WORLDS))
    asked.add_argument("--others", action="store_true")
    asked.add_argument("--write", action="store_true", help="into docs/diagnostics.md")
    given = asked.parse_args()
    if given.write and given.mode:
        asked.error("--write puts all modes into the page: leave --mode away")
    seeds = range(given.first, given.first + given.seeds)
    print(f"{'mode':32}{'found':>8}{'false':>8}{'with':>18}{'without':>10}{'threshold':>14}   of {given.seeds} seeds")
    rows: dict[str, tuple[Measured, Measured]] = {}
    for mode in given.mode or WORLDS:
        start = time.time()
        sick, twin = rows[mode] = measured(mode, True, seeds), measured(mode, False, seeds)
        figures = f"{sick.medians():>18}{twin.medians():>10}{sick.thresholds():>14}"
        print(f"{mode:32}{sick.found:8d}{twin.found:8d}{figures}   {time.time() - start:.0f} s", flush=True)
        if given.others and twin.others:
            print(f"{'':4}the twin has too: {', '.join(f'{name} {n}' for name, n in twin.others.most_common())}")
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        start_at = text.index(BEGIN) + len(BEGIN)
        table = "\n" + "\n".join(lines(rows, seeds)) + "\n"
        PAGE.write_text(text[:start_at] + table + text[text.index(END, start_at) :], encoding="utf-8")
    missed = [mode for mode, own in rows.items() if not passed(*own, len(seeds))]
    sys.exit(f"not within 95 and 5 of 100: {', '.join(missed)}" if missed else 0)


def passed(sick: Measured, twin: Measured, seeds: int) -> bool:
    """Whether both counts are as wanted."""
    return sick.found >= 0.95 * seeds and twin.found <= 0.05 * seeds


def lines(rows: dict[str, tuple[Measured, Measured]], seeds: Sequence[int]) -> Iterator[str]:
    """The table of the page."""
    heads = ("found where it is", "found in the twin", "median figure, with", "in the twin", "threshold")
    yield f"| of {len(seeds)} seeds, {seeds[0]} to {seeds[-1]} | {' | '.join(heads)} |"
    yield "| --- |" + " --- |" * 5
    for mode, (sick, twin) in rows.items():
        cells = (MODES[mode].title, sick.found, twin.found, sick.medians(), twin.medians(), sick.thresholds())
        yield f"| {' | '.join(map(str, cells))} |"


def measured(mode: str, present: bool, seeds: Sequence[int]) -> Measured:
    """Every seed once."""
    found, figures, others = 0, dict[float, list[float]](), Counter[str]()
    for seed in seeds:
        told = diagnosing.diagnose(stateless.graphs(world(mode, present, seed)), diagnosing.Asked())
        own = next(one for one in told.modes if one.mode == mode)
        if own.status == "needs":
            print(f"    {mode} {present} {seed}: needs {own.needs}")
        elif present and own.status != "found":
            print(f"    {mode} {seed} is missed: {own.says}")
        found += own.status == "found"
        if own.figure is not None and own.threshold is not None:
            figures.setdefault(own.threshold, []).append(own.figure)
        others.update(one.mode for one in told.modes if one.mode != mode and one.status == "found")
    return Measured(found, figures, others)


if __name__ == "__main__":
    main()
