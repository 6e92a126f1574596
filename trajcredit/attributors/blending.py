"""Non-negative weights by out-of-fold outcome prediction: for each group fitted to the other groups of its pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.skill import skills

__all__ = ["Blend", "blended", "non_negative"]

SWEEPS = 1000
"""Rounds over the members at most: each lowers the error, and few are needed unless members say the same."""
SETTLED = 1e-12
"""Change of a weight, against the largest, below which they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Weights of I members.

    weights    f64[T, I]  for each trajectory, fitted without its group; 0 for members without skill
    counts     by pool, bool[I]: which members have skill
    means      by pool, f64[I]: weights fitted to all of its groups
    explained  by pool: 1 - squared error over squared outcomes, both against siblings, out of fold
    evidence   by pool: (slope / error)^2 of outcomes on the weighted sums, out of fold
    """

    weights: F64
    counts: dict[int, BOOL]
    means: dict[int, F64]
    explained: dict[int, float]
    evidence: dict[int, float]


def blended(sums: F64, against: F64, group: I64, pool: I64, counted: BOOL) -> Blend:
    """The weights of members in every pool.

    sums     f64[T, I]  what each member says of a rollout, its own outcome not known to it
    against  f64[T]     R minus the mean of the siblings; NaN where unscored
    group, pool i64[T]
    counted  bool[T]    scored members with siblings: what weights are fitted to
    """
    n_members = sums.shape[1]
    weights = np.zeros(sums.shape)
    blend = Blend(weights, {}, {}, {}, {})
    alone = counted.astype(np.float64)
    skilled = [skills(against, column, group, pool, alone) for column in sums.T]
    for number in np.unique(pool).tolist():
        counts = np.array([found[number].trusted > 0 for found in skilled], dtype=bool)
        blend.counts[number] = counts
        mine = np.flatnonzero((pool == number) & counted)
        blend.means[number] = np.zeros(n_members)
        if not counts.any():
            continue
        names, which = np.unique(group[mine], return_inverse=True)
        x, y = np.zeros((len(mine), n_members)), against[mine]
        for i in np.flatnonzero(counts).tolist():
            x[:, i] = kernels.leave_one_out(kernels.centre(sums[mine, i], which), which)
        scale = np.sqrt((x**2).sum(axis=0))
        x = x / np.where(scale > 0, scale, 1.0)
        power, match = np.zeros((len(names), n_members, n_members)), np.zeros((len(names), n_members))
        np.add.at(power, which, x[:, :, None] * x[:, None, :])
        np.add.at(match, which, x * y[:, None])
        without = non_negative(power.sum(axis=0) - power, match.sum(axis=0) - match)
        every = non_negative(power.sum(axis=0)[None], match.sum(axis=0)[None])[0]
        foretold = (without[which] * x).sum(axis=1)
        loss = float(((y - foretold) ** 2).sum() / (y**2).sum()) if (y**2).sum() > 0 else 1.0
        blend.explained[number] = 1.0 - loss
        blend.evidence[number] = skills(y, foretold, group[mine], pool[mine], np.ones(len(mine)))[number].evidence
        unscale = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
        blend.means[number] = every * unscale
        members = np.flatnonzero(pool == number)
        at = np.searchsorted(names, group[members]).clip(max=len(names) - 1)
        own = names[at] == group[members]  # groups without siblings are no part of the fit: all the others serve
        weights[members] = np.where(own[:, None], without[at], every) * unscale
    return blend


def non_negative(power: F64, match: F64) -> F64:
    """The weights w >= 0 that minimise w' P w / 2 - w' m, for G problems at once, f64[G, I].

    Coordinate descent from 0, which meets the conditions of Karush, Kuhn and Tucker where it settles: each weight in
    turn is set to its best given the others (Franc, Hlavac and Navara 2005). Members that say nothing stay 0.

    power  f64[G, I, I]  symmetric, no negative eigenvalue
    match  f64[G, I]
    """
    weights = np.zeros(match.shape)
    own = np.einsum("gii->gi", power)
    for _ in range(SWEEPS):
        before = weights.copy()
        for i in range(match.shape[1]):
            slack = match[:, i] - (power[:, i] * weights).sum(axis=1)
            step = np.divide(slack, own[:, i], out=np.zeros(len(slack)), where=own[:, i] > 0)
            weights[:, i] = np.maximum(0.0, weights[:, i] + step)
        if (np.abs(weights - before) <= SETTLED * np.abs(weights).max(initial=0.0)).all():
            break
    return weights
