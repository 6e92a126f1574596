"""Sparse terminal reward: most tasks are never passed, so most groups teach nothing."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import share
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "sparse_reward"]

THRESHOLD = 0.4
"""Of the groups: two in five cost as much as the others and teach nothing, and the steps of the rest grow noisier. With
four rollouts a task of pass rate 1/2 comes to that once in 16."""


def sparse_reward(table: Table) -> Verdict:
    """Groups in which no rollout passes and all outcomes are equal, over groups of two or more.

    A group below the pass mark whose outcomes differ (partial marks, a continuous reward) still ranks its rollouts.
    """
    groups = table.groups()
    if not groups:
        needs = "two scored rollouts of a task (`group` or `task` in the log, or --group-by)"
        return lacking(needs, "no group has two scored rollouts", THRESHOLD)
    barren = np.array([not table.passed[own].any() and table.alike(own) for own in groups])
    found = share(barren, np.array([table.task[own[0]] for own in groups]))
    members = np.concatenate(groups)
    size = float(np.median([len(own) for own in groups]))
    says = (
        f"{barren.sum():,} of {len(groups):,} groups ({found.value:.0%}) have no pass among their {size:g} rollouts "
        f"(median) and no difference either; {table.passed[members].mean():.0%} of {len(members):,} rollouts pass "
        f"(outcome of at least {table.pass_at:g}); {table.early[members].mean():.0%} have a reward before their last "
        "action"
    )
    says += "" if table.split is None else f"; {table.split}, so say another mark (pass_at) if this one was not meant"
    evidence = tuple(
        Finding(int(own[0]), None, f"none of {len(own)} rollouts of its group passed")
        for own, none in sorted(zip(groups, barren.tolist(), strict=True), key=lambda pair: -len(pair[0]))
        if none
    )
    return above(found, THRESHOLD, says, evidence, "tasks with scored siblings")
