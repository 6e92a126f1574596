"""Length bias: of two rollouts of one task the longer gets more reward."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import ratio, spearman
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "length_bias"]

THRESHOLD = 0.2
"""Mean rank correlation within a task: below it length explains under 4 % of the order of siblings."""


def length_bias(table: Table) -> Verdict:
    """Spearman's correlation of reward and length within groups of three or more, weighted by members - 1.

    Across tasks the two are confounded by difficulty, so only siblings are compared. The variance of a rank correlation
    of n is 1/(n-1) (Kendall and Gibbons 1990): the weights are its inverse.
    """
    lengths, unit = table.lengths()
    groups = [own[~np.isnan(table.proxy[own])] for own in table.all_groups()]
    groups = [own for own in groups if len(own) > 2]
    if not groups:
        needs = "three scored rollouts of a task (`group` or `task` in the log, or --group-by)"
        return lacking(needs, "no group has three scored rollouts", THRESHOLD)
    found = [(own, spearman(table.proxy[own], lengths[own])) for own in groups]
    varied = [(own, rho) for own, rho in found if not np.isnan(rho)]
    if not varied:
        needs = "rewards and lengths that differ within a task"
        return lacking(needs, f"no group has siblings that differ in {table.proxy_name} and length", THRESHOLD)
    weight = np.array([len(own) - 1.0 for own, _ in varied])
    rho = np.array([value for _, value in varied])
    result = ratio(rho * weight, weight, np.array([table.task[own[0]] for own, _ in varied]))
    known = ~np.isnan(table.proxy)
    across = spearman(table.proxy[known], lengths[known])
    says = (
        f"within {len(varied):,} groups whose rewards differ, {table.proxy_name} and length in {unit} correlate by "
        f"{result.value:+.2f} (rank correlation, -1 to 1); over all rollouts, difficulty mixed in, by {across:+.2f}"
    )
    evidence = []
    for k in np.argsort(-rho * weight, kind="stable").tolist():
        own = varied[k][0]
        if rho[k] > 0:
            t = int(own[np.lexsort((-lengths[own], -table.proxy[own]))[0]])
            shorter = float(np.median(lengths[own]))
            says_t = f"best of its {len(own)} siblings at {lengths[t]:,.0f} {unit}, their median is {shorter:,.0f}"
            evidence.append(Finding(t, None, f"{says_t}; correlation {rho[k]:+.2f} in this group"))
    return above(result, THRESHOLD, says, tuple(evidence), "tasks whose siblings differ")
