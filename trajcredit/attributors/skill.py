"""How far a critic's forecasts can be believed: the slope of outcomes on them, out of fold, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import F64, I64

__all__ = ["Skill", "skills"]

SURE = 1.96
"""Standard errors that an interval of 95 % reaches to each side, where there are many groups."""
FEWEST = 4
"""Groups that an interval needs: with fewer it is a matter of luck."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Slope of R - b on the sum of forecasts in one pool, with its standard error over groups.

    `trusted` is the slope in [0, 1]; 0 where its interval covers 0, or where fewer than FEWEST groups tell it.
    """

    slope: float
    error: float
    trusted: float
    trajectories: int
    """Scored members with siblings."""

    @property
    def evidence(self) -> float:
        """(slope / error)^2: 0 where nothing is forecast, infinite where the forecasts leave nothing unexplained."""
        if self.error == 0.0:
            return float("inf") if self.slope else 0.0
        return (self.slope / self.error) ** 2


def skills(against: F64, total: F64, group: I64, pool: I64, counted: F64) -> dict[int, Skill]:
    """The skill of the forecasts in every pool.

    Forecasts are cross-fitted, so the slope is out of fold. Its error is the jackknife's over groups (CR3, Bell and
    McCaffrey 2002): of few groups the plain clustered error (Liang and Zeger 1986) is too small.

    against  f64[T]   R minus the mean of the siblings; NaN where unscored
    total    f64[T]   sum of the forecasts of a trajectory's decisions
    group, pool i64[T]
    counted  f64[T]   1 for scored members with siblings, else 0
    """
    found = {}
    for number in np.unique(pool).tolist():
        mine = (pool == number) & (counted > 0)
        found[number] = _skill(against[mine], total[mine], group[mine])
    return found


def _skill(against: F64, total: F64, group: I64) -> Skill:
    names, which = np.unique(group, return_inverse=True)
    n = len(names)
    forecast = kernels.leave_one_out(kernels.centre(total, which), which)  # held against siblings, as the outcome is
    power = float(forecast @ forecast)
    if n < 2 or power == 0.0:
        return Skill(0.0, float("inf"), 0.0, len(against))
    slope = float(forecast @ against) / power
    share = np.bincount(which, forecast**2, minlength=n) / power
    score = np.bincount(which, forecast * (against - slope * forecast), minlength=n) / power
    if (share >= 1.0).any():
        return Skill(slope, float("inf"), 0.0, len(against))
    change = score / (1 - share)  # of the slope, where one group is left out
    error = float(np.sqrt(change @ change * (n - 1) / n))
    sure = n >= FEWEST and slope - _reach(n - 1) * error > 0
    return Skill(slope, error, min(slope, 1.0) if sure else 0.0, len(against))


def _reach(free: int) -> float:
    """The 97.5 % point of Student's t, by its expansion in 1 / degrees of freedom (Fisher and Cornish 1960), 3 or more.

    As many groups as there are, less one, tell the error: by the normal's 1.96 luck is taken for skill too often.
    """
    z: float = SURE
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + fsum(term / float(free**k) for k, term in enumerate(terms, start=1))
