"""Group-baseline collapse: siblings whose outcomes are all equal, where a group baseline leaves no advantage."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import share
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "group_collapse"]

THRESHOLD = 0.3
"""Of the groups: a fair coin tossed four times leaves 1/8 of them uniform, so a healthy mix stays well below."""


def group_collapse(table: Table) -> Verdict:
    """Groups of two or more whose raw outcomes are equal, over all such groups."""
    groups = table.groups()
    if not groups:
        return lacking(
            "two scored rollouts of a task (`group` or `task` in the log, or --group-by)",
            f"{int(table.scored.sum()):,} scored trajectories, none with a scored sibling",
            THRESHOLD,
        )
    uniform = np.array([table.alike(own) for own in groups])
    found = share(uniform, np.array([table.task[own[0]] for own in groups]))
    passing = sum(bool(table.passed[own[0]]) for own, same in zip(groups, uniform, strict=True) if same)
    spread = float(np.mean([table.outcome[own].std() for own in groups]))
    says = (
        f"in {uniform.sum():,} of {len(groups):,} groups ({found.value:.0%}) all outcomes are equal: {passing:,} pass "
        f"throughout, {int(uniform.sum()) - passing:,} fail throughout; spread within a group {spread:.2f} on average"
    )
    says += "" if table.split is None else f"; {table.split}"
    evidence = tuple(
        Finding(int(own[0]), None, f"all {len(own)} rollouts of its group ended at {table.outcome[own[0]]:g}")
        for own, same in sorted(zip(groups, uniform.tolist(), strict=True), key=lambda pair: -len(pair[0]))
        if same
    )
    return above(found, THRESHOLD, says, evidence, "tasks with scored siblings")
