"""How far two raters agree beyond what chance would give."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64

__all__ = ["cohen", "linear", "nominal"]


def nominal(classes: int) -> F64:
    """f64[K, K]: any two different classes are as far apart as any others."""
    return 1.0 - np.eye(classes)


def linear(classes: int) -> F64:
    """f64[K, K]: ordered classes are as far apart as their numbers."""
    number = np.arange(classes, dtype=np.float64)
    distance: F64 = np.abs(number[:, None] - number)
    return distance


def cohen(confusion: F64, distance: F64) -> F64:
    """Cohen's kappa of one or many confusion tables: 1 - distance seen / distance by chance.

    confusion  f64[..., K, K]  how often the first rater said the row and the second one the column
    distance   f64[K, K]       `nominal`: (p_o - p_e) / (1 - p_e), Cohen 1960, eq. 1; `linear`: Cohen 1968
    returns    f64[...]        1 where all agree, 0 where agreement is that of chance; NaN where chance leaves no room
                               (both said one and the same of everything, or nothing was said)

    Both sides are sums of counts, so that whole numbers are compared exactly.
    """
    n = confusion.sum((-2, -1))
    by_chance = confusion.sum(-1)[..., :, None] * confusion.sum(-2)[..., None, :]
    seen, chance = (confusion * distance).sum((-2, -1)) * n, (by_chance * distance).sum((-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1.0 - seen / chance, np.nan)
