"""Several opinions in one, each counted as far as it foretells outcomes of tasks it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Attributor, Scope, Term
from trajcredit.attributors.blending import Blend, blended
from trajcredit.attributors.bounds import within
from trajcredit.attributors.hidden import same_calls, told_by_siblings
from trajcredit.attributors.steps import singletons
from trajcredit.attributors.terms import MOST, against_group, has_credit
from trajcredit.batching import Batch, decisions, spread, turns_of
from trajcredit.errors import InputError
from trajcredit.model import LARGEST_NUMBER, Note
from trajcredit.registry import attributors

__all__ = ["Mixture"]

FORECAST = "forecast"
"""The member that is a critic's column."""
PER_EVIDENCE = 12.0
"""N0 under `w=auto` for each unit of squared t-value, as in `doubly_robust`."""
MOST_MEMBERS = 8
SHOWN = 8
"""Pools that a note tells of."""


@attributors.register("mixture")
@dataclass(frozen=True, slots=True)
class Mixture:
    """A calibrated combination of other attributors, weighted by how far each foretells outcomes out of sample.

    credit_k = advantage_k = m_k + w (R - b - sum_j m_j), m_k = sum_i a_i d_ik over the members i, b the mean outcome of
    the siblings, the sum over the choices of the rollout; words beside calls carry the sum of their turn and are not
    counted again. In a group of one there is no b: the second term is left out.

    What a member says of choice k is d_ik, and it never rests on the outcome of its own rollout: most attributors add
    up to R - b by construction, so their own credit foretells the outcome perfectly and proves nothing. `forecast` is
    the critic's column, cross-fitted by group. For any other member d_ik is the mean of what the siblings got for the
    same call (same tool, same arguments; one more counted as 0), asked of the attributor with the reward of this
    rollout hidden; 0 where no sibling made it, and for words.

    Weights. a >= 0 minimises sum_t (R_t - b_t - sum_i a_i x_it)^2 over the pool (Lawson and Hanson 1974; stacking with
    non-negative weights: Wolpert 1992, Breiman 1996), x_it = sum_k d_ik against the siblings; for each group it is
    fitted to the other groups. A member whose own slope has a 95 % interval by groups that covers 0, or that fewer than
    four groups tell, gets 0. Where all get 0 the pool is scored as by `rloo`, with a note. Another note says the
    weights, and R2, the share of (R - b)^2 that they foretell out of fold: valid to choose members by, as no label and
    no outcome of the rollout itself is in it.

    The dial w is that of `doubly_robust`: 0 reads best and has the bias of the members, 1 is nearly unbiased, auto is
    N / (N + N0), N = `update_size`, N0 = 12 (slope / error)^2 of the mixture's sums, out of fold.

    It assumes that what foretells outcomes credits well, which holds for centred forecasts and for contrasts of
    siblings, not for any feature (a forecast of the task's difficulty foretells well and credits nothing). It misleads
    with members that say the same (the weights are then one of many), in pools of few groups, where arguments hold
    numbers drawn anew (no sibling makes the same call), and at w near 0 with many trajectories.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; `doubly_robust` at the same setting in brackets), at w = 0: correlation with the true advantage 0.717
    (0.729), the culprit is blamed first 0.676 of the time (0.681); at w = auto efficiency 12.1 at updates of 64 (12.2),
    6.8 at 256 (6.8), 1.4 at 1024 (2.1). So it is no better: R2 rises in six of seven pools, credit does not, since what
    siblings got for a call foretells much that no choice changed. Without the critic
    (`members=rloo+options+shapley+tree`, w = 0) 0.38. It is for attributors of your own, and for a check: what weights
    and R2 they have on your data.
    """

    members: tuple[str, ...] = (FORECAST, "rloo")
    """Attributors at their defaults that need no column and score groups apart, and `forecast`: one to eight."""
    w: Literal["auto"] | float = "auto"
    """Share of the residual on every action, 0..1; auto = from the size of an update and the mixture's skill."""
    update_size: int = 256
    """Trajectories in one update of the policy: what w is chosen for."""

    scope: ClassVar[Scope] = "batch"
    default_critic: ClassVar[str] = "compatible"

    @property
    def needs(self) -> tuple[str, ...]:
        """The critic's column, where it is a member."""
        return ("advantage_forecast",) if FORECAST in self.members else ()

    def __post_init__(self) -> None:
        """InputError names a parameter out of range, or a member that cannot be one."""
        if self.w != "auto":
            within("mixture", "w", self.w, 0, 1)
        within("mixture", "update_size", self.update_size, 1, 2**53)
        members: object = self.members
        if not (isinstance(members, tuple | list) and 1 <= len(members) <= MOST_MEMBERS):
            raise InputError(f"mixture: members={members!r} is not a list of one to {MOST_MEMBERS} attributors")
        if len(set(self.members)) < len(self.members):
            raise InputError(f"mixture: members={'+'.join(self.members)} names one twice")
        for name in self.members:
            if name != FORECAST:
                _member(name)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage, as above."""
        made = self._made(batch)
        left = np.where(made.alone, 0.0, made.share * (made.against - made.total))
        credit = spread(batch, made.mixed, made.chosen) + np.where(np.isnan(batch.outcome), np.nan, left)[made.owner]
        return Attribution(credit, credit, (*singletons(batch), *self._notes(made)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """What each member says times its weight; then outcome, siblings and the mixture's sum, each times w."""
        if not has_credit(batch, span):
            return ()
        made = self._made(batch)
        t, turn = batch.trajectory_of(span), turns_of(batch)
        mine = np.array([span]) if made.chosen[span] else np.flatnonzero(made.chosen & (turn == turn[span]))
        weights = made.blend.weights[t]
        terms = tuple(
            Term(
                f"{'forecast of this choice' if name == FORECAST else f'{name}: what siblings got for it'}, x {a:.3g}",
                float(a * made.said[i, mine].sum()),
                tuple(mine[:MOST].tolist()) if name == FORECAST else _siblings(batch, made, mine),
            )
            for i, (name, a) in enumerate(zip(self.members, weights.tolist(), strict=True))
        )
        if made.alone[t]:
            return terms
        w = float(made.share[t])
        times = "" if w == 1 else f", x {w:.3g}"
        outcome, siblings = against_group(batch, t, float(made.against[t]), "siblings")
        return (
            *terms,
            Term(f"{outcome.name}{times}", w * outcome.value, outcome.spans),
            Term(f"{siblings.name}{times}", w * siblings.value, siblings.spans),
            Term(f"what the members say of the whole run{times}", -w * float(made.total[t])),
        )

    def _made(self, batch: Batch) -> _Made:
        chosen = decisions(batch)
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        said = np.stack([self._said(batch, name, chosen) for name in self.members])
        sums = np.stack([np.bincount(owner, row, batch.n_trajectories) for row in said], axis=1).astype(np.float64)
        against = kernels.leave_one_out(kernels.centre(batch.outcome, batch.group), batch.group)
        alone = kernels.members(batch.outcome, batch.group) == 1
        counted = ~np.isnan(batch.outcome) & ~alone
        blend = blended(sums, against, batch.group, batch.pool, counted)
        mixed = (blend.weights[owner] * said.T).sum(axis=1)
        total = np.bincount(owner, mixed, batch.n_trajectories).astype(np.float64)
        share = np.array([self._share(blend, p) for p in batch.pool.tolist()], dtype=np.float64)
        return _Made(chosen, owner, said, mixed, total, against, alone, share, blend)

    def _said(self, batch: Batch, name: str, chosen: BOOL) -> F64:
        """d_i f64[N]; 0 on all but choices."""
        if name != FORECAST:
            return told_by_siblings(batch, _member(name), chosen)
        forecast = batch.advantage_forecast
        return np.where(chosen & (np.abs(forecast) <= LARGEST_NUMBER), forecast, 0.0)

    def _share(self, blend: Blend, pool: int) -> float:
        """w of a pool; 1 where no member counts."""
        if not blend.counts[pool].any():
            return 1.0
        if self.w != "auto":
            return float(self.w)
        return self.update_size / (self.update_size + PER_EVIDENCE * blend.evidence[pool])

    def _notes(self, made: _Made) -> list[Note]:
        """One note of all pools that have weights, one of those that have none."""
        told, bare = [], []
        for pool, counts in made.blend.counts.items():
            if not counts.any():
                bare.append(f"pool {pool}")
                continue
            mean = made.blend.means[pool]
            weights = ", ".join(f"{name} {a:.2f}" for name, a in zip(self.members, mean.tolist(), strict=True))
            told.append(f"pool {pool}: {weights}; R2 out of fold {made.blend.explained[pool]:.2f}")
        notes = []
        if told:
            notes.append(Note("mixture-weights", _listed(told)))
        if bare:
            notes.append(
                Note("mixture-unskilled", f"{_listed(bare)}: no member foretells outcomes there, scored as rloo")
            )
        return notes


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """What the formula is made of.

    chosen   bool[N]     choices;  owner i64[N] their trajectory
    said     f64[I, N]   d_i of every choice;  mixed f64[N] m_k
    total    f64[T]      sum_j m_j;  against f64[T] R - b;  alone bool[T] groups of one;  share f64[T] w
    """

    chosen: BOOL
    owner: I64
    said: F64
    mixed: F64
    total: F64
    against: F64
    alone: BOOL
    share: F64
    blend: Blend


def _member(name: str) -> Attributor:
    """The attributor of that name at its defaults; InputError where it cannot be a member."""
    if name == "mixture":
        raise InputError("mixture: members names mixture itself")
    made: Attributor = attributors.get(name)()
    if made.needs:
        raise InputError(
            f"mixture: the member {name} needs the columns {', '.join(made.needs)}: name forecast for these"
        )
    if made.scope != "group":
        raise InputError(f"mixture: the member {name} compares groups, so that an outcome cannot be hidden from it")
    return made


def _siblings(batch: Batch, made: _Made, mine: I64) -> tuple[int, ...]:
    """The same calls in scored siblings; of very many the first."""
    t = int(made.owner[mine[0]])
    sibling = (batch.group == batch.group[t]) & ~np.isnan(batch.outcome)
    sibling[t] = False
    calls = np.flatnonzero(made.chosen & (batch.call_key != 0))
    same = same_calls(batch, calls, made.owner)
    asked = np.isin(same, same[np.isin(calls, mine)])
    return tuple(calls[asked & sibling[made.owner[calls]]][:MOST].tolist())


def _listed(said: list[str]) -> str:
    more = f"; and {len(said) - SHOWN} more pools" if len(said) > SHOWN else ""
    return "; ".join(said[:SHOWN]) + more
