"""How far runs agree: rank correlations of their credit inside trajectories, over what all of them scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.ranks import midranks, rank_correlation
from trajcredit.service.dashboard_figures import snapped
from trajcredit.service.dashboard_runs import MOST_READ, NO_RUN, RunRef, chosen
from trajcredit.store import Store
from trajcredit.store.filters import Filters
from trajcredit.store.slices import Member, newest, slices

__all__ = ["AgreementPanel", "Furthest", "Pair", "agreement", "correlations"]

ALONE = "a second finished run over the same trajectories: score the project with another attributor"
NOT_SHARED = "runs over the same trajectories: none that matches was read by all of these; choose other runs"


@dataclass(frozen=True, slots=True)
class Furthest:
    """The trajectory on which two runs agree least."""

    id: str
    external_id: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two runs, as positions among the panel's."""

    a: int
    b: int
    value: float | None
    """Mean of Spearman's rank correlation within trajectories; null where no trajectory has one."""
    n: int
    """Trajectories that is over."""
    flat: int
    """Trajectories on which one of the two gives every span the same, which no rank correlation can judge."""
    furthest: Furthest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementPanel:
    """Finished runs, every pair of them, over the spans that all of them scored."""

    runs: tuple[RunRef, ...]
    others: int
    """Finished runs that are not shown."""
    read: int
    matching: int
    shared: int
    """Of those read here, trajectories that every run read."""
    judged: int
    """Of these, trajectories with at least two spans that every run scored: what pairs are over."""
    pairs: tuple[Pair, ...]
    needs: str | None


def agreement(store: Store, project: str, filters: Filters, run: Sequence[str] = ()) -> AgreementPanel:
    """Of the runs named, else of the newest of each label."""
    which = chosen(store, project, run)
    found: list[F64] = []
    members: list[Member] = []
    n_shared = 0
    with store.read() as conn:
        seen = newest(conn, project, filters, MOST_READ)
        for some in slices(conn, seen, [one.id for one in which.runs]) if which.runs else ():
            shared = np.logical_and.reduce(some.read, axis=0)
            kept, own = correlations(some.credit, some.owner, shared)
            n_shared += int(shared.sum())
            found.append(own)
            members += [some.members[t] for t in kept.tolist()]
    pairs = list(combinations(range(len(which.runs)), 2))
    values = np.concatenate([np.zeros((len(pairs), 0)), *found], axis=1)
    return AgreementPanel(
        runs=which.runs,
        others=which.others,
        read=len(seen.members),
        matching=seen.matching,
        shared=n_shared,
        judged=len(members),
        pairs=tuple(_pair(a, b, own, members) for (a, b), own in zip(pairs, values, strict=True)),
        needs=_needs(which.runs, len(members)),
    )


def correlations(credit: F64, owner: I64, shared: BOOL) -> tuple[I64, F64]:
    """Spearman's rank correlation of every pair of R runs (in the order of `combinations`) within trajectories.

    credit   f64[R, N]  NaN where not scored
    owner    i64[N]     the trajectory of each span, ascending
    shared   bool[T]    trajectories that every run read
    returns  i64[K]     those of them with two spans and more that every run scored
             f64[P, K]  of these; NaN where a run gives all of them the same
    """
    scored = shared[owner] & ~np.isnan(credit).any(axis=0)
    n = np.bincount(owner[scored], minlength=len(shared))
    kept = np.flatnonzero(n >= 2)
    spans = np.flatnonzero(scored & (n >= 2)[owner])
    own = np.searchsorted(kept, owner[spans])
    ranks = [midranks(snapped(row[spans], own, len(kept)), own) for row in credit]
    pairs = [rank_correlation(a, b, own, len(kept)) for a, b in combinations(ranks, 2)]
    return kept, np.array(pairs).reshape(len(pairs), len(kept))


def _pair(a: int, b: int, values: F64, members: Sequence[Member]) -> Pair:
    known = np.flatnonzero(~np.isnan(values))
    furthest = None
    if len(known):
        t = int(known[np.argmin(values[known])])
        furthest = Furthest(members[t].id, members[t].external_id, float(values[t]))
    return Pair(
        a=a,
        b=b,
        value=float(values[known].mean()) if len(known) else None,
        n=len(known),
        flat=len(values) - len(known),
        furthest=furthest,
    )


def _needs(runs: Sequence[RunRef], judged: int) -> str | None:
    if not runs:
        return NO_RUN
    if len(runs) == 1:
        return ALONE
    return None if judged else NOT_SHARED
