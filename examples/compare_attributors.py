"""Where flat credit and credit by dependency disagree, on the log that comes with the package or on your own.

python examples/compare_attributors.py [LOG]
"""

from __future__ import annotations

import sys
from importlib import resources

import numpy as np

import trajcredit as tc


def main(log: str) -> None:
    """Print every action that `grpo` gives credit and `dag` does not."""
    trajectories = tc.read(log)
    batch = tc.batch(trajectories)
    flat, causal = tc.attribute(batch, "grpo"), tc.attribute(batch, "dag")
    for position in np.flatnonzero((flat.credit != 0) & (causal.credit == 0) & batch.action_mask):
        t = batch.trajectory_of(int(position))
        span = trajectories[t].spans[position - batch.span_offsets[t]]
        print(f"{batch.trajectory_ids[t]}: {span.name or span.kind} {flat.credit[position]:+.2f} -> 0")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(resources.files("trajcredit") / "data" / "wrong_flight.jsonl"))
