"""How long a bar may be where many trajectories are on one scale: the 99th percentile of a run's numbers."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np

from trajcredit.arrays import F64
from trajcredit.store import Store, run_credits

__all__ = ["Scale", "remember", "scale_of"]

PERCENTILE = 99
MOST = 512
"""Runs whose scale is kept in memory; that of others is worked out again."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Of the sizes of all scored spans of a run; null where none is."""

    credit: float | None
    advantage: float | None


_known: OrderedDict[tuple[str, str], Scale] = OrderedDict()
_lock = Lock()


def remember(store: Store, run: str, credit: F64, advantage: F64) -> Scale:
    """Keep the scale of a run: what it scored never changes."""
    scale = Scale(_percentile(credit), _percentile(advantage))
    with _lock:
        _known[store.name, run] = scale
        while len(_known) > MOST:
            _known.popitem(last=False)
    return scale


def scale_of(store: Store, project: str, run: str) -> Scale:
    """The scale of a finished run; a million spans that nobody asked for yet take a fifth of a second."""
    with _lock:
        known = _known.get((store.name, run))
    if known is not None:
        return known
    with store.read() as conn:
        found = list(run_credits.each(conn, project, run))
    empty = [np.zeros(0)]
    credit, advantage = (
        np.concatenate(empty + [getattr(one, name) for one in found]) for name in ("credit", "advantage")
    )
    return remember(store, run, credit, advantage)


def _percentile(values: F64) -> float | None:
    scored = np.abs(values[~np.isnan(values)])
    return float(np.percentile(scored, PERCENTILE)) if len(scored) else None
