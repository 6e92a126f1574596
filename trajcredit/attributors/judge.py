"""A judge's opinion of the steps, passed back along the graph, mixed with what the outcome says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Attributor, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.disagreement import disagreement
from trajcredit.attributors.opinions import Opinions, opinions
from trajcredit.attributors.terms import MOST, has_credit, rest
from trajcredit.batching import Batch
from trajcredit.graph import EDGE_KINDS
from trajcredit.registry import attributors

__all__ = ["Judge"]

Base: TypeAlias = Literal["rloo", "doubly_robust"]
SMEARED_KINDS = ("call", "turn", "value", "state", "explicit", "override")
"""Edges that blame goes back along: those that `dag` follows by default."""
LEAST_WEIGHT = 0.25
"""An edge below is a candidate, not a claim."""
SHOWN = 16
"""Steps that an explanation tells of one by one; the others are one term."""


@attributors.register("judge")
@dataclass(frozen=True, slots=True)
class Judge:
    """What a judge says of every step, mixed with the outcome against the other rollouts of the task.

    credit_i = advantage_i = mix * unit * p_i + (1 - mix) * base_i. The judge's score of the state after an action is
    `scores`, in [0, 1], or of a judge on the credit scale what it gave so far, added up; d_k = score_k - score_{k-1},
    `score_start` before the first action (1 where no judge said), is progress: where a step stands in the run counts
    for nothing, what it changes does. p spreads d back along the graph: of all that comes to it, an action keeps
    1 - smear and passes `smear` to the spans that it rests on, by weight over the sum of their weights; observations
    pass on everything; what rests on no action keeps all. So sum_i p_i = sum_k d_k = last score - start. base is
    `rloo`, R - mean of the siblings (0 in a group of one: there only the judge speaks), or `doubly_robust` as it reads
    blame best (w = 0, part = 0.3).

    A trajectory without any score was not judged, and has no credit: an outage is never an opinion, and never the base
    alone. It changes no other trajectory (but with `calibrate`: one less to learn the map from). An action without an
    opinion in a judged trajectory has d = 0. With mix = 0 the judge is not asked.

    `calibrate` reads scores as chances only after an isotonic map of outcomes on scores, fitted on the groups of other
    folds: p is then in units of reward, and a judge whose scores do not rise with outcomes has p = 0 throughout.

    Actions that the judge praises strongly and the structure (`dag:base=rloo`) blames strongly, or the other way round,
    are in a note: both at least a quarter of their range (1 for scores; the spread of outcomes).

    The default judge is `rules` (docs/judges.md): failed, repeated, malformed calls, invented figures and so on. It
    sees neither outcomes nor siblings, and each finding takes its severity off what is left of the score, so of two
    faults alike the first one weighs more: what came after may follow from it.

    Rewards as differences of a potential: Ng, Harada, Russell 1999; process scores as progress: Setlur et al. 2024
    (arXiv 2410.08146).

    It assumes that what the judge objects to is what costs outcomes. Rules are not calibrated: a fault costs as much in
    a run that succeeded, p is never above 0, and a policy is taught to avoid what rules see, which can be hidden (no
    call, no failed call). It misleads where figures are rightly new (mathematics in words), where probing by failing
    calls is the way to go, and about omissions, of which no span tells. To read blame in single failed runs, where no
    sibling succeeded, it is the one attributor here that has anything to say; to train on, look at what it finds first.

    Measured on real failed runs (development half of the blame benchmark; docs/judges.md has intervals): the most
    blamed message is the culprit in 47.9 of 100 runs of Who&When that were generated (flat credit 16.3) and 27.6 of
    those written by hand (5.7). On tau_airline, where culprits are well-formed calls, 1.2 (flat 7.9), and mixed into
    `doubly_robust:w=0,part=0.3` (87.9) it takes away at every `mix` tried: 63.6 at 0.02.
    """

    mix: float = 0.5
    """Share of the judge, 0..1; the rest is the base's."""
    smear: float = 0.1
    """Part of what comes to an action that goes back to what it rests on, 0 to below 1."""
    unit: float = 1.0
    """What a change of the score by 1 is worth in units of reward, 0..1000: of a state the whole range of scores, of a
    credit what one step can be given at most; with `calibrate` a factor, as scores are in units of reward then."""
    base: Base = "rloo"
    """What it is mixed with; `doubly_robust` asks a critic."""
    calibrate: bool = False
    """Put scores on the scale of outcomes first, by maps fitted on other groups; it takes ten groups."""

    reads_texts: ClassVar[bool] = True
    default_judge: ClassVar[str] = "rules"

    @property
    def needs(self) -> tuple[str, ...]:
        """The judge's column, unless it is mixed in by 0, and what the base needs."""
        return (*(("scores",) if self.mix else ()), *self._base().needs)

    @property
    def scope(self) -> Scope:
        """The base's; `batch` where scores are calibrated."""
        return "batch" if self.mix and self.calibrate else self._base().scope

    @property
    def default_critic(self) -> str | None:
        """The base's."""
        return getattr(self._base(), "default_critic", None)

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("judge", "mix", self.mix, 0, 1)
        within("judge", "smear", self.smear, 0, 0.99)
        within("judge", "unit", self.unit, 0, 1000)
        choice("judge", "base", self.base, get_args(Base))
        choice("judge", "calibrate", self.calibrate, (False, True))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage, as above; NaN in trajectories that were not judged. InputError where too few outcomes are
        there to calibrate on."""
        base = self._base()(batch)
        if not self.mix:
            return Attribution(base.credit, base.credit, base.notes)
        found = opinions(batch, self.calibrate)
        back = np.where(
            self._heard(batch, found), kernels.smeared(found.steps, *self._edges(batch), self.smear), np.nan
        )
        credit = self.mix * self.unit * back + (1.0 - self.mix) * base.credit
        doubts = disagreement(batch, back, None if self.calibrate else 1.0)
        return Attribution(credit, credit, (*base.notes, *found.notes(batch), *doubts))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """Each step whose change of the score came to this one, with what the judge found there; then the base's."""
        if not has_credit(batch, span):
            return ()
        based = tuple(
            Term(f"{term.name}, x {1 - self.mix:.3g}", (1.0 - self.mix) * term.value, term.spans)
            for term in self._base().explain(batch, span)
        )
        if not self.mix:
            return based
        found = opinions(batch, self.calibrate)
        if not found.judged[batch.trajectory_of(span)]:
            return ()
        values = self.mix * self.unit * found.steps * kernels.smeared_onto(span, *self._edges(batch), self.smear)
        steps = np.flatnonzero(values)
        shown = np.sort(np.argsort(-np.abs(values[steps]), kind="stable")[:SHOWN])
        said = tuple(Term(self._named(batch, int(k), span), float(values[k]), (int(k),)) for k in steps[shown].tolist())
        nothing = Term("the judge found nothing here, nor in what rests on it", 0.0)
        return (*(said or (nothing,)), *rest(values[steps], shown, "steps that rest on it"), *based)

    def _heard(self, batch: Batch, found: Opinions) -> BOOL:
        """bool[N]: actions of trajectories that were judged."""
        judged: BOOL = batch.action_mask & np.repeat(found.judged, np.diff(batch.span_offsets))
        return judged

    def _base(self) -> Attributor:
        made = attributors.get(self.base)
        found: Attributor = made() if self.base == "rloo" else made(w=0.0, part=0.3)
        return found

    def _edges(self, batch: Batch) -> tuple[BOOL, I64, I64, F64, BOOL]:
        codes = [EDGE_KINDS.index(kind) for kind in SMEARED_KINDS]
        gate = np.isin(batch.parent_kind, codes) & (batch.parent_weight >= LEAST_WEIGHT)
        return batch.action_mask, batch.parent_offsets, batch.parents, batch.parent_weight, gate

    def _named(self, batch: Batch, step: int, span: int) -> str:
        found = [one for one in batch.findings if one.span == step][:MOST]
        said = "; ".join(f"{one.rule}: {one.reason}" for one in found) or "the judge's score"
        return said if step == span else f"in a step that rests on this one, {said}"
