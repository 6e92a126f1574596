"""Advantages whitened over the actions of a batch, by a trainer's rule."""

from __future__ import annotations

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.model import Note

__all__ = ["whitened_actions"]


def whitened_actions(credit: F64, how: kernels.Whitening) -> tuple[F64, tuple[Note, ...]]:
    """The credit whitened over every span that has one, and a note where there is nothing to whiten.

    credit   f64[N]  NaN = none, which whitening changes nothing about
    returns  f64[N]  each action once, however many tokens it has; trainers count each token once
    """
    scored = ~np.isnan(credit)
    of = kernels.moments(credit, scored)
    white = np.where(scored, kernels.whitened(credit, scored, of, how), np.nan)
    if of.count and of.spread(how.ddof) == 0.0:
        return white, (Note("nothing-to-whiten", "all credits of the batch are equal: every advantage is 0"),)
    return white, ()
