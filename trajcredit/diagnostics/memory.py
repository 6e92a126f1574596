"""Memory/state mismatch: an effect made twice, or a value used after a later answer had replaced it."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import share
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "memory_mismatch"]

THRESHOLD = 0.05
"""Of the trajectories with an effect: one in twenty double charges is no accident; each one is worth reading."""


def memory_mismatch(table: Table) -> Verdict:
    """Trajectories with a doubled effect or an outdated value, over those with at least one effect."""
    who = np.array([t for t, one in enumerate(table.seen) if one.effects], dtype=np.int64)
    if not len(who):
        return lacking(
            "a tool marked as changing state (`writes` of its declaration, or --writes TOOL), with calls that succeed",
            "no call is known to have changed state",
            THRESHOLD,
        )
    bad = np.array([bool(table.seen[t].doubles or table.seen[t].outdated) for t in who])
    found = share(bad, table.task[who])
    says = (
        f"{bad.sum():,} of {len(who):,} trajectories with effects ({found.value:.1%}) made one twice with equal "
        f"arguments ({sum(bool(table.seen[t].doubles) for t in who):,}) or used a value that a later answer had "
        f"replaced ({sum(bool(table.seen[t].outdated) for t in who):,})"
    )
    return above(
        found, THRESHOLD, says, tuple(f for t in who[bad].tolist() for f in _findings(table, t)), "tasks with effects"
    )


def _findings(table: Table, t: int) -> list[Finding]:
    one = table.seen[t]
    found = [
        Finding(t, d.span, f"{one.tool(d.span)} succeeded again with the arguments of span {d.first}")
        for d in one.doubles[:1]
    ]
    found += [
        Finding(t, o.span, f"argument {o.key} is {o.old[:60]}, which an answer had replaced by {o.new[:60]}")
        for o in one.outdated[:1]
    ]
    return found
