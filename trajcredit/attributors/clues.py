"""Backward from the known answer: the calls that brought its values in are praised, even where the run failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import ClassVar, get_args

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.answer_values import Answers, Finds, finds_of
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, within
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.steps import singletons
from trajcredit.attributors.terms import against_group, has_credit, largest, rest
from trajcredit.batching import Batch, decisions, spread, turns_of
from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS
from trajcredit.model import KIND_CODES, Note
from trajcredit.registry import attributors

__all__ = ["Clues"]

NAMED = 3
"""Values that a term names."""


@attributors.register("clues")
@dataclass(frozen=True, slots=True)
class Clues:
    """Praise for the calls whose results first showed what the known answer is made of; the rest shares the outcome.

    credit_k = bonus f_k + (R - b - bonus sum_j f_j) / n on choices with f_k = 0, bonus f_k on the others: f_k is the
    share of the answer that call k brought in, n how many choices brought in nothing (where all did: all of them take
    part in the rest), b the mean outcome of the siblings (0 = R - b in a group of one). So the choices of a rollout add
    up to R - b exactly, a right find is positive in a failed run too, and there the choices that wasted it pay for it.
    Words beside calls carry the sum of their turn and are not counted again. credit = advantage.

    The share. Values of the answer (names, numbers, dates, ids, as edges of the graph have them) count by the bits that
    a repetition is worth there; those in the request are no find. A value is found by the call whose result is the
    first place of the transcript that holds it: what the agent wrote before, what a user told, and what only a failed
    result shows is nobody's. The share of a value goes to that call and to the calls it used, 1 to gamma^hops along the
    graph, scaled to add up to it. It is the gain of a potential, the part of the answer that is known, given back at
    the end: such shaping leaves the best policy what it was (Ng, Harada, Russell 1999), as long as b is a baseline.

    The answer is the log's `answer`, of the rollout or of its group where those that have one agree. Without one the
    batch is refused, or ask `answers=siblings`: what the best siblings wrote last and in calls that changed something,
    each value by the share of them that wrote it, where outcomes of the group differ; the rollout itself is left out.

    It assumes an answer that stands in results word for word. It misleads where the answer is computed, a single common
    word or small number (a note says so), or known to the agent without looking; where the log lists several wordings
    of it (each is a part); where a list shows it among a hundred others; and in tasks that are solved by what is done,
    not found. It compares no alternatives: a find that every sibling made is praised like one that few made.

    Measured with `answers=siblings` on simulated agents (oracle benchmark, whose logs state no answers; flat `grpo` in
    brackets) it is no better than flat: correlation with the true advantage 0.199 (0.207), the culprit is blamed first
    0.113 of the time (0.110), efficiency 0.36 at 64 trajectories (1). It is for reading what a failed search did find,
    and for tasks of search with logged answers where nearly all runs fail; it has not been measured there.
    """

    bonus: float = 0.5
    """What bringing in the whole answer is worth, in units of reward, 0..1000."""
    gamma: float = 0.5
    """Part of a find for a call that the finding call used, for each action between them, 0..1; 0: finders alone."""
    answers: Answers = "logged"
    """The answer that the log states, or what the best siblings wrote last."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"
    reads_texts: ClassVar[bool] = True
    """It looks for values in transcripts, which packed rows lack."""

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("clues", "bonus", self.bonus, 0, 1000)
        within("clues", "gamma", self.gamma, 0, 1)
        choice("clues", "answers", self.answers, get_args(Answers))

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage, as above. InputError where no trajectory has an answer, or texts were not loaded."""
        finds = finds_of(batch, np.arange(batch.n_trajectories), self.answers)
        scored = ~np.isnan(batch.outcome)
        if self.answers == "logged" and scored.any() and not (finds.known or finds.given):
            raise InputError(
                "clues needs the known answer of a task and no trajectory has one: log it (`answer`), or take what the "
                "best siblings wrote last for it (answers=siblings)"
            )
        made = self._split(batch, finds)
        share = np.where(made.bare, made.left[made.owner], 0.0)
        credit = np.where(made.chosen, self.bonus * made.part + share + 0.0, np.nan)
        credit = spread(batch, np.where(scored[made.owner], credit, np.nan), made.chosen)
        return Attribution(credit, credit, (*singletons(batch), *self._notes(batch, finds, scored)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """What it, or the calls of its turn, brought in; then its part of the outcome that finds leave over."""
        if not has_credit(batch, span):
            return ()
        t = batch.trajectory_of(span)
        finds = finds_of(batch, np.flatnonzero(batch.group == batch.group[t]), self.answers)
        made = self._split(batch, finds)
        turn = turns_of(batch)
        mine = np.array([span]) if made.chosen[span] else np.flatnonzero(made.chosen & (turn == turn[span]))
        terms = []
        for finders, amount, weight in self._passes(batch, finds, made.owner):
            if finders[t] >= 0 and weight[mine].any():
                value = self.bonus * float(amount[t]) * fsum(weight[mine])
                finder = int(finders[t])
                terms.append(Term(_named(finds, finder, bool((mine == finder).any())), value, (finder,)))
        values = np.array([term.value for term in terms])
        shown = largest(values)
        told = tuple(terms[k] for k in shown.tolist()) + rest(values, shown, "finds")
        bare, n = int(made.bare[mine].sum()), int(made.count[t])
        if not bare:
            return told
        outcome, siblings = against_group(batch, t, float(made.against[t]), "siblings")
        part = f", {bare} of {n} parts" if n > 1 else ""
        left = Term(f"finds of the rollout{part}", -self.bonus * float(made.found[t]) * bare / n)
        shared = [Term(f"{one.name}{part}", one.value * bare / n, one.spans) for one in (outcome, siblings)]
        return (*told, *shared, *((left,) if made.found[t] else ()))

    def _split(self, batch: Batch, finds: Finds) -> _Split:
        chosen = decisions(batch)
        owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        part = np.zeros(batch.n_spans)
        for _, amount, weight in self._passes(batch, finds, owner):
            part += amount[owner] * weight
        found = np.bincount(owner, part, batch.n_trajectories).astype(np.float64)
        bare = chosen & (part == 0)
        none = np.bincount(owner[bare], minlength=batch.n_trajectories) == 0
        bare |= chosen & none[owner]
        count = np.bincount(owner[bare], minlength=batch.n_trajectories)
        against = kernels.leave_one_out(kernels.centre(batch.outcome, batch.group), batch.group)
        left = (against - self.bonus * found) / np.maximum(count, 1)
        return _Split(chosen, owner, part, bare, found, count, against, left)

    def _passes(self, batch: Batch, finds: Finds, owner: I64) -> Iterator[tuple[I64, F64, F64]]:
        """The first finder of every trajectory, then the second, and so on.

        Each pass: the call i64[T] (-1 none), its share of the answer f64[T], and how that is split, f64[N]: over the
        call and those it used; a trajectory's add up to 1.
        """
        graph = Dag()
        followed = (batch.parent_weight >= graph.min_weight) & np.isin(
            batch.parent_kind, [EDGE_KINDS.index(kind) for kind in graph.kinds]
        )
        is_call = batch.kind == KIND_CODES["tool_call"]
        calls, which = np.unique(finds.finder[finds.finder >= 0], return_inverse=True)
        shares = np.bincount(which, finds.share[finds.finder >= 0], len(calls)).astype(np.float64)
        nth = np.arange(len(calls)) - np.searchsorted(owner[calls], owner[calls])
        for n in range(int(nth.max(initial=-1)) + 1):
            now = nth == n
            finders, amount = np.full(batch.n_trajectories, -1), np.zeros(batch.n_trajectories)
            finders[owner[calls[now]]], amount[owner[calls[now]]] = calls[now], shares[now]
            sinks = np.zeros(batch.n_spans, dtype=bool)
            sinks[calls[now]] = True
            factor, hops = kernels.best_path(
                sinks, batch.action_mask, batch.parent_offsets, batch.parents, followed.astype(np.float64), self.gamma
            )
            weight = np.where(is_call & (hops >= 0), np.nan_to_num(factor), 0.0)
            total = np.bincount(owner, weight, batch.n_trajectories)
            yield finders, amount, weight / np.where(total > 0, total, 1.0)[owner]

    def _notes(self, batch: Batch, finds: Finds, scored: BOOL) -> Iterator[Note]:
        """One note a group and reason: no answer, one that the request holds, one that proves little."""
        every = frozenset(np.flatnonzero(scored).tolist())
        where = "have no known answer" if self.answers == "logged" else "have no better sibling to tell the answer"
        for code, members, said in (
            ("no-answer", every - finds.known - finds.given, f"{where}: every choice shares their outcome alike"),
            ("answer-given", every & finds.given, "have an answer that the request holds: there is nothing to find"),
            ("weak-answer", every & finds.weak, "have an answer of common words or small numbers: finds may be chance"),
        ):
            groups = np.bincount(batch.group[sorted(members)], minlength=len(batch.group_ids))
            for g in np.flatnonzero(groups).tolist():
                yield Note(code, f"{groups[g]} of its rollouts {said}", group=batch.group_ids[g])


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """What the formula is made of.

    chosen  bool[N]  choices;  owner i64[N] their trajectory
    part    f64[N]   f_k
    bare    bool[N]  choices that take part in the rest;  count i64[T] how many
    found   f64[T]   sum_j f_j;  against f64[T] R - b;  left f64[T] the rest for each of the bare
    """

    chosen: BOOL
    owner: I64
    part: F64
    bare: BOOL
    found: F64
    count: I64
    against: F64
    left: F64


def _named(finds: Finds, finder: int, own: bool) -> str:
    """What a call brought in: "its result first showed 'UA1407', '287' of the answer"."""
    texts = [repr(finds.text[k]) for k in np.flatnonzero(finds.finder == finder)]
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    who = "its result first showed" if own else "used by the call whose result first showed"
    return f"{who} {', '.join(texts[:NAMED])}{more} of the answer"
