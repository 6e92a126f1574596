"""The outcome taken apart by a sequence model: credit where its forecast of the whole outcome changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice
from trajcredit.attributors.terms import has_credit, reward_spans
from trajcredit.batching import Batch, decisions, spread, turns_of
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import attributors

__all__ = ["Rudder"]


@attributors.register("rudder")
@dataclass(frozen=True, slots=True)
class Rudder:
    """Return decomposition by a model that forecasts the outcome as the rollout unfolds (Arjona-Medina et al. 2019).

    g_k = the forecast of the whole outcome R after choice k and before its result (`q_values` plus the rewards paid so
    far), g_0 = V(start). `results=next` is RUDDER (arXiv 1806.07857): credit_k = g_k - g_{k-1} + e, e = (R - g_n) / n,
    the error of the last forecast spread evenly over the n choices. What a result changed of the forecast shows in the
    next choice there. `results=spread` gives a choice only what it changed itself, g_k less the forecast before it, and
    spreads what results changed evenly along with the error: e = (R - V(start) - sum of such changes) / n. In both the
    credit of a rollout's choices adds up to R - V(start) exactly. credit = advantage.

    Choices are calls, and messages without calls; words beside calls carry the sum of their turn, since they led to
    all of it, and are not counted again. A logged V stays: with it the sum holds all the same.

    It assumes that the model forecasts outcomes it has not seen; its forecasts are cross-fitted, so where it cannot,
    they stay at the mean of the siblings and what is left is R - V(start), spread evenly over the choices. Dividing by
    n has a price: it weighs short rollouts more, and as a gradient that is biased. It misleads
    where the model reads style for substance, and with `results=next` where results are luck.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): correlation with the true advantage 0.722 (0.207), the culprit blamed first
    0.651 of the time (0.110), efficiency 12.1 at 64 trajectories, 4.5 at 256, 0.4 at 1024 (1): bias is all that is left
    there. `results=next`: 0.710, 0.638 and 11.7, 4.3, 0.4. With `critic=compatible`: 0.711, 0.681 and 13.7, 10.0, 0.7.
    """

    results: Literal["spread", "next"] = "spread"
    """Where what a result changed of the forecast goes: evenly over all choices, or to the next choice."""

    needs: ClassVar[tuple[str, ...]] = ("values", "q_values")
    scope: ClassVar[Scope] = "group"
    default_critic: ClassVar[str] = "sequence"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        choice("rudder", "results", self.results, ("spread", "next"))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage. InputError where no choice has a forecast."""
        found = self._found(batch)
        numbers = np.zeros(batch.n_spans)
        numbers[found.spans] = found.change + found.even[found.owner]
        credit = spread(batch, numbers, found.chosen)
        return Attribution(credit, credit, _notes(batch, found))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The forecasts after and before the choice, or those of its turn; then the even share of what is left."""
        found = self._found(batch)
        t = batch.trajectory_of(span)
        if not has_credit(batch, span) or np.isnan(found.even[t]):
            return ()
        turn = turns_of(batch)
        mine = [span] if found.chosen[span] else found.spans[turn[found.spans] == turn[span]].tolist()
        at = np.searchsorted(found.spans, mine)
        n = int((found.owner == t).sum())
        left = float(found.even[t]) * n
        times = f"{len(at)} / {n}" if len(at) > 1 else f"1 / {n}"
        terms = []
        for k in at.tolist():
            since, place = self._since(found, k)
            terms.append(Term("forecast after this choice", float(found.after[k]), (int(found.spans[k]),)))
            terms.append(Term(since, float(found.change[k] - found.after[k]), place))
        what = "the last forecast missed" if self.results == "next" else "choices do not explain"
        terms.append(
            Term(f"{times} of what {what}, {left:.3g}", float(found.even[t]) * len(at), reward_spans(batch, t))
        )
        return tuple(terms)

    def _since(self, found: _Found, k: int) -> tuple[str, tuple[int, ...]]:
        if self.results == "spread":
            return "forecast before it", (int(found.spans[k]),)
        if found.first[k]:
            return "forecast at the start", (int(found.spans[k]),)
        return "forecast after the choice before", (int(found.spans[k - 1]),)

    def _found(self, batch: Batch) -> _Found:
        chosen = decisions(batch)
        spans = np.flatnonzero(chosen)
        if len(spans) and not (np.isfinite(batch.q_values[spans]) & np.isfinite(batch.values[spans])).any():
            raise InputError(
                "rudder needs forecasts before and after choices and no choice has both: name a critic that has them "
                "(`critic=sequence`)"
            )
        owner = np.searchsorted(batch.span_offsets, spans, side="right") - 1
        paid = _paid(batch)
        after, before = batch.q_values[spans] + paid[spans], batch.values[spans] + paid[spans]
        first = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
        start = np.full(batch.n_trajectories, np.nan)
        opens = _opens(batch)
        start[opens[0]] = batch.values[opens[1]]
        since = before if self.results == "spread" else np.where(first, start[owner], np.append(0.0, after[:-1]))
        bad = ~(np.isfinite(after) & np.isfinite(since if self.results == "spread" else before))
        missing = np.bincount(owner[bad], minlength=batch.n_trajectories)
        missing[opens[0]] += ~np.isfinite(start[opens[0]])
        change = after - since
        total = np.bincount(owner, np.nan_to_num(change), batch.n_trajectories)
        n = np.bincount(owner, minlength=batch.n_trajectories)
        even = (batch.outcome - start - total) / np.maximum(n, 1)
        even = np.where(missing > 0, np.nan, even)
        return _Found(chosen, spans, owner, first, after, change, even, missing)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """D decisions: where they are, whose, the first of a trajectory; forecast after f64[D], change f64[D]; the even
    share f64[T] (NaN: not scored), forecasts that are missing i64[T]."""

    chosen: BOOL
    spans: I64
    owner: I64
    first: BOOL
    after: F64
    change: F64
    even: F64
    missing: I64


def _paid(batch: Batch) -> F64:
    """Rewards f64[N] of earlier actions of the same trajectory, each trajectory added up by itself."""
    rewards = np.nan_to_num(batch.rewards)
    paid = np.zeros(batch.n_spans)
    for start, end in zip(batch.span_offsets[:-1].tolist(), batch.span_offsets[1:].tolist(), strict=True):
        paid[start + 1 : end] = np.cumsum(rewards[start : max(end - 1, start)])
    return paid


def _opens(batch: Batch) -> tuple[I64, I64]:
    """Trajectories that act, and the first action of each."""
    actions = np.flatnonzero(batch.action_mask)
    owner = np.searchsorted(batch.span_offsets, actions, side="right") - 1
    which, at = np.unique(owner, return_index=True)
    return which.astype(np.int64), actions[at]


def _notes(batch: Batch, found: _Found) -> tuple[Note, ...]:
    """One note a scored trajectory that lacks forecasts."""
    return tuple(
        Note(
            code="missing-values",
            message=f"{int(found.missing[t])} of its choices have no forecast before or after them: not scored",
            trajectory=batch.trajectory_ids[t],
        )
        for t in np.flatnonzero((found.missing > 0) & ~np.isnan(batch.outcome)).tolist()
    )
