"""Rollouts to train on: passing ones as fine-tuning rows, pairs that prefer one to another, trajectories to score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isnan

import msgspec
import numpy as np

from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory, encode
from trajcredit.service.selecting_chats import NOTES, Chat, chat_of, sft_row
from trajcredit.service.selecting_lag import current_version, withheld
from trajcredit.service.selecting_pairs import Pair, Told, pair_row, parted, told
from trajcredit.service.selecting_terms import PAIR_REASONS, REASONS, Failed, Summary, Terms

__all__ = ["NOTES", "PAIR_REASONS", "REASONS", "Failed", "Selected", "Summary", "Terms", "lines", "select"]

SLACK = 1e-9
"""Sums of span rewards may miss a threshold by so little through rounding alone (ten times 0.1 is not quite 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """What to write, and what there is to say about it. Positions are those of trajectories in the batch."""

    batch: Batch
    terms: Terms
    summary: Summary
    failed: tuple[Failed, ...]
    taken: tuple[int, ...]
    """In the order of the batch; where pairs were asked for, the rollouts in them."""
    pairs: tuple[Pair, ...] = ()


def select(batch: Batch, terms: Terms) -> Selected:
    """The rollouts of a batch that meet the terms.

    Of two rollouts the better has the greater outcome, then fewer action spans, then the smaller id (compared as text).
    A rollout that would be taken but for something wrong with it is among the failed; the rest goes on. InputError
    where the batch has no transcripts.
    """
    pool = _pool(batch)
    current = current_version(pool.trajectories, terms)
    for t, code, reason in withheld(pool.trajectories, current, terms.max_lag):
        if not isnan(pool.outcome[t]):
            pool.leave_out([t], code)
            if code == "odd-version":
                pool.failed.append(Failed(pool.trajectories[t].id, code, reason))
    if terms.zero_variance == "drop":
        for group in pool.groups:
            pool.leave_out(group if _is_even(pool, group) else [], "zero-variance")
    pairs, refused = _paired(pool, terms) if terms.to == "pairs" else ((), Counter[str]())
    if terms.to != "pairs":
        _take_rollouts(pool, terms)
    taken = tuple(t for t in range(len(pool.trajectories)) if t not in pool.fate)
    summary = _summary(pool, terms, current, taken, pairs, refused)
    return Selected(batch, terms, summary, tuple(pool.failed), taken, pairs)


def lines(selected: Selected) -> Iterator[bytes]:
    """The rows as JSON lines with their line feeds, made one by one."""
    batch, form = selected.batch, selected.terms.to
    if form == "pairs":
        chats: dict[int, Told] = {}
        for pair in selected.pairs:
            yield msgspec.json.encode(_pair_row(batch, pair, chats)) + b"\n"
    for t in selected.taken if form != "pairs" else ():
        trajectory = _trajectory(batch, t)
        row = sft_row(trajectory, _group_id(batch, t), float(batch.outcome[t])) if form == "sft" else None
        yield (msgspec.json.encode(row) if row is not None else encode(trajectory)) + b"\n"


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """A batch as it is chosen from. `fate` says why a rollout is out; who has none is still in."""

    batch: Batch
    trajectories: tuple[Trajectory, ...]
    outcome: list[float]
    n_actions: list[int]
    groups: list[list[int]]
    fate: dict[int, str] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)
    chats: dict[int, Chat] = field(default_factory=dict)

    def leave_out(self, which: Sequence[int], code: str) -> None:
        """These are out for that reason, unless they were out before."""
        for t in which:
            self.fate.setdefault(t, code)

    def left(self, which: Sequence[int]) -> list[int]:
        return [t for t in which if t not in self.fate]

    def best_first(self, which: Sequence[int]) -> list[int]:
        return sorted(which, key=lambda t: (-self.outcome[t], self.n_actions[t], self.trajectories[t].id))

    def scored(self, group: Sequence[int]) -> list[int]:
        return [t for t in group if not isnan(self.outcome[t])]

    def can_be_written(self, t: int) -> bool:
        """Whether a chat can be made of it; else it has failed."""
        if t not in self.chats and t not in self.fate:
            try:
                self.chats[t] = chat_of(self.trajectories[t])
            except InputError as error:
                self.leave_out([t], "no-chat")
                self.failed.append(Failed(self.trajectories[t].id, "no-chat", str(error)))
        return t in self.chats


def _pool(batch: Batch) -> _Pool:
    trajectories = tuple(_trajectory(batch, t) for t in range(batch.n_trajectories))
    before = np.concatenate([[0], np.cumsum(batch.action_mask)])[batch.span_offsets]
    groups: list[list[int]] = [[] for _ in batch.group_ids]
    for t, group in enumerate(batch.group.tolist()):
        groups[group].append(t)
    pool = _Pool(batch, trajectories, batch.outcome.tolist(), np.diff(before).tolist(), groups)
    pool.leave_out([t for t, outcome in enumerate(pool.outcome) if isnan(outcome)], "unscored")
    return pool


def _take_rollouts(pool: _Pool, terms: Terms) -> None:
    """Leave out whatever fails, is there already, or is one too many."""
    for group in pool.groups:
        pool.leave_out([t for t in group if not _passes(pool.outcome[t], terms)], "below")
        kept: set[Hashable] = set()
        n = 0
        for t in pool.best_first(pool.left(group)):
            deed = _deed(pool, t) if terms.distinct else t
            if terms.best_of is not None and n == terms.best_of:
                pool.leave_out([t], "beyond-best-of")
            elif deed in kept:
                pool.leave_out([t], "duplicate")
            elif terms.to == "jsonl" or pool.can_be_written(t):
                kept.add(deed)
                n += 1
    if terms.per_task is not None:
        tasks: dict[Hashable, list[int]] = {}
        for t in pool.left(range(len(pool.trajectories))):
            tasks.setdefault(_task(pool, t), []).append(t)
        for own in tasks.values():
            pool.leave_out(pool.best_first(own)[terms.per_task :], "beyond-per-task")


def _paired(pool: _Pool, terms: Terms) -> tuple[tuple[Pair, ...], Counter[str]]:
    """Pairs of a pass and a fail in the order of groups, and why others are none; whoever is in none is left out."""
    refused: Counter[str] = Counter()
    tasks: dict[Hashable, list[Pair]] = {}
    for group in pool.groups:
        passing = [t for t in pool.best_first(pool.left(group)) if _passes(pool.outcome[t], terms)]
        failing = [t for t in pool.best_first(pool.left(group)) if not _passes(pool.outcome[t], terms)]
        if not passing or not failing:
            continue
        chosen, rejected = (_distinct(pool, side, terms) for side in (passing, failing))
        chats = {t: _told(pool.batch, t, pool.chats[t]) for t in (*chosen, *rejected)}
        found: list[Pair] = []
        for a, b in product(chosen, rejected):
            shared = parted(chats[a], chats[b])
            if isinstance(shared, str):
                refused[shared] += 1
            else:
                found.append(Pair(a, b, shared))
        found.sort(key=lambda pair: -pair.shared)  # stable: then the better chosen, then the better rejected
        most = len(found) if terms.best_of is None else terms.best_of
        refused["beyond-best-of"] += len(found[most:])
        for pair in found[:most]:
            tasks.setdefault(_task(pool, pair.chosen), []).append(pair)
    pairs = []
    for own in tasks.values():
        own.sort(key=lambda pair: -pair.shared)
        most = len(own) if terms.per_task is None else terms.per_task
        refused["beyond-per-task"] += len(own[most:])
        pairs += own[:most]
    held = {t for pair in pairs for t in (pair.chosen, pair.rejected)}
    pool.leave_out([t for t in range(len(pool.trajectories)) if t not in held], "unpaired")
    return tuple(pairs), +refused


def _distinct(pool: _Pool, ranked: Sequence[int], terms: Terms) -> list[int]:
    """Those that can be written, best first; of those that did the same, where it is asked for, the best."""
    kept: dict[Hashable, int] = {}
    for t in ranked:
        deed = _deed(pool, t) if terms.distinct else t
        if deed in kept:
            pool.leave_out([t], "duplicate")
        elif pool.can_be_written(t):
            kept[deed] = t
    return list(kept.values())


def _passes(outcome: float, terms: Terms) -> bool:
    least = terms.threshold
    return least is None or outcome >= least - SLACK * max(1.0, abs(least))


def _is_even(pool: _Pool, group: Sequence[int]) -> bool:
    """Two or more scored rollouts, all with one outcome: equality of the raw numbers, as baselines test it."""
    outcomes = [pool.outcome[t] for t in pool.scored(group)]
    return len(outcomes) > 1 and len(set(outcomes)) == 1


def _deed(pool: _Pool, t: int) -> Hashable:
    """Equal for rollouts that made the same calls in the same order; without any call, for those that said the same."""
    first, last = pool.batch.span_offsets[t : t + 2].tolist()
    calls = tuple(key for key in pool.batch.call_key[first:last].tolist() if key)
    return calls or tuple(span.text for span in pool.trajectories[t].spans if span.kind == "assistant")


def _task(pool: _Pool, t: int) -> Hashable:
    own = pool.trajectories[t]
    if own.task is None:
        return int(pool.batch.group[t])
    return own.project, own.dataset, own.task, own.role


def _trajectory(batch: Batch, t: int) -> Trajectory:
    if batch.graphs is None:
        raise InputError("the batch has no transcripts: rollouts are selected from logs")
    return batch.graphs[t].trajectory


def _group_id(batch: Batch, t: int) -> str:
    return batch.group_ids[int(batch.group[t])]


def _told(batch: Batch, t: int, chat: Chat) -> Told:
    first, last = batch.span_offsets[t : t + 2].tolist()
    return told(_trajectory(batch, t), chat.messages, batch.call_key[first:last].tolist())


def _pair_row(batch: Batch, pair: Pair, chats: dict[int, Told]) -> dict[str, object]:
    for t in (pair.chosen, pair.rejected):
        if t not in chats:
            chats[t] = _told(batch, t, chat_of(_trajectory(batch, t)))
    outcomes = {name: float(batch.outcome[t]) for name, t in (("chosen", pair.chosen), ("rejected", pair.rejected))}
    return {
        **pair_row(chats[pair.chosen], chats[pair.rejected], pair.shared),
        "group_id": _group_id(batch, pair.chosen),
        "chosen_outcome": outcomes["chosen"],
        "rejected_outcome": outcomes["rejected"],
    }


def _summary(
    pool: _Pool,
    terms: Terms,
    current: float | None,
    taken: Sequence[int],
    pairs: Sequence[Pair],
    refused: Counter[str],
) -> Summary:
    scored = [own for own in map(pool.scored, pool.groups) if own]
    outcomes = [pool.outcome[t] for own in scored for t in own]
    passes = [[_passes(pool.outcome[t], terms) for t in own] for own in scored]
    fates, notes = (
        Counter(pool.fate.values()),
        Counter(n for t in taken if t in pool.chats for n in pool.chats[t].notes),
    )
    known = terms.threshold is not None
    return Summary(
        to=terms.to,
        pass_at=terms.threshold,
        best_outcome=max(outcomes, default=None),
        read=len(pool.trajectories),
        scored=len(outcomes),
        passing=sum(map(sum, passes)) if known else None,
        groups=len(scored),
        groups_without_pass=sum(not any(own) for own in passes) if known else None,
        groups_without_fail=sum(all(own) for own in passes) if known else None,
        groups_zero_variance=sum(_is_even(pool, own) for own in scored),
        current_version=current,
        rows=len(pairs) if terms.to == "pairs" else len(taken),
        trajectories=len(taken),
        dropped={code: fates[code] for code in REASONS if fates[code]},
        pairs_dropped={code: refused[code] for code in PAIR_REASONS if refused[code]},
        notes={code: notes[code] for code in NOTES if notes[code]},
    )
