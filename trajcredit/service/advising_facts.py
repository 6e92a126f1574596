"""What a data set offers an attributor, counted: outcomes, siblings, values, states, tools, edges."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import msgspec
import numpy as np

from trajcredit import critics, kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.doubly_robust import DoublyRobust
from trajcredit.attributors.skill import skills
from trajcredit.attributors.steps import steps_of
from trajcredit.batching import Batch, decisions
from trajcredit.critics.filling import LEAST_GROUPS
from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.kernels.draws import HIGH, LOW, weights
from trajcredit.kernels.visits import first_visits, visitors
from trajcredit.model import KIND_CODES
from trajcredit.service.advising_judge import Unheard, checked, unheard
from trajcredit.service.trusting_note import Check

__all__ = ["LEAST_GROUPS", "Facts", "facts_of"]

DRAWS = 2000
DATA = [EDGE_KINDS.index(kind) for kind in ("value", "state")]


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts over the trajectories of a batch; groups count their scored members only."""

    trajectories: int
    scored: int
    source: str | None
    """Who gave the rewards."""
    preferences: int
    """Trajectories whose log only prefers one answer to another."""
    repeated: int
    """Trajectories that equal an earlier one span by span, call ids and times included where they are logged."""
    outcomes_differ: bool
    groups: int
    """With a scored member."""
    singles: int
    uniform: int
    """With siblings whose outcomes are all equal."""
    mixed: int
    """With siblings whose outcomes differ."""
    rollouts: float
    """Scored members of a group, median; `smallest` and `largest` likewise."""
    smallest: int
    largest: int
    dense: int
    """Scored trajectories with reward on an action before the last."""
    choices: float
    """Calls, and last words of turns without calls, of a scored trajectory: median."""
    valued: int
    """Scored trajectories with a value on every action, and after the end where they were cut off."""
    critic_error: float | None
    """Squared error of logged values over that of the mean of the siblings; null where it cannot be told."""
    critic_low: float | None
    critic_high: float | None
    steps: int
    """Steps of scored trajectories with siblings, after their first."""
    met: int
    """Of these the ones taken in a state that a sibling came to."""
    pools: tuple[int, ...]
    """Groups with siblings in each pool of tasks that share tools."""
    compared: int
    """Scored trajectories with siblings."""
    fitted: int
    """Of these the ones whose pool is large enough for a critic, small pools put together."""
    merged: int
    """Of these the ones of small pools that are put together."""
    believed: int
    """Of these the ones in whose pool the fitted critic's forecasts foretell outcomes out of fold."""
    slopes: tuple[float, ...]
    """Of outcomes on forecasts, out of fold, one a pool that has a model: 1 is right as it stands."""
    actions: int
    off_path: int
    """Actions that no path leads from to the outcome, its answer or an effect."""
    calls: int
    """On a path to the outcome, of scored trajectories with siblings."""
    alike: int
    """Of these the ones that a sibling made too: same tool, same arguments."""
    edges: int
    data_edges: int
    effects: int
    """Calls that changed state and did not fail."""
    judged: int
    calibration: Check
    """Of these scores, else of the rules, where outcomes can tell."""
    unheard: Unheard
    """Failed runs that outcomes say nothing of, and what rules find in them."""
    informed: int
    """Scored trajectories with log-probs of the known answer on every turn."""
    answered: int
    """Scored trajectories that state the known answer."""

    @property
    def critic_trusted(self) -> bool:
        """The error is below the spread of returns by its whole interval."""
        return self.critic_high is not None and self.critic_high < 1


def facts_of(batch: Batch) -> Facts:
    """Everything counted. InputError where the batch has no transcripts."""
    if batch.graphs is None:
        raise InputError("advice is about transcripts, and this batch was loaded without them")
    scored = ~np.isnan(batch.outcome)
    sizes = np.bincount(batch.group[scored], minlength=len(batch.group_ids))
    differ = _differing(batch, scored)
    known = sizes[sizes > 0]
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    choices = np.bincount(owner[decisions(batch)], minlength=batch.n_trajectories)[scored]
    valued = _valued(batch, owner, scored)
    error = _critic_error(batch, owner, valued)
    siblings = scored & (sizes[batch.group] > 1)
    met, steps = _shared_steps(batch, siblings)
    pools, fitted, merged = _pools(batch, siblings)
    trusted, slopes = _skill(batch, siblings) if fitted else (np.zeros(batch.n_trajectories, dtype=bool), ())
    _, on_path = Dag().shares(batch)
    calls, alike = _calls(batch, owner, siblings, on_path)
    return Facts(
        trajectories=batch.n_trajectories,
        scored=int(scored.sum()),
        source=batch.reward_source,
        preferences=sum(any(n.code == "preference" for n in g.trajectory.report) for g in batch.graphs),
        repeated=batch.n_trajectories - len({_content(graph) for graph in batch.graphs}),
        outcomes_differ=len(np.unique(batch.outcome[scored])) > 1,
        groups=len(known),
        singles=int((known == 1).sum()),
        uniform=int(((sizes > 1) & ~differ).sum()),
        mixed=int(differ.sum()),
        rollouts=float(np.median(known)) if len(known) else 0.0,
        smallest=int(known.min(initial=known.max(initial=0))),
        largest=int(known.max(initial=0)),
        dense=_dense(batch, owner, scored),
        choices=float(np.median(choices)) if len(choices) else 0.0,
        valued=int(valued.sum()),
        critic_error=error[0],
        critic_low=error[1],
        critic_high=error[2],
        steps=steps,
        met=met,
        pools=pools,
        compared=int(siblings.sum()),
        fitted=fitted,
        merged=merged,
        believed=int((siblings & trusted).sum()),
        slopes=slopes,
        actions=int(batch.action_mask.sum()),
        off_path=int((batch.action_mask & ~on_path).sum()),
        calls=calls,
        alike=alike,
        edges=len(batch.parents),
        data_edges=int(np.isin(batch.parent_kind, DATA).sum()),
        effects=int((batch.is_write & ~batch.is_error & batch.action_mask).sum()),
        judged=int((~np.isnan(batch.scores) & batch.action_mask).sum()),
        calibration=checked(batch),
        unheard=unheard(batch, differ, trusted),
        informed=_informed(batch, owner, scored),
        answered=sum(batch.graphs[t].trajectory.answer is not None for t in np.flatnonzero(scored)),
    )


def _content(graph: SpanGraph) -> bytes:
    """A hash of all spans as they were read, but for the place in their log."""
    spans = [msgspec.structs.replace(span, message_index=None) for span in graph.trajectory.spans]
    return sha256(msgspec.json.encode(spans)).digest()


def _differing(batch: Batch, scored: BOOL) -> BOOL:
    """bool[G]: groups whose scored outcomes are not all equal."""
    low, high = np.full(len(batch.group_ids), np.inf), np.full(len(batch.group_ids), -np.inf)
    np.minimum.at(low, batch.group[scored], batch.outcome[scored])
    np.maximum.at(high, batch.group[scored], batch.outcome[scored])
    return low < high


def _dense(batch: Batch, owner: I64, scored: BOOL) -> int:
    """Trajectories with reward on an action that is not their last."""
    actions = np.flatnonzero(batch.action_mask)
    last = np.full(batch.n_trajectories, -1, dtype=np.int64)
    last[owner[actions]] = actions
    early = actions[(batch.rewards[actions] != 0) & (actions != last[owner[actions]]) & scored[owner[actions]]]
    return len(np.unique(owner[early]))


def _valued(batch: Batch, owner: I64, scored: BOOL) -> BOOL:
    """bool[T]: what `gae` can score."""
    lacking = np.bincount(owner[batch.action_mask & np.isnan(batch.values)], minlength=batch.n_trajectories)
    valued: BOOL = scored & (lacking == 0) & ~np.isnan(batch.bootstrap)
    return valued


def _critic_error(batch: Batch, owner: I64, valued: BOOL) -> tuple[float | None, float | None, float | None]:
    """Mean over trajectories of (G - V)^2 over its actions, against (R - b)^2, with a 95 % interval by groups.

    G is the return from the action on, b the mean outcome of the siblings, of all others where there are none: what
    one would forecast without a critic. Fewer than LEAST_GROUPS groups tell nothing.
    """
    members, groups = np.flatnonzero(valued), np.unique(batch.group[valued])
    if len(groups) < LEAST_GROUPS:
        return None, None, None
    at = batch.action_mask & valued[owner]
    reward = np.where(at, batch.rewards, 0.0)
    paid = np.cumsum(reward) - reward
    start = paid[batch.span_offsets[:-1].clip(max=max(batch.n_spans - 1, 0))]
    ahead = batch.outcome[owner] - (paid - start[owner])
    error = np.where(at, (ahead - batch.values) ** 2, 0.0)
    count = np.bincount(owner[at], minlength=batch.n_trajectories)
    mean = np.bincount(owner, error, minlength=batch.n_trajectories)[members] / np.maximum(count[members], 1)
    spread = (batch.outcome[members] - _without_own(batch, members)) ** 2
    which = np.searchsorted(groups, batch.group[members])
    sums = np.column_stack([np.bincount(which, column, minlength=len(groups)) for column in (mean, spread)])
    if sums[:, 1].sum() == 0:
        return None, None, None
    drawn = np.array([w @ sums for w in weights(np.zeros(len(groups), dtype=np.int64), DRAWS, 0)])
    ratio = drawn[:, 0] / np.where(drawn[:, 1] > 0, drawn[:, 1], np.nan)
    low, high = np.nanpercentile(ratio, [LOW, HIGH])
    return float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high)


def _without_own(batch: Batch, members: I64) -> F64:
    """Mean outcome of the scored siblings of each member, of all others where it has none."""
    known = ~np.isnan(batch.outcome)
    reward = np.where(known, batch.outcome, 0.0)
    n = np.bincount(batch.group[known], minlength=len(batch.group_ids))[batch.group[members]] - 1
    total = np.bincount(batch.group, reward, minlength=len(batch.group_ids))[batch.group[members]] - reward[members]
    overall = (reward.sum() - reward[members]) / max(int(known.sum()) - 1, 1)
    return np.where(n > 0, total / np.maximum(n, 1), overall)


def _shared_steps(batch: Batch, siblings: BOOL) -> tuple[int, int]:
    """Steps after the first that were taken in a state that a sibling came to, and all such steps."""
    steps = steps_of(batch, 1.0)
    first = np.append(True, steps.trajectory[1:] != steps.trajectory[:-1])[: len(steps.start)]
    counted = first_visits(steps.node, steps.trajectory) & siblings[steps.trajectory]
    later = siblings[steps.trajectory] & ~first
    return int((later & (visitors(steps.node, counted) > 1)).sum()), int(later.sum())


def _calls(batch: Batch, owner: I64, siblings: BOOL, on_path: BOOL) -> tuple[int, int]:
    """Calls on a path to the outcome, and how many of them a sibling made too."""
    made = np.flatnonzero(batch.action_mask & (batch.kind == KIND_CODES["tool_call"]) & siblings[owner])
    key = np.unique(batch.call_key[made], return_inverse=True)[1].astype(np.int64)
    known, call = np.unique(np.column_stack([batch.group[owner[made]], key]), axis=0, return_inverse=True)
    rollouts = np.unique(np.column_stack([call.ravel(), owner[made]]), axis=0)[:, 0]
    makers = np.bincount(rollouts, minlength=len(known))[call.ravel()]
    return int(on_path[made].sum()), int((on_path[made] & (makers > 1)).sum())


def _pools(batch: Batch, siblings: BOOL) -> tuple[tuple[int, ...], int, int]:
    """Groups with siblings of each pool; scored trajectories with siblings that get a critic; those by merging."""
    groups = {int(p): len(np.unique(batch.group[(batch.pool == p) & siblings])) for p in np.unique(batch.pool)}
    small = np.isin(batch.pool, [p for p, n in groups.items() if n < LEAST_GROUPS]) & siblings
    together = len(np.unique(batch.group[small])) >= LEAST_GROUPS
    merged = int(small.sum()) if together else 0
    return tuple(groups.values()), int((siblings & ~small).sum()) + merged, merged


def _skill(batch: Batch, siblings: BOOL) -> tuple[BOOL, tuple[float, ...]]:
    """Fit the critic of `doubly_robust`: bool[T] whether it has skill in their pool, and the slope in each pool."""
    filled, chosen = critics.fill(batch, DoublyRobust.default_critic), decisions(batch)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    forecast = np.nan_to_num(filled.advantage_forecast[chosen])
    total = np.bincount(owner[chosen], forecast, minlength=batch.n_trajectories).astype(np.float64)
    against = kernels.leave_one_out(kernels.centre(batch.outcome, batch.group), batch.group)
    found = skills(against, total, batch.group, batch.pool, siblings.astype(np.float64))
    sure = [pool for pool, skill in found.items() if skill.trusted > 0]
    slopes = tuple(skill.slope for skill in found.values() if np.isfinite(skill.error))
    return np.isin(batch.pool, sure), slopes


def _informed(batch: Batch, owner: I64, scored: BOOL) -> int:
    """Trajectories with a log-prob at the first action of every turn."""
    steps = steps_of(batch, 1.0)
    lacking = np.bincount(steps.trajectory[~np.isfinite(batch.info[steps.start])], minlength=batch.n_trajectories)
    some = np.bincount(owner[batch.action_mask], minlength=batch.n_trajectories) > 0
    return int((scored & some & (lacking == 0)).sum())
