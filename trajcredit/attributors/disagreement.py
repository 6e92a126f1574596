"""Where a judge and the structure of a run say the opposite of one action: an opinion to look at before it is used."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64
from trajcredit.attributors.dag import Dag
from trajcredit.batching import Batch
from trajcredit.model import Note

__all__ = ["PLACES", "STRONG", "disagreement"]

STRONG = 0.25
"""Credit is strong from this part of what it can be at most: of scores 1, of outcomes their spread in the batch."""
PLACES = 5
STRUCTURE = Dag(base="rloo")


def disagreement(batch: Batch, said: F64, unit: float | None) -> tuple[Note, ...]:
    """A note on actions that the judge strongly praises and `dag:base=rloo` strongly blames, or the other way round.

    said  f64[N]  the judge's credit, before it is mixed; NaN or 0 without an opinion
    unit          what it can be at most, in its own units; None: the spread of outcomes, which it is in units of

    No note where outcomes are all alike: then the structure tells nothing. A judge that was talked into praise by what
    it read stands out here as far as its praise is of failed runs; and so does one that is merely wrong, or right where
    the run succeeded in spite of a fault.
    """
    scored = batch.outcome[~np.isnan(batch.outcome)]
    spread = float(np.ptp(scored)) if len(scored) else 0.0
    if spread == 0.0:
        return ()
    structure = STRUCTURE(batch).credit / spread
    said = said / (spread if unit is None else unit)
    apart = np.minimum(np.abs(said), np.abs(structure))
    found = np.flatnonzero((said * structure < 0) & (apart >= STRONG))
    if not len(found):
        return ()
    first = found[np.argsort(-apart[found], kind="stable")[:PLACES]]
    places = "; ".join(_place(batch, i, said[i], structure[i]) for i in first.tolist())
    both = int((batch.action_mask & ~np.isnan(said) & ~np.isnan(structure)).sum())
    return (
        Note(
            "judge-disagrees",
            f"judge and outcomes (dag:base=rloo) say the opposite of {len(found):,} of {both:,} actions, both at least "
            f"{STRONG:g} of their range; furthest apart: {places}",
        ),
    )


def _place(batch: Batch, position: int, said: float, structure: float) -> str:
    t = batch.trajectory_of(position)
    at = position - int(batch.span_offsets[t])
    return f"span {at} of {batch.trajectory_ids[t]}: judge {said:+.2f}, dag {structure:+.2f}"
