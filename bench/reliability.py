"""How far the rule judge can be trusted on real runs whose outcome is known.

    python bench/reliability.py [BENCHES]

BENCHES is the folder that holds `blame`, ../shared/bench where none is given; without it nothing is measured.
docs/judges.md has what it prints.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import trajcredit as tc
from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.judges import judge
from trajcredit.judges.estimates import Estimate
from trajcredit.judges.reliability import reliability
from trajcredit.judges.states import final_scores

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("benches", nargs="?", type=Path, default=ROOT.parent / "shared" / "bench")
    runs = parser.parse_args().benches / "blame" / "tau_airline"
    if not runs.is_dir():
        sys.exit(f"{runs}: no such folder: nothing measured")
    batch = judge(tc.batch(tc.read(runs)), "rules")
    final = final_scores(batch.scores, batch.action_mask, batch.span_offsets)
    found = reliability(final, batch.outcome, batch.group, characters=characters(batch))
    print(f"tau_airline: {found.trajectories} runs of {found.groups} tasks, {found.passed} passed")
    print("| figure | as they are | calibrated |\n| --- | --- | --- |")
    raw, mapped = found.raw, found.calibrated
    assert raw is not None
    assert mapped is not None
    assert found.length is not None
    print(f"| AUC | {said(found.auc)} | |")
    print(f"| ECE, equal width | {said(raw.equal_width.ece)} | {said(mapped.equal_width.ece)} |")
    print(f"| ECE by luck | {raw.equal_width.ece_by_luck:.3f} | {mapped.equal_width.ece_by_luck:.3f} |")
    print(f"| Brier score | {said(raw.brier)} | {said(mapped.brier)} |")
    print(f"| against the base rate | {' | '.join(said(one.difference) for one in found.against_base_rate)} |")
    print(f"| length, over all | {said(found.length.final)} | |")
    print(f"| length, equal outcome | {said(found.length.final_within)} | |")
    print(*found.warnings, sep="\n")


def characters(batch: Batch) -> F64:
    """Length f64[T] of all that was said and called."""
    assert batch.graphs is not None
    return np.array(
        [
            sum(len(span.text or "") + len(span.arguments_raw or "") for span in graph.trajectory.spans)
            for graph in batch.graphs
        ],
        dtype=np.float64,
    )


def said(one: Estimate) -> str:
    """Figure and interval."""
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" if one.low is not None else f"{one.why}"


if __name__ == "__main__":
    main()
