"""Entangled credit: how much of it lies on spans that the outcome does not rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors import Dag
from trajcredit.batching import assemble, columns_with_overrides
from trajcredit.graph.overrides import Override
from trajcredit.model import REWARD_SOURCES
from trajcredit.service.dashboard_figures import snapped
from trajcredit.service.dashboard_runs import MOST_READ, NO_RUN, RunRef, chosen
from trajcredit.store import Store, batches
from trajcredit.store.filters import Filters
from trajcredit.store.slices import Member, newest, overrides_of, slices

__all__ = ["OffPathPanel", "OffPathRow", "off_path"]

NOTHING = "credit: these runs scored no trajectory that matches"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffPathRow:
    """One run: the part of the size of its credit that lies on spans with no path to the outcome."""

    run: RunRef
    share: float | None
    """Of the sum of sizes; null where every number is 0."""
    trajectories: int
    """That it scored."""
    spans: int
    """Action spans that it scored."""
    off: int
    """Of these, spans with no path: what the share would be if credit were even is off / spans."""
    flat: int
    """Trajectories of two scored spans and more that all get the same."""
    compared: int
    """Trajectories of two scored spans and more."""
    most: str | None
    """Our id of the trajectory with most credit off the path."""
    most_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffPathPanel:
    """The cone is that of `dag` as it comes: paths along edges of weight 0.25 and more to where the reward is, to the
    final answer, and to calls that changed state and succeeded.

    Edges are those that each run saw, with what people had said of them by then: of a run that is stale by an edit the
    paths are the old ones, as its credit is. Rewards are those there are now.
    """

    min_weight: float
    read: int
    matching: int
    others: int
    items: tuple[OffPathRow, ...]
    needs: str | None


@dataclass(slots=True)
class _Tally:
    """Of one run, as trajectories come in."""

    size: float = 0.0
    off_size: float = 0.0
    trajectories: int = 0
    spans: int = 0
    off: int = 0
    flat: int = 0
    compared: int = 0
    most: Member | None = None
    most_size: float = 0.0


def off_path(store: Store, project: str, filters: Filters, run: Sequence[str] = ()) -> OffPathPanel:
    """Of the runs named, else of the newest of each label."""
    which = chosen(store, project, run)
    tallies = [_Tally() for _ in which.runs]
    with store.read() as conn:
        found = newest(conn, project, filters, MOST_READ)
        sources = {member.source for member in found.members}
        source = next((one for one in REWARD_SOURCES if one in sources), None)
        for some in slices(conn, found, [one.id for one in which.runs]) if which.runs else ():
            loaded = batches.load(conn, project, [member.id for member in some.members])
            known: list[tuple[dict[int, list[Override]], BOOL]] = []
            for tally, credit, edits in zip(tallies, some.credit, which.edits, strict=True):
                edited = overrides_of(conn, project, some, edits)
                on_path = next((paths for same, paths in known if same == edited), None)
                if on_path is None:  # most runs saw the same edges
                    columns = columns_with_overrides(some.columns, edited)
                    _, on_path = Dag().shares(assemble(loaded.heads, columns, loaded.rewards, source))
                    known.append((edited, on_path))
                _count(tally, credit, on_path, some.owner, some.members)
    items = tuple(_row(one, tally) for one, tally in zip(which.runs, tallies, strict=True))
    return OffPathPanel(
        min_weight=Dag().min_weight,
        read=len(found.members),
        matching=found.matching,
        others=which.others,
        items=items,
        needs=NO_RUN if not items else None if any(row.spans for row in items) else NOTHING,
    )


def _count(tally: _Tally, credit: F64, on_path: BOOL, owner: I64, members: Sequence[Member]) -> None:
    scored = np.flatnonzero(~np.isnan(credit))
    own, size = owner[scored], len(members)
    sizes = np.abs(credit[scored])
    off = ~on_path[scored]
    n = np.bincount(own, minlength=size)
    off_sizes = np.bincount(own[off], sizes[off], size)
    equal = snapped(credit[scored], own, size)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, own, equal)
    np.maximum.at(high, own, equal)
    tally.size += float(sizes.sum())
    tally.off_size += float(sizes[off].sum())
    tally.trajectories += int((n > 0).sum())
    tally.spans += len(scored)
    tally.off += int(off.sum())
    tally.compared += int((n > 1).sum())
    tally.flat += int(((n > 1) & (low == high)).sum())
    t = int(off_sizes.argmax())
    if off_sizes[t] > tally.most_size:
        tally.most, tally.most_size = members[t], float(off_sizes[t])


def _row(run: RunRef, tally: _Tally) -> OffPathRow:
    return OffPathRow(
        run=run,
        share=tally.off_size / tally.size if tally.size > 0 else None,
        trajectories=tally.trajectories,
        spans=tally.spans,
        off=tally.off,
        flat=tally.flat,
        compared=tally.compared,
        most=None if tally.most is None else tally.most.id,
        most_name=None if tally.most is None else tally.most.external_id,
    )
