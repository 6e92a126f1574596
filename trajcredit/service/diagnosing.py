"""A doctor for the run: ten failure modes, pass@k, diversity, the course of training, a comparison, a checklist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite

import numpy as np

from trajcredit.batching import Batch, Columns, Head, assemble, columns_of
from trajcredit.batching.parents import shared_outcomes
from trajcredit.diagnostics import MODES, Finding, Status, Table, Verdict, seen_of
from trajcredit.diagnostics.checklist import Item, checklist
from trajcredit.diagnostics.comparison import Comparison, compare
from trajcredit.diagnostics.diversity import Diversity, group_diversity
from trajcredit.diagnostics.passk import PassAtK, pass_at_k
from trajcredit.diagnostics.trend import Trend, trend
from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.model import Note, Reward
from trajcredit.service.diagnosing_facts import Asked, reads_texts, table_of
from trajcredit.service.plugins import choose

__all__ = ["Asked", "Diagnosis", "Evidence", "Mode", "Over", "diagnose", "diagnosed"]

MOST_EVIDENCE = 10
"""Trajectories that are named for one failure mode, the worst first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place to look at. `trajectory`: our id where it is stored, else that of the log; `span` null: all of it."""

    trajectory: str
    external_id: str | None
    span: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Mode:
    """One failure mode: figure, 95 % interval and threshold in `unit`, null where they could not be taken."""

    mode: str
    title: str
    status: Status
    figure: float | None
    low: float | None
    high: float | None
    unit: str
    threshold: float | None
    says: str
    needs: str | None
    mitigation: str
    evidence: tuple[Evidence, ...]
    more: int
    """Trajectories beyond the evidence that show it too."""


@dataclass(frozen=True, slots=True)
class Over:
    """What was looked at. `left_out`: trajectories of the selection that were not read, there being too many."""

    trajectories: int
    groups: int
    tasks: int
    scored: int
    reward: str | None
    """The reward that is the outcome."""
    proxy: str | None
    """The reward that is doubted, in reward hacking and over-optimisation."""
    trusted: str | None
    """What it is held against."""
    attributor: str
    pass_at: float
    passed: int
    """Trajectories whose outcome is at least `pass_at`."""
    lowest: float | None
    """Outcome; null where nothing is scored, as `highest`."""
    highest: float | None
    split: str | None
    """Why `pass_at` tells no outcome from another although they differ; null where it does, or they do not."""
    steps: int
    versions: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything there is to say."""

    modes: tuple[Mode, ...]
    over: Over
    pass_at_k: tuple[PassAtK, ...]
    diversity: Diversity
    trend: Trend
    comparison: Comparison | None
    checklist: tuple[Item, ...]
    notes: tuple[Note, ...] = field(default=())
    """What the batch guessed or left out."""


def diagnose(graphs: Sequence[SpanGraph], asked: Asked) -> Diagnosis:
    """Of what was read from files. InputError names an unknown reward, group field, attributor or side."""
    heads = [graph.trajectory for graph in graphs]
    parents = [t.parent.trajectory if t.parent is not None else None for t in heads]
    rewards, notes = shared_outcomes([t.id for t in heads], parents, [t.rewards for t in heads])
    names = [(t.id, None) for t in heads]
    return diagnosed(heads, columns_of(graphs), rewards, graphs, names, asked, notes=notes)


def diagnosed(
    heads: Sequence[Head],
    columns: Columns,
    rewards: Sequence[Sequence[Reward]],
    graphs: Iterable[SpanGraph],
    names: Sequence[tuple[str, str | None]],
    asked: Asked,
    left_out: int = 0,
    notes: Sequence[Note] = (),
) -> Diagnosis:
    """Of trajectories given as columns; graphs come one by one and are let go. `names`: id and external id of each."""
    if not isfinite(asked.pass_at):
        raise InputError(f"pass_at is a finite number, not {asked.pass_at}")
    [choice] = choose([asked.attributor])
    batch = assemble(heads, columns, rewards, asked.reward, asked.group_by, told=notes)
    offsets = batch.span_offsets.tolist()
    kept: list[SpanGraph] | None = [] if reads_texts(choice) else None
    seen = []
    for first, last, graph in zip(offsets, offsets[1:], graphs, strict=False):
        seen.append(seen_of(graph, batch.call_key[first:last].tolist()))
        if kept is not None:
            kept.append(graph)
    table = table_of(batch, columns, rewards, tuple(seen), asked, choice, kept)
    found = {mode: entry.detect(table) for mode, entry in MODES.items()}
    passes, course = pass_at_k(table), trend(table)
    return Diagnosis(
        modes=tuple(_mode(name, verdict, names) for name, verdict in found.items()),
        over=_over(batch, table, asked, left_out),
        pass_at_k=passes,
        diversity=group_diversity(table),
        trend=course,
        comparison=None if asked.compare is None else compare(table, *asked.compare),
        checklist=checklist(table, batch.reward_source, _valued(batch), found, passes, course),
        notes=batch.notes,
    )


def _valued(batch: Batch) -> int:
    """Scored trajectories with a value on every action."""
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    lacking = np.bincount(owner[batch.action_mask & np.isnan(batch.values)], minlength=batch.n_trajectories)
    return int((~np.isnan(batch.outcome) & (lacking == 0)).sum())


def _mode(name: str, verdict: Verdict, names: Sequence[tuple[str, str | None]]) -> Mode:
    entry = MODES[name]
    some = tuple(islice(verdict.evidence, MOST_EVIDENCE))
    return Mode(
        mode=name,
        title=entry.title,
        status=verdict.status,
        figure=verdict.figure,
        low=verdict.low,
        high=verdict.high,
        unit=entry.unit,
        threshold=verdict.threshold,
        says=verdict.says,
        needs=verdict.needs,
        mitigation=entry.mitigation,
        evidence=tuple(_evidence(one, names) for one in some),
        more=len({one.t for one in verdict.evidence} - {one.t for one in some}),
    )


def _evidence(found: Finding, names: Sequence[tuple[str, str | None]]) -> Evidence:
    return Evidence(*names[found.t], found.span, found.says)


def _over(batch: Batch, table: Table, asked: Asked, left_out: int) -> Over:
    return Over(
        trajectories=batch.n_trajectories,
        groups=len(batch.group_ids),
        tasks=len(np.unique(table.task)),
        scored=int(table.scored.sum()),
        reward=batch.reward_source if asked.reward is None else asked.reward,
        proxy=table.proxy_name,
        trusted=table.trusted_name,
        attributor=table.attributor,
        pass_at=asked.pass_at,
        passed=int(table.passed.sum()),
        lowest=None if table.bounds is None else table.bounds[0],
        highest=None if table.bounds is None else table.bounds[1],
        split=table.split,
        steps=len({one.step for one in table.seen} - {None}),
        versions=len({one.policy_version for one in table.seen} - {None}),
        left_out=left_out,
    )
