"""Sub-goals first, then the steps within: what reaching each sub-goal changed, shared by the choices it used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attribution, Scope, Term
from trajcredit.attributors.bounds import choice, choices, within
from trajcredit.attributors.steps import singletons
from trajcredit.attributors.terms import MOST, has_credit, largest, outcome_term, rest
from trajcredit.batching import Batch, decisions, spread, turns_of
from trajcredit.graph import EDGE_KINDS
from trajcredit.kernels.subgoals import first_end
from trajcredit.model import KIND_CODES, Note
from trajcredit.registry import attributors

__all__ = ["Options"]


@attributors.register("options")
@dataclass(frozen=True, slots=True)
class Options:
    """Credit to sub-goals by what the group got after reaching each, then to the choices each of them used.

    A rollout has sub-goals e_1 .. e_J in order: calls that changed state and succeeded, choices that carry reward, and
    the last choice. V_0 = b, the mean outcome of the siblings; V_j = the mean outcome of the rollouts of the group,
    this one among them, that made the calls e_1 .. e_j too (same tool, same arguments, in any order), V_{j-1} where e_j
    is words or was made before; V_J = R. The segment of e_j gets V_j - V_{j-1}, so the segments of a rollout add up to
    R - b exactly. Within, choice k gets its part of gamma^hops_k over the choices of the segment: hops_k the actions
    from it to e_j along the graph. A choice belongs to the first sub-goal it leads to; one that leads to none gets 0.
    Words beside calls carry the sum of their turn and are not counted again. credit = advantage.

    Temporally extended actions: Sutton, Precup and Singh 1999; their values are group means at anchors as in GiGPO
    (Feng et al. 2025, arXiv 2505.10978), the anchors being what was achieved instead of what was seen.

    It assumes that rollouts which achieved the same are alike from there on. The rollout counts among those that
    reached its sub-goals, so one that nobody else reached takes all of R - V_{j-1}, and what follows gets nothing: that
    finds culprits, and biases the gradient, as its cosine shows. `leave_one_out` asks the siblings alone; what nobody
    else reached then changes nothing, and the end of the rollout takes the rest. It misleads where arguments of effects
    hold numbers drawn anew in every run, where what decides is no change of state (there is one segment, the way to the
    answer), and for steps that were needed and left out, which have no span.

    Measured on simulated agents whose true advantages are known (oracle benchmark, development set, mean of seven
    families; flat `grpo` in brackets): correlation with the true advantage 0.457 (0.207), the culprit is blamed first
    0.418 of the time (0.110), the best choice of a success praised first 0.484 (0.105): of those that fit nothing to
    other tasks the best to read. Efficiency of the gradient 1.77 at 64 trajectories, 0.18 at 256, 0.10 at 1024 (1): no
    credit for large updates. `leave_one_out`: 0.318, 0.312; 0.71. On failed airline bookings of real agents
    (development half, four trials a task) the culprit is blamed first 0.27 of the time [0.10, 0.52], by chance 0.08;
    with `gamma=1` 0.12, since what is nearest to a wrong change is most often the wrong one.
    """

    gamma: float = 0.7
    """Weight of a choice within its segment, for each action between it and the sub-goal, 0..1; 1 shares alike."""
    leave_one_out: bool = False
    """A rollout does not count among those that reached its sub-goals."""
    min_weight: float = 0.25
    """Edges below this confidence are not followed, 0..1."""
    kinds: tuple[str, ...] = ("call", "turn", "value", "state", "explicit", "override")
    """Kinds of edges to follow."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        within("options", "gamma", self.gamma, 0, 1)
        choice("options", "leave_one_out", self.leave_one_out, (True, False))
        within("options", "min_weight", self.min_weight, 0, 1)
        choices("options", "kinds", self.kinds, EDGE_KINDS)

    def __call__(self, batch: Batch) -> Attribution:
        """credit = advantage = the part of what the choice's sub-goal changed."""
        made = self._segments(batch)
        credit = np.where(made.part > 0, made.part * np.append(made.gain, 0.0)[made.segment], 0.0) + 0.0
        unscored = np.repeat(np.isnan(batch.outcome), np.diff(batch.span_offsets))
        credit = spread(batch, np.where(unscored, np.nan, credit), made.chosen)
        return Attribution(credit, credit, (*singletons(batch), *_notes(batch, made)))

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """What the group got with the sub-goal and before it, times the part of the choice, or of those of its turn."""
        if not has_credit(batch, span):
            return ()
        made = self._segments(batch)
        turn = turns_of(batch)
        mine = [span] if made.chosen[span] else np.flatnonzero(made.chosen & (turn == turn[span])).tolist()
        terms = [term for i in mine for term in self._terms(batch, made, i)]
        values = np.array([term.value for term in terms])
        shown = largest(values)
        return tuple(terms[k] for k in shown.tolist()) + rest(values, shown, "parts of sub-goals")

    def _terms(self, batch: Batch, made: _Segments, i: int) -> tuple[Term, ...]:
        part, s = float(made.part[i]), int(made.segment[i])
        if part == 0:
            return (Term("leads to no sub-goal" if s == len(made.end) else "no part of its sub-goal: gamma is 0", 0.0),)
        t = int(made.trajectory[s])
        number = s - int(np.searchsorted(made.trajectory, t))
        many = int((made.trajectory == t).sum())
        times = "" if part == 1 else f", x {part:.3g}"
        level = float(batch.outcome[t]) - float(made.outcome[t])  # values are held against this
        if made.last[s]:
            own = outcome_term(batch, t)
            after = Term(f"{own.name}{times}", part * own.value, own.spans)
        else:
            how = f"{made.reached[s]} rollouts" if made.reached[s] else "nobody else's, or as before"
            name = f"mean outcome with sub-goal {number + 1} of {many} ({how}){times}"
            after = Term(name, part * (float(made.after[s]) + level), made.alike(batch, s))
        before = float(made.after[s]) - float(made.gain[s]) + level
        name = f"mean outcome {'of siblings' if number == 0 else f'with sub-goal {number}'}{times}"
        return after, Term(name, -part * before, () if number == 0 else (int(made.end[s - 1]),))

    def _segments(self, batch: Batch) -> _Segments:
        chosen, owner = decisions(batch), np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
        calls = batch.kind == KIND_CODES["tool_call"]
        at = np.flatnonzero(chosen)
        final = np.zeros(batch.n_spans, dtype=bool)
        final[at[np.append(owner[at][1:] != owner[at][:-1], True)[: len(at)]]] = True
        paid = np.nan_to_num(batch.rewards) != 0
        ends = chosen & (final | paid | (calls & batch.is_write & ~batch.is_error))
        gate = (batch.parent_weight >= self.min_weight) & np.isin(
            batch.parent_kind, [EDGE_KINDS.index(kind) for kind in self.kinds]
        )
        toward, hops = first_end(ends, batch.action_mask, batch.parent_offsets, batch.parents, gate)
        end = np.flatnonzero(ends)
        segment = np.where(chosen & (toward >= 0), np.searchsorted(end, toward), len(end))
        weight = np.where(segment < len(end), self.gamma ** np.maximum(hops, 0).astype(np.float64), 0.0)
        total = np.bincount(segment, weight, len(end) + 1)
        part = weight / np.where(total > 0, total, 1.0)[segment]
        key = np.unique(batch.call_key, return_inverse=True)[1].astype(np.int64)[end]
        outcome = kernels.centre(batch.outcome, batch.group)
        against = kernels.leave_one_out(outcome, batch.group)
        after, reached = self._levels(batch, owner[end], np.where(calls[end], key, -1), outcome)
        first = np.append(True, owner[end][1:] != owner[end][:-1])[: len(end)]
        after = _carried(after, first, (outcome - against)[owner[end]])
        after = np.where(final[end], outcome[owner[end]], after)
        before = np.where(first, (outcome - against)[owner[end]], np.append(np.nan, after[:-1])[: len(end)])
        return _Segments(
            chosen,
            end,
            owner[end],
            np.where(calls[end], key, -1),
            final[end],
            segment,
            part,
            outcome,
            after,
            after - before,
            reached,
        )

    def _levels(self, batch: Batch, owner: I64, key: I64, outcome: F64) -> tuple[F64, I64]:
        """V_j - the group's mean after every end, NaN where it is that before; and how many rollouts it is the mean of.

        owner    i64[E]  trajectory of each end
        key      i64[E]  which call it is, the same number for the same call; -1 words
        outcome  f64[T]  R minus the mean of the group
        """
        after, reached = np.full(len(key), np.nan), np.zeros(len(key), dtype=np.int64)
        width = int(key.max(initial=0)) + 1
        new = np.zeros(len(key), dtype=bool)
        new[np.unique(owner * width + key, return_index=True)[1]] = True
        asked = np.flatnonzero(new & (key >= 0) & ~np.isnan(outcome[owner]))
        asked = asked[np.argsort(batch.group[owner[asked]], kind="stable")]
        for rows in np.split(asked, np.flatnonzero(np.diff(batch.group[owner[asked]])) + 1):
            members, mine = np.unique(owner[rows], return_inverse=True)
            which = np.unique(key[rows], return_inverse=True)[1]
            made = np.zeros((len(members), int(which.max(initial=-1)) + 1), dtype=bool)
            made[mine, which] = True
            so_far = np.cumsum(made[:, which], axis=1, dtype=np.int64)  # of all the ends of the group, up to each
            start = np.searchsorted(mine, mine)
            earlier = np.where(start > 0, so_far[:, start - 1], 0)
            alike = so_far - earlier == np.arange(len(rows)) - start + 1
            if self.leave_one_out:
                alike[mine, np.arange(len(rows))] = False
            reached[rows] = alike.sum(axis=0)
            with np.errstate(invalid="ignore"):  # 0 / 0 where no sibling made it: unknown
                after[rows] = outcome[members] @ alike / reached[rows]
        return after, reached


@dataclass(frozen=True, slots=True, eq=False)
class _Segments:
    """S segments, those of a trajectory together and in order.

    chosen      bool[N]  choices
    end         i64[S]   the span of each sub-goal;  trajectory i64[S] its trajectory
    key         i64[S]   which call that is, -1 words
    last        bool[S]  the last choice of its trajectory
    segment     i64[N]   the segment of a choice; S where it leads to no sub-goal, and elsewhere
    part        f64[N]   of the segment, for each choice: those of a segment add up to 1
    outcome     f64[T]   R minus the mean of the group
    after       f64[S]   V_j minus the mean of the group;  gain f64[S] V_j - V_{j-1}
    reached     i64[S]   rollouts that V_j is the mean of
    """

    chosen: BOOL
    end: I64
    trajectory: I64
    key: I64
    last: BOOL
    segment: I64
    part: F64
    outcome: F64
    after: F64
    gain: F64
    reached: I64

    def alike(self, batch: Batch, s: int) -> tuple[int, ...]:
        """The same sub-goal in scored rollouts of the group; of very many the first."""
        group = batch.group[self.trajectory] == batch.group[self.trajectory[s]]
        same = group & (self.key == self.key[s]) & ~np.isnan(self.outcome[self.trajectory])
        return tuple(self.end[same][:MOST].tolist()) if self.key[s] >= 0 else (int(self.end[s]),)


def _carried(after: F64, first: BOOL, start: F64) -> F64:
    """The last known value up to each end of a trajectory; before any, `start`."""
    known = np.where(np.isnan(after), -1, np.arange(len(after)))
    opens = np.maximum.accumulate(np.where(first, np.arange(len(after)), 0)) if len(after) else known
    latest = np.maximum.accumulate(known) if len(after) else known
    return np.where(latest >= opens, after[latest], start) if len(after) else after


def _notes(batch: Batch, made: _Segments) -> tuple[Note, ...]:
    """One note a group whose rollouts reached no sub-goal before their end."""
    alone = (np.bincount(made.trajectory, minlength=batch.n_trajectories) == 1) & ~np.isnan(batch.outcome)
    counts = np.bincount(batch.group[alone], minlength=len(batch.group_ids))
    said = "of its rollouts reached no sub-goal before their last choice: one segment each"
    return tuple(
        Note("one-segment", f"{counts[g]} {said}", group=batch.group_ids[g]) for g in np.flatnonzero(counts).tolist()
    )
