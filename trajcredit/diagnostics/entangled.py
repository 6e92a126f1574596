"""Entangled credit: a broadcast outcome pays or punishes actions that it does not rest on."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import portion
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "entangled_credit"]

THRESHOLD = 0.25
"""A quarter of all credit on actions that no path leads from: edges are missed too, so a few percent mean nothing."""


def entangled_credit(table: Table) -> Verdict:
    """Size of the credit on actions off every path to the outcome, its answer or an effect, over that on all.

    Where nothing was changed and the last words rest on nothing (a farewell), the graph does not say what the outcome
    rests on: such trajectories are left out, and counted.
    """
    paid = table.credited > 0
    who = np.flatnonzero(paid & table.traced)
    name = table.attributor
    if not paid.any():
        return lacking(
            "outcomes that differ within a group (else no credit is given to anybody)",
            f"{name} gives no action any credit",
            THRESHOLD,
        )
    if not len(who):
        says = f"{int(paid.sum()):,} trajectories with credit, all of which rest on their last words alone"
        return lacking("calls or words that an outcome rests on (docs/edges.md)", says, THRESHOLD)
    found = portion(table.off_path[who], table.credited[who], table.task[who])
    calls = float(table.credited_calls[who].sum())
    alone = f" ({table.off_calls[who].sum() / calls:.0%} of what calls get)" if calls else ""
    says = (
        f"{found.value:.0%} of the credit that {name} gives sits on actions from which no dependency was found to "
        f"lead to the outcome{alone}, in {int((table.off_path[who] > 0).sum()):,} of {len(who):,} trajectories with "
        f"credit; in {int(table.flat[who].sum()):,} all actions have the same number"
    )
    untold = int((paid & ~table.traced).sum())
    says += f"; {untold:,} more rest on their last words alone and are left out" if untold else ""
    part = table.off_path[who] / table.credited[who]
    evidence = tuple(
        _finding(table, int(who[k]), float(part[k])) for k in np.argsort(-part, kind="stable").tolist() if part[k] > 0
    )
    return above(found, THRESHOLD, says, evidence, "tasks whose credit can be followed to an outcome")


def _finding(table: Table, t: int, part: float) -> Finding:
    span = int(table.stray[t])
    return Finding(
        t, span, f"{part:.0%} of its credit is on actions with no path found, such as this {table.seen[t].tool(span)}"
    )
