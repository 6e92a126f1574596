"""KL mis-tune: a policy that never leaves its reference, or that has run away from it."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL
from trajcredit.diagnostics.answer import Finding, Status, Verdict, lacking, undecided
from trajcredit.diagnostics.intervals import LEAST, change, ratio
from trajcredit.diagnostics.table import Table

__all__ = ["FAR", "NEAR", "kl_mistuned"]

FAR = 0.2
"""Nats a token: over an answer of 200 tokens 40 nats, where the gold reward of over-optimised policies has turned
(Gao et al. 2022, arXiv 2210.10760, figure 1: sqrt(KL) of 5 to 8)."""
NEAR = 0.0005
"""Nats a token: 0.1 nats over 200 tokens, less than best-of-2 moves a policy (ln 2 - 1/2 = 0.19 nats)."""


def kl_mistuned(table: Table) -> Verdict:
    """Mean divergence per sampled token from the reference, over the last third of training.

    Too far where the interval is above FAR. Too near where it is below NEAR, three or more steps are logged and the
    reward has not risen from the first third to the last: at the start, and for a policy that learns, near is right.
    """
    total = np.array([one.sampled.kl for one in table.seen])
    tokens = np.array([float(one.sampled.kl_tokens) for one in table.seen])
    if not tokens.any():
        return lacking(
            "`tokens.ref_logprobs` beside `tokens.logprobs` on sampled spans",
            "no log-probs of a reference policy are logged",
            FAR,
        )
    thirds = table.scale.thirds()
    late = (tokens > 0) & (thirds[2] if thirds is not None else True)
    found = ratio(total[late], tokens[late], table.task[late])
    odd = sum(one.sampled.kl_odd for one in table.seen)
    says = (
        f"{found.value:.4f} nats a token from the reference over {int(tokens[late].sum()):,} sampled tokens of "
        f"{int(late.sum()):,} rollouts"
    )
    says += f", the last third of {table.scale.what}s" if thirds is not None else ""
    says += f"; {odd:,} spans are left out, their two lists of log-probs differ in length" if odd else ""
    risen = thirds is not None and _risen(table, thirds[0], thirds[2])
    if found.high < NEAR and thirds is not None:
        says += "; the reward has risen all the same" if risen else "; and the reward has not risen"
    if found.clusters < LEAST:
        return undecided(found, FAR, says, _evidence(table, late, False), "tasks with reference log-probs")
    stuck = found.high < NEAR and thirds is not None and not risen
    threshold = NEAR if found.value < NEAR else FAR
    status: Status = "found" if found.low > FAR or stuck else "clear"
    return Verdict(status, found.value, found.low, found.high, threshold, says, None, _evidence(table, late, stuck))


def _risen(table: Table, first: BOOL, last: BOOL) -> bool:
    """Whether the whole interval of the change of the outcome is above 0."""
    return bool(change(table.outcome, first & table.scored, last & table.scored, table.task).low > 0)


def _evidence(table: Table, late: BOOL, stuck: bool) -> tuple[Finding, ...]:
    per = {t: table.seen[t].sampled.kl / table.seen[t].sampled.kl_tokens for t in np.flatnonzero(late).tolist()}
    worst = sorted(per, key=lambda t: per[t] if stuck else -per[t])
    return tuple(
        Finding(t, None, f"{per[t]:.4f} nats a token over {table.seen[t].sampled.kl_tokens:,} tokens")
        for t in worst
        if stuck or per[t] > FAR
    )
