"""What is used of a judge's columns: which trajectories were judged, what every step did, what has to be said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.kernels.crossfit import calibrated_states
from trajcredit.kernels.folds import FOLDS, folds_of
from trajcredit.model import Note

__all__ = ["LEAST_GROUPS", "Opinions", "opinions"]

LEAST_GROUPS = 10
"""Groups with a score and an outcome that a map needs: of fewer nothing is claimed of a judge's reliability either."""
REASONS = 2
"""Reasons for what could not be judged that a note quotes."""


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """What a judge says of a batch.

    known    bool[N]  actions that it has an opinion on
    judged   bool[T]  trajectories with one such action at least
    steps    f64[N]   by how much the score moved at each action; 0 without an opinion, and on observations
    taught   i64[2]   where scores were calibrated: outcomes and groups that the maps rest on; else None
    """

    known: BOOL
    judged: BOOL
    steps: F64
    taught: tuple[int, int] | None = None

    def notes(self, batch: Batch) -> Iterator[Note]:
        """Who has no opinion, and why; what a calibrating map rests on."""
        acting = _counted(batch, batch.action_mask) > 0
        missing = acting & ~self.judged
        if missing.any():
            yield Note("judge-unscored", _unscored(batch, missing, int(acting.sum())))
        asked = batch.action_mask & self.judged[_owner(batch)]
        silent, whole = int((asked & ~self.known).sum()), int(asked.sum())
        if silent:
            said = f"the judge has no opinion on {silent:,} of the {whole:,} actions of trajectories that it judged"
            yield Note("judge-silent", f"{said}: its part is 0 there")
        if self.taught is not None:
            n, groups = self.taught
            said = f"the judge's scores are calibrated, out of fold, on {n:,} outcomes of {groups:,} groups"
            flat = "" if self.steps.any() else ": every map is flat, its scores tell nothing of outcomes, its part is 0"
            yield Note("judge-calibrated", said + flat)


def opinions(batch: Batch, calibrate: bool) -> Opinions:
    """The judge's columns of a batch, as they are or calibrated.

    With `calibrate` the scores, and the start, are put on the scale of outcomes by isotonic maps, each fitted on the
    groups of other folds (`kernels.crossfit`); folds follow from the names of groups. InputError where scores and
    outcomes are in fewer than LEAST_GROUPS groups, or outcomes do not differ.
    """
    scores, start, taught = batch.scores, batch.score_start, None
    if calibrate:
        taught = _taught(batch)
        scores, start = calibrated_states(
            scores,
            np.where(np.isnan(start), 1.0, start),  # as `score_deltas` reads it
            batch.action_mask,
            batch.span_offsets,
            batch.outcome,
            folds_of(batch.group_ids, FOLDS)[batch.group],
        )
    known = batch.action_mask & ~np.isnan(scores)
    steps = kernels.score_deltas(scores, start, batch.action_mask, batch.span_offsets)
    return Opinions(known, _counted(batch, known) > 0, steps, taught)


def _taught(batch: Batch) -> tuple[int, int]:
    """Outcomes and groups that there are to calibrate on."""
    scored = _counted(batch, batch.action_mask & ~np.isnan(batch.scores)) > 0
    there = scored & ~np.isnan(batch.outcome)
    n, groups = int(there.sum()), len(np.unique(batch.group[there]))
    if groups < LEAST_GROUPS:
        few = f"scores and outcomes in {LEAST_GROUPS} groups at least, and there are {groups:,}"
        raise InputError(f"judge: calibrate=true takes {few}: leave it out, or score more tasks together")
    if len(np.unique(batch.outcome[there])) < 2:
        raise InputError(f"judge: calibrate=true takes outcomes that differ, and all {n:,} of judged runs are equal")
    return n, groups


def _unscored(batch: Batch, missing: BOOL, whole: int) -> str:
    names = {batch.trajectory_ids[t] for t in np.flatnonzero(missing).tolist()}
    reasons = Counter(note.message for note in batch.notes if note.code == "unjudged" and note.trajectory in names)
    told = [f"{reason} ({n:,} of them)" for reason, n in reasons.most_common(REASONS)]
    if len(reasons) > REASONS:
        told.append(f"and {len(reasons) - REASONS:,} other reasons")
    why = "; ".join(told) or "it has no opinion on any of their actions"
    return f"{len(names):,} of {whole:,} trajectories have no score of the judge, and get no credit: {why}"


def _owner(batch: Batch) -> I64:
    return np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))


def _counted(batch: Batch, mask: BOOL) -> I64:
    return np.bincount(_owner(batch)[mask], minlength=batch.n_trajectories)
