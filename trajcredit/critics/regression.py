"""Regression of outcomes on what was chosen along the way: straight, and through a logistic link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64

__all__ = ["Linked", "logistic", "ridge", "straight"]

GROUP_VARIANCE = 0.3
"""Prior variance of a task's own log-odds about those of the pool."""
LEVEL_VARIANCE = 10.0
"""Prior variance of the log-odds of the pool."""
LEAST_SPREAD = 1e-4
ROUNDS = 50
CLOSE = 1e-6
FAR = 700.0
"""Log-odds beyond which the exponential of a float overflows."""


def ridge(design: F64, target: F64, precision: F64, gram: F64 | None = None) -> F64:
    """Coefficients f64[C] of the posterior mean under coefficients ~ N(0, 1), target ~ N(design @ c, 1 / precision).

    (D'PD + 1)^-1 D'Py = D'(DD' + P^-1)^-1 y: solved on the smaller side, C x C or T x T.

    design f64[T, C], target and precision f64[T], precision > 0; gram f64[T, T] = DD' where T <= C and it is known
    """
    n, width = design.shape
    if n <= width:
        system = np.asarray(design @ design.T) if gram is None else gram.copy()
        system[np.diag_indices(n)] += 1 / precision
        return np.asarray(design.T @ np.linalg.solve(system, target), dtype=np.float64)
    weighted = design * precision[:, None]
    system = np.asarray(weighted.T @ design)
    system[np.diag_indices(width)] += 1.0
    return np.asarray(np.linalg.solve(system, weighted.T @ target), dtype=np.float64)


def straight(design: F64, target: F64, prior: F64, noise: float) -> F64:
    """Coefficients f64[C] of target = design @ c; prior f64[C] their variances, group means removed on both sides."""
    root = np.sqrt(prior)
    return ridge(design * root, target, np.full(len(target), 1 / noise)) * root


@dataclass(frozen=True, slots=True)
class Linked:
    """Chance of success = 1 / (1 + exp(-(level + sum of effects))); the outcome is the lowest one + `span` x chance."""

    level: float
    span: float

    def forecast(self, so_far: F64) -> F64:
        """Forecast of the outcome, up to a constant of the task, where effects add up to `so_far`."""
        return self.span * _chance(self.level + so_far)


def logistic(design: F64, outcome: F64, member: F64, prior: F64) -> tuple[float, F64]:
    """The posterior mode of a logistic regression of outcomes in [0, 1], each task with a level of its own: the level
    of the pool and the effects f64[C].

    Quasi-likelihood (Wedderburn 1974; Papke and Wooldridge 1996 for fractions) by reweighted least squares.

    design   f64[T, C], outcome f64[T]
    member   f64[T, G]  1 where a trajectory is of a task
    prior    f64[C]     variances of the effects
    """
    root = np.sqrt(prior)
    level = np.full((len(outcome), 1), np.sqrt(LEVEL_VARIANCE))
    wide = np.hstack([design * root, np.sqrt(GROUP_VARIANCE) * member, level])
    gram = wide @ wide.T if len(wide) <= wide.shape[1] else None  # the same in every round
    found = np.zeros(wide.shape[1])
    odds = np.zeros(len(outcome))
    for _ in range(ROUNDS):
        chance = _chance(odds)
        spread = np.maximum(chance * (1 - chance), LEAST_SPREAD)
        found = ridge(wide, odds + (outcome - chance) / spread, spread, gram)
        new = wide @ found
        if np.abs(new - odds).max(initial=0.0) < CLOSE:
            break
        odds = new
    return float(found[-1] * level[0, 0]), found[: design.shape[1]] * root


def _chance(odds: F64) -> F64:
    chance: F64 = 1 / (1 + np.exp(-np.clip(odds, -FAR, FAR)))
    return chance
