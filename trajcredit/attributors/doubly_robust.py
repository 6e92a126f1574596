"""A critic's forecast of every choice, corrected by what the outcome says of all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import within
from trajcredit.attributors.sharing import share_out
from trajcredit.attributors.skill import Skill, skills
from trajcredit.attributors.terms import against_group, has_credit, reward_spans
from trajcredit.batching import Batch, decisions, spread
from trajcredit.model import LARGEST_NUMBER, Note
from trajcredit.registry import attributors

__all__ = ["DoublyRobust"]

PER_EVIDENCE = 12.0
"""N0 under `w=auto` for each unit of squared t-value of the skill: where bias and noise of an update are even."""
LOW = 0.2
"""Skill below which a number for w is warned of."""
SHOWN = 8
"""Choices that an explanation points at, those with the largest forecasts; pools that a note tells of."""


@attributors.register("doubly_robust")
@dataclass(frozen=True, slots=True)
class DoublyRobust:
    """A critic's forecast of each choice plus w times what the forecasts leave unexplained of the outcome.

    credit_k = advantage_k = s c_k + w' (R - b - s sum_j c_j): c_k the critic's cross-fitted forecast of the advantage
    of choice k, b the mean outcome of the siblings, the sum over the choices of the trajectory (words beside calls
    carry the sum of their turn and are not counted again). The second term is the same on every action.

    The dial. w = 0 has least noise and the critic's whole bias; w = 1 is unbiased as far as what a choice is compared
    with is what the policy usually does (the critic's centring), and varies least of all such estimates where the
    forecasts are good. w = auto sets it from the size of an update: w = N / (N + N0), N = `update_size`: the least of
    squared bias plus variance / N. The bias falls as the evidence behind the forecasts grows, so N0 is 12 (slope /
    error)^2 of the skill below; 12 was read off the oracle benchmark. Ranking inside a trajectory does not depend on w.

    Skill. s in [0, 1] is the slope of R - b on sum_j c_j over the pool, out of fold; 0 where its 95 % interval by
    groups covers 0, where fewer than four groups tell it, or where there is no critic. Under w = auto forecasts count
    s c and w' = 1 - s (1 - w): s = 0 is exactly `rloo`. What a critic gets wrong is the same throughout an update and
    does not average out as noise does: where an update is larger than the pool's M scored trajectories, the evidence
    does not reach so far, and s is multiplied by M / N. A number for w is used as given (s = 1, w' = w), with a warning
    where the skill is low. In a group of one there is no b: the second term is left out.

    Reading. `part` shares that part of what is left, R - b - s sum_j c_j, over the choices instead of giving each the
    same: where the critic is trusted by how far forecasts at such points are from 0, else by how likely each is to have
    spoilt the run, told from siblings (a better one with the same effect clears it, one without makes it suspect; only
    the first wrong effect counts). Groups that all did equally well are then held against the other groups of the pool.
    With it forecasts count s c at any w. `w=0,part=0.3` finds culprits best. It is for reading: it ranks choices inside
    a run by its own outcome, so leave `part` at 0 for gradients that are to be unbiased. With it s = 0 is not `rloo`.

    The form is that of doubly robust estimates (Dudik, Langford, Li 2011; Jiang and Li 2016): a model, and the residual
    that keeps it honest. Misleads where choices of one task are all forced (their forecast is 0), where what decides
    shows in no argument, message or result, and at w near 0 with many trajectories, where only bias is left.
    """

    w: Literal["auto"] | float = "auto"
    """Share of the residual on every action, 0..1; auto = from the size of an update and the critic's skill."""
    update_size: int = 256
    """Trajectories in one update of the policy: what w is chosen for."""
    part: float = 0.0
    """Of what is left, the part that is shared out by where it most likely belongs, 0..1: for reading, 0.3."""

    needs: ClassVar[tuple[str, ...]] = ("advantage_forecast",)
    scope: ClassVar[Scope] = "batch"
    default_critic: ClassVar[str] = "compatible"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        if self.w != "auto":
            within("doubly_robust", "w", self.w, 0, 1)
        within("doubly_robust", "part", self.part, 0, 1)
        within("doubly_robust", "update_size", self.update_size, 1, 2**53)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = s c_k + w' (R - b - s sum_j c_j)."""
        parts = _parts(batch)
        share, skill = self._dials(batch, parts)
        forecast = np.where(batch.action_mask, _known(batch.advantage_forecast), np.nan)
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        left = np.where(parts.alone, 0.0, share * (parts.against - skill * parts.total))
        credit = skill[owner] * forecast + np.where(np.isnan(batch.outcome), np.nan, left)[owner]
        if self.part:
            credit = credit + self._shared(batch, parts, skill)[0]
        return Attribution(credit, credit, (*_lone(batch, parts), *self._notes(parts), *_unknown(batch)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The forecast; then the outcome, the siblings and the forecasts of the whole run, each times w'."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        parts = _parts(batch)
        share, skill = self._dials(batch, parts)
        forecast = float(_known(batch.advantage_forecast)[span])
        own = Term(_times("forecast of this choice", skill[t]), float(skill[t]) * forecast, (span,))
        if parts.alone[t]:
            return (own,)
        shared: tuple[Term, ...] = ()
        if self.part:
            added, _ = self._shared(batch, parts, skill)
            name = f"own share of what the forecasts leave, x {self.part:g}"
            shared = (Term(name, float(added[span]), reward_spans(batch, t)),)
        w = float(share[t])
        outcome, siblings = against_group(batch, t, float(parts.against[t]), "siblings")
        chosen = parts.spans[(parts.spans >= batch.span_offsets[t]) & (parts.spans < batch.span_offsets[t + 1])]
        largest = chosen[np.argsort(-np.abs(_known(batch.advantage_forecast)[chosen]), kind="stable")][:SHOWN]
        return (
            own,
            *shared,
            Term(_times(outcome.name, w), w * outcome.value, outcome.spans),
            Term(_times(siblings.name, w), w * siblings.value, siblings.spans),
            Term(
                _times("forecasts of the whole run", w * float(skill[t])),
                -w * float(skill[t]) * float(parts.total[t]),
                tuple(largest.tolist()),
            ),
        )

    def _shared(self, batch: Batch, parts: _Parts, skill: F64) -> tuple[F64, F64]:
        """What `part` adds to every action f64[N], and the share of each decision f64[N]."""
        chosen = np.zeros(batch.n_spans, dtype=bool)
        chosen[parts.spans] = True
        shared = share_out(batch, _known(batch.advantage_forecast), chosen, skill, self.part)
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        added = self.part * shared.share * np.where(parts.alone, 0.0, shared.left)[owner]
        return spread(batch, added, chosen), shared.share

    def _dials(self, batch: Batch, parts: _Parts) -> tuple[F64, F64]:
        """w' and s of every trajectory."""
        skill = np.array([parts.skills[p].trusted for p in batch.pool.tolist()], dtype=np.float64)
        if self.w != "auto":
            given = np.full(batch.n_trajectories, float(self.w))
            return given, skill if self.part else np.ones(batch.n_trajectories)
        w = np.array([self._weight(parts.skills[p]) for p in batch.pool.tolist()])
        counted = np.array([self._counted(parts.skills[p]) for p in batch.pool.tolist()], dtype=np.float64)
        return 1 - counted * (1 - w), counted

    def _weight(self, skill: Skill) -> float:
        """w of a pool; 1 where its forecasts are not trusted."""
        if not skill.trusted:
            return 1.0
        return self.update_size / (self.update_size + PER_EVIDENCE * skill.evidence)

    def _counted(self, skill: Skill) -> float:
        """s under `w=auto`: no further than the evidence reaches."""
        return skill.trusted * min(1.0, skill.trajectories / self.update_size)

    def _notes(self, parts: _Parts) -> list[Note]:
        """One note for all pools: what is said once a kind would name the first alone."""
        if self.w == "auto":
            return _pools_note("critic-skill", [self._told(*found) for found in parts.skills.items()], "")
        weak = [_slope(*found) for found in parts.skills.items() if found[1].trusted < LOW and not self.part]
        return _pools_note("critic-unskilled", weak, f": at w={self.w:g} credit rests on forecasts that fail there")

    def _told(self, pool: int, skill: Skill) -> str:
        counted = self._counted(skill)
        w = 1 - counted * (1 - self._weight(skill))
        return f"{_slope(pool, skill)}, forecasts count {counted:.2f}, w {w:.2f}"


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What the formula is made of: R - b f64[T], sum_j c_j f64[T], groups of one bool[T], skills by pool, decisions."""

    against: F64
    total: F64
    alone: BOOL
    skills: dict[int, Skill]
    spans: I64


def _parts(batch: Batch) -> _Parts:
    chosen = decisions(batch)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    forecast = _known(batch.advantage_forecast)
    total = np.bincount(owner[chosen], forecast[chosen], batch.n_trajectories).astype(np.float64)
    against = kernels.leave_one_out(kernels.centre(batch.outcome, batch.group), batch.group)
    alone = kernels.members(batch.outcome, batch.group) == 1
    counted = (~np.isnan(batch.outcome) & ~alone).astype(np.float64)
    found = skills(against, total, batch.group, batch.pool, counted)
    return _Parts(against, total, alone, found, np.flatnonzero(chosen))


def _lone(batch: Batch, parts: _Parts) -> list[Note]:
    """One note a group of one."""
    return [
        Note(
            code="singleton-group",
            message="one scored rollout: no sibling to hold it against, only the forecasts count",
            trajectory=batch.trajectory_ids[t],
            group=batch.group_ids[batch.group[t]],
        )
        for t in np.flatnonzero(parts.alone & ~np.isnan(batch.outcome)).tolist()
    ]


def _slope(pool: int, skill: Skill) -> str:
    return f"pool {pool}: out-of-fold slope {skill.slope:.2f} of {skill.trajectories} trajectories"


def _pools_note(code: str, said: list[str], end: str) -> list[Note]:
    if not said:
        return []
    more = f"; and {len(said) - SHOWN} more pools" if len(said) > SHOWN else ""
    return [Note(code, "; ".join(said[:SHOWN]) + more + end)]


def _known(forecast: F64) -> F64:
    """Where there is no forecast, or one beyond what rewards can be, 0."""
    return np.where(np.abs(forecast) <= LARGEST_NUMBER, forecast, 0.0)


def _unknown(batch: Batch) -> list[Note]:
    """A note where some actions have no forecast: a critic forecasts all, a column from elsewhere may not."""
    missing = int((batch.action_mask & ~(np.abs(batch.advantage_forecast) <= LARGEST_NUMBER)).sum())
    if not missing:
        return []
    n = int(batch.action_mask.sum())
    return [Note("no-forecast", f"{missing} of {n} actions have no forecast to go by: it counts as 0 there")]


def _times(name: str, factor: float) -> str:
    return name if factor == 1 else f"{name}, x {factor:.3g}"
