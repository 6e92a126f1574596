"""How often each failure mode is found where it is, and where it is not: generated data sets and their twins.

    python bench/diagnose.py [--seeds 100] [--first 0] [--mode NAME]... [--others]

A row a mode: of so many seeds, in how many the mode was found in the data set that has it and in the twin without it,
the median figure of both, the threshold. Wanted are at least 95 and at most 5 of 100. `--others` adds how often a twin
was said to have some other mode (it may have it: an easy task set has uniform groups).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.diagnostics.worlds import WORLDS, world
from trajcredit.service import diagnosing, stateless


def main() -> None:
    """Generate, diagnose, count."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seeds", type=int, default=100)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--mode", action="append", choices=list(WORLDS))
    asked.add_argument("--others", action="store_true")
    given = asked.parse_args()
    print(f"{'mode':32}{'found':>8}{'false':>8}{'with':>10}{'without':>10}{'threshold':>11}   of {given.seeds} seeds")
    missed = False
    for mode in given.mode or WORLDS:
        start = time.time()
        rows = [measured(mode, present, range(given.first, given.first + given.seeds)) for present in (True, False)]
        (found, figure, threshold, _), (false, calm, _, others) = rows
        missed |= found < 0.95 * given.seeds or false > 0.05 * given.seeds
        print(f"{mode:32}{found:8d}{false:8d}{figure:10.3f}{calm:10.3f}{threshold:11.4g}   {time.time() - start:.0f} s")
        if given.others and others:
            print(f"{'':4}the twin has too: {', '.join(f'{name} {n}' for name, n in others.most_common())}")
    sys.exit(int(missed))


def measured(mode: str, present: bool, seeds: range) -> tuple[int, float, float, Counter[str]]:
    """In how many the mode is found, its median figure and threshold, and how often each other mode was found."""
    found, figures, threshold, others = 0, [], float("nan"), Counter[str]()
    for seed in seeds:
        told = diagnosing.diagnose(stateless.graphs(world(mode, present, seed)), diagnosing.Asked())
        own = next(one for one in told.modes if one.mode == mode)
        if own.status == "needs":
            print(f"    {mode} {present} {seed}: needs {own.needs}")
        found += own.status == "found"
        figures.append(np.nan if own.figure is None else own.figure)
        threshold = own.threshold if own.threshold is not None else threshold
        others.update(one.mode for one in told.modes if one.mode != mode and one.status == "found")
    return found, float(np.nanmedian(figures)), threshold, others


if __name__ == "__main__":
    main()
