"""State blindness: the policy asks again for what it was told, as if it did not see its own context."""

from __future__ import annotations

import numpy as np

from trajcredit.diagnostics.answer import Finding, Verdict, above, lacking
from trajcredit.diagnostics.intervals import portion
from trajcredit.diagnostics.table import Table

__all__ = ["THRESHOLD", "state_blindness"]

THRESHOLD = 0.05
"""One call in twenty: in published logs of customer service and of coding 0 to 2 % are such repetitions."""


def state_blindness(table: Table) -> Verdict:
    """Calls that repeat an earlier one, same answer, no change of state in between, over all answered calls."""
    calls = np.array([len(one.calls) for one in table.seen], dtype=np.float64)
    again = np.array([len(one.repeats) for one in table.seen], dtype=np.float64)
    who = np.flatnonzero(calls)
    if not len(who):
        return lacking("tool calls with their results", "no trajectory has a call with a result", THRESHOLD)
    found = portion(again[who], calls[who], table.task[who])
    results = sum(one.results for one in table.seen)
    ignored = sum(one.unused for one in table.seen) / results if results else 0.0
    says = (
        f"{again.sum():,.0f} of {calls.sum():,.0f} calls ({found.value:.1%}) repeat an earlier call that had the same "
        f"answer, with no change of state in between, in {int((again > 0).sum()):,} of {len(who):,} trajectories; "
        f"no later span uses a value of {ignored:.0%} of the results"
    )
    return above(found, THRESHOLD, says, _evidence(table), "tasks with tool calls")


def _evidence(table: Table) -> tuple[Finding, ...]:
    worst = sorted((t for t, one in enumerate(table.seen) if one.repeats), key=lambda t: -len(table.seen[t].repeats))
    found = []
    for t in worst:
        one = table.seen[t]
        last = one.repeats[-1]
        says = f"{one.tool(last.span)} again as in span {last.first}, same answer; {len(one.repeats)} such of "
        found.append(Finding(t, last.span, says + f"{len(one.calls)} calls"))
    return tuple(found)
