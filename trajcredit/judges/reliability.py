"""How far a judge can be trusted: all that can be told from its scores, outcomes, labels and other judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.errors import InputError
from trajcredit.judges.agreement import DEAD_ZONE, Agreement, SelfConsistency, agreement, self_consistency
from trajcredit.judges.base_rate import BaseRate, worse_than_base_rate
from trajcredit.judges.biases import LengthBias, PositionBias, length_bias, position_bias
from trajcredit.judges.calibration import Calibration, auc, calibration
from trajcredit.judges.crossfit import cross_fitted, folds
from trajcredit.judges.estimates import Estimate, Sampling
from trajcredit.judges.states import owners

__all__ = ["LABELS", "PASSED", "Reliability", "Scale", "Segments", "passed_of", "reliability"]

Scale: TypeAlias = Literal["state", "credit"]
"""What a judge gives: a score in [0, 1] of the state after an action, or a credit in [-1, 1] to a segment."""
PASSED = 0.5
"""A run passed with an outcome of at least this."""
LABELS = "labels"
"""The name that people go by among the judges."""


@dataclass(frozen=True, slots=True)
class Segments:
    """What a judge says of the S segments (or spans) of T trajectories.

    offsets     i64[T+1]     trajectory t owns segments offsets[t]:offsets[t+1]
    credit      f64[S]       its credit, or the step of its score; NaN = not scored
    characters  f64[S]       length of the text that was judged; None: not known
    """

    offsets: I64
    credit: F64
    characters: F64 | None = None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Of one judge. Whole parts that cannot be told are null, and `without` says why by the name of the part."""

    scale: Scale
    trajectories: int
    """Those with a final score and an outcome: all but the parts on segments are about these."""
    groups: int
    passed: int
    """How many of them passed: an outcome of at least PASSED."""
    unscored: int
    """Trajectories without a final score."""
    no_outcome: int
    """Trajectories with a score and no outcome yet."""
    auc: Estimate
    """The chance that a run that passed has the larger final score, 0 to 1; 0.5 is a coin."""
    raw: Calibration | None
    """Of the final scores as they are."""
    calibrated: Calibration | None
    """Of the final scores under an isotonic map that was fitted on other groups."""
    against_base_rate: tuple[BaseRate, ...]
    position: PositionBias | None
    length: LengthBias | None
    consistency: SelfConsistency | None
    agreement: tuple[Agreement, ...]
    """With each other judge by name, then with labels."""
    without: dict[str, str]
    draws: int
    seed: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before the scores are used."""
        return tuple(one.says for one in self.against_base_rate if one.warns)


def passed_of(outcome: F64) -> F64:
    """f64[T]: 1 where the outcome is at least PASSED, 0 below, NaN where there is none."""
    return np.where(np.isnan(outcome), np.nan, (outcome >= PASSED).astype(np.float64))


def reliability(
    final_score: F64,
    outcome: F64,
    group: I64,
    scale: Scale = "state",
    *,
    characters: F64 | None = None,
    segments: Segments | None = None,
    repeats: F64 | None = None,
    others: Mapping[str, F64] | None = None,
    labels: F64 | None = None,
    dead_zone: float = DEAD_ZONE,
    sampling: Sampling | None = None,
) -> Reliability:
    """Everything at once.

    final_score  f64[T]     score after the last action, in [0, 1]; of a `credit` judge its credits added up; NaN = none
    outcome      f64[T]     NaN = none yet
    group        i64[T]     rollouts of one task: what is drawn for intervals, and what a calibrating map leaves out
    characters   f64[T]     length of what was judged
    segments                what it says of each segment: for position, length, consistency and agreement
    repeats      f64[R, S]  its credits when it was asked again and again, `segments.credit` one of them or not
    others       f64[S]     credits of other judges by name
    labels       f64[S]     -1, 0 or 1 of people; NaN = not labelled
    dead_zone               credit up to this size is neutral

    InputError names an argument of the wrong length, or with a number out of range.
    """
    sampling = sampling or Sampling()
    scored = ~np.isnan(final_score)
    _check(final_score, outcome, group, scale, characters)
    passed = passed_of(outcome)
    known = scored & ~np.isnan(passed)
    score, hit, own, fold = final_score[known], passed[known], group[known], folds(group)[known]
    without: dict[str, str] = {}
    mapped = cross_fitted(score, hit, np.ones(len(score)), fold)
    raw = _calibration("raw", score, hit, own, sampling, without) if scale == "state" else None
    if scale == "credit":
        without["raw"] = "a sum of credits is no probability; see `calibrated`"
    against = [worse_than_base_rate(score, hit, own, own, "raw", sampling)] if scale == "state" else []
    against.append(worse_than_base_rate(mapped, hit, fold, own, "calibrated", sampling))
    consistency: SelfConsistency | None = None
    position: PositionBias | None = None
    agreed: tuple[Agreement, ...] = ()
    if segments is None:
        without |= dict.fromkeys(("position", "consistency", "agreement"), "no segments were given")
    else:
        _check_segments(segments, len(group), repeats, {**(others or {}), LABELS: labels})
        position = position_bias(segments.credit, segments.offsets, passed, group, sampling)
        of_segment = group[owners(segments.offsets)]
        consistency = _consistency(repeats, of_segment, dead_zone, sampling, without)
        agreed = _agreements(segments.credit, others or {}, labels, of_segment, dead_zone, sampling, without)
    return Reliability(
        scale=scale,
        trajectories=int(known.sum()),
        groups=len(np.unique(own)),
        passed=int(hit.sum()),
        unscored=int((~scored).sum()),
        no_outcome=int((scored & ~known).sum()),
        auc=auc(score, hit, own, sampling),
        raw=raw,
        calibrated=_calibration("calibrated", mapped, hit, own, sampling, without),
        against_base_rate=tuple(against),
        position=position,
        length=_length(final_score, characters, passed, group, segments, sampling, without),
        consistency=consistency,
        agreement=agreed,
        without=without,
        draws=sampling.draws,
        seed=sampling.seed,
    )


def _calibration(
    part: str, score: F64, passed: F64, group: I64, sampling: Sampling, without: dict[str, str]
) -> Calibration | None:
    """Null where nothing is left; `without` is told."""
    there = ~np.isnan(score)
    if there.any():
        return calibration(score[there], passed[there], group[there], sampling)
    nothing = "no trajectory has a score and an outcome"
    without[part] = "no other fold of groups has an outcome to calibrate on" if len(score) else nothing
    return None


def _length(
    final: F64,
    characters: F64 | None,
    passed: F64,
    group: I64,
    segments: Segments | None,
    sampling: Sampling,
    without: dict[str, str],
) -> LengthBias | None:
    if characters is None:
        without["length"] = "the lengths of what was judged were not given"
        return None
    if segments is None or segments.characters is None:
        without["length.segment"] = "the lengths of segments were not given"
        return length_bias(final, characters, passed, group, sampling)
    pieces = segments.credit, segments.characters, segments.offsets
    return length_bias(final, characters, passed, group, sampling, pieces)


def _consistency(
    repeats: F64 | None, group: I64, dead_zone: float, sampling: Sampling, without: dict[str, str]
) -> SelfConsistency | None:
    if repeats is None or len(repeats) < 2:
        without["consistency"] = "the judge was asked once: it takes two repeats"
        return None
    return self_consistency(repeats, group, sampling, dead_zone)


def _agreements(
    credit: F64,
    others: Mapping[str, F64],
    labels: F64 | None,
    group: I64,
    dead_zone: float,
    sampling: Sampling,
    without: dict[str, str],
) -> tuple[Agreement, ...]:
    against = {**others, **({} if labels is None else {LABELS: labels})}
    if not against:
        without["agreement"] = "no other judge and no labels were given"
    return tuple(agreement(credit, other, group, name, sampling, dead_zone) for name, other in against.items())


def _check(final: F64, outcome: F64, group: I64, scale: str, characters: F64 | None) -> None:
    if scale not in get_args(Scale):
        raise InputError(f"scale: {scale!r}, and it is one of {', '.join(get_args(Scale))}")
    named = {"final_score": final, "outcome": outcome, "group": group, "characters": characters}
    for name, column in named.items():
        if column is not None and column.shape != final.shape:
            raise InputError(f"{name}: shape {column.shape}, and final_score has {final.shape}: one entry a trajectory")
    if np.isinf(final).any():
        raise InputError("final_score: infinite; NaN is for none")
    low, high = np.nanmin(final, initial=0.0), np.nanmax(final, initial=0.0)
    if scale == "state" and (low < 0 or high > 1):
        raise InputError(f"final_score: from {low:g} to {high:g}, and scores of states are in [0, 1]")


def _check_segments(
    segments: Segments, trajectories: int, repeats: F64 | None, columns: Mapping[str, F64 | None]
) -> None:
    offsets, size = segments.offsets, len(segments.credit)
    if len(offsets) != trajectories + 1 or offsets[0] != 0 or offsets[-1] != size or (np.diff(offsets) < 0).any():
        raise InputError(f"segments.offsets: they do not share out {size} segments among {trajectories} trajectories")
    given = {"segments.characters": segments.characters, **columns}
    for name, column in given.items():
        if column is not None and column.shape != (size,):
            raise InputError(f"{name}: shape {column.shape}, and there are {size} segments")
    if repeats is not None and (repeats.ndim != 2 or repeats.shape[1] != size):
        raise InputError(f"repeats: shape {repeats.shape}, and it takes repeats x {size} segments")
    labels = columns[LABELS]
    if labels is not None and not np.isin(labels[~np.isnan(labels)], (-1.0, 0.0, 1.0)).all():
        raise InputError("labels: -1, 0 or 1, or NaN where nobody labelled")
