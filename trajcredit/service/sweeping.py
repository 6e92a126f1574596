"""Many parameter settings over one batch, a line each: what its credits add up to, how far it is from the first.

A setting is one attributor with one value of each parameter; `grpo:flavour=verl/trl,scale=group/none` is four.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import nan

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.attributors.swept import refusal, swept
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.kernels.ranks import spearman
from trajcredit.service.grading_culprits import MEASURES, Culprits
from trajcredit.service.grading_labels import Labels
from trajcredit.service.grading_places import Case, placed
from trajcredit.service.plugins import Choice, choose

__all__ = ["Line", "Sweep", "settings", "sweep"]

MOST = 4096
"""Settings of one sweep."""
RELATIVE = 1e-9
"""How far a sum may be from what it is said to be, of the sum of sizes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One setting.

    scored               trajectories in which some action has credit; the next three are counts of those
    flat                 with one number on all their actions
    sums_to_outcome      whose credits add up to their outcome R
    sums_to_centred      whose credits add up to R minus the mean of their group
    same_sign            share of the actions scored by both whose advantage has the sign the first setting gives it
    rank_correlation     Spearman's coefficient of the advantages of those actions and the first setting's; null where
                         either says the same of all
    hit_at_1             share of the labelled runs whose most blamed choice is a culprit; null without labels
    """

    setting: str
    scored: int
    flat: int
    sums_to_outcome: int
    sums_to_centred: int
    same_sign: float | None
    rank_correlation: float | None
    hit_at_1: float | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """Lines in the order asked for; runs with a labelled culprit; and labels about nothing that was read."""

    lines: tuple[Line, ...]
    labelled: int
    remarks: tuple[str, ...] = ()


def settings(specs: Sequence[str]) -> list[Choice]:
    """Every combination of the values of every spec `NAME:key=value/value,...`, the last parameter fastest.

    InputError of one that cannot be swept, by its name, of one asked for twice, and of more than 4096.
    """
    expanded: list[str] = []
    for spec in specs:
        expanded += _combinations(spec, MOST - len(expanded))
    chosen = choose(expanded)
    for choice in chosen:
        why = refusal(choice.attributor)
        if choice.critic is not None or choice.judge is not None:
            why = "a critic or a judge is asked for it: use `score`"
        if why is not None:
            raise InputError(f"{choice.label!r} cannot be swept: {why}")
    return chosen


def _combinations(spec: str, room: int) -> list[str]:
    name, colon, rest = spec.partition(":")
    if not colon:
        return [spec]
    keys, values, many = [], [], 1
    for part in rest.split(","):
        key, _, value = part.partition("=")
        keys.append(key)
        values.append(value.split("/"))
        many *= len(values[-1])
    if many > room:
        raise InputError(f"{spec!r}: expected at most {MOST} settings in a sweep")
    if any("=" not in part for part in rest.split(",")):
        return [spec]  # `choose` says what is wrong with it
    return [f"{name}:" + ",".join(map("=".join, zip(keys, some, strict=True))) for some in product(*values)]


def sweep(batch: Batch, chosen: Sequence[Choice], labels: Labels | None = None, device: str = "cpu") -> Sweep:
    """Score all settings, those of a kind in one pass; InputError where labels are about nothing in the batch."""
    place = placed(labels, batch) if labels is not None else None
    cases = [case for case in place.cases if case.culprits] if place is not None else []
    found = dict(_lines(batch, chosen, cases, device))
    remarks = (*place.unmatched, *place.remarks) if place is not None else ()
    return Sweep(tuple(found[s] for s in range(len(chosen))), len(cases), remarks)


def _lines(batch: Batch, chosen: Sequence[Choice], cases: Sequence[Case], device: str) -> Iterator[tuple[int, Line]]:
    owner: I64 = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    mean = _group_means(batch)
    against: F64 | None = None
    for s, credit, advantage in swept(batch, [choice.attributor for choice in chosen], device):
        against = advantage if against is None else against
        yield (
            s,
            Line(
                chosen[s].label,
                *_sums(batch, owner, mean, credit),
                *_beside(advantage, against),
                _hit(cases, advantage) if cases else None,
            ),
        )


def _group_means(batch: Batch) -> F64:
    """f64[T]: mean outcome of the scored members of the group of each trajectory; NaN of none."""
    known = ~np.isnan(batch.outcome)
    size = len(batch.group_ids)
    n = np.bincount(batch.group[known], minlength=size)
    total = np.bincount(batch.group[known], batch.outcome[known], minlength=size)
    mean: F64 = np.where(n > 0, total / np.maximum(n, 1), nan)[batch.group]
    return mean


def _sums(batch: Batch, owner: I64, mean: F64, credit: F64) -> tuple[int, int, int, int]:
    """Trajectories scored, flat, and whose sums are the outcome, or that minus the group's mean."""
    known = ~np.isnan(credit)
    own, numbers, size = owner[known], credit[known], batch.n_trajectories
    n, total, sizes = (np.bincount(own, w, minlength=size) for w in (None, numbers, np.abs(numbers)))
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, own, numbers)
    np.maximum.at(high, own, numbers)
    some = n > 0
    room = RELATIVE * np.maximum(sizes, np.abs(batch.outcome))
    flat = high[some] - low[some] <= RELATIVE * np.maximum(np.abs(high), np.abs(low))[some]
    outcome = np.abs(total - batch.outcome) <= room  # False where the outcome is NaN
    centred = np.abs(total - (batch.outcome - mean)) <= room
    return int(some.sum()), int(flat.sum()), int((some & outcome).sum()), int((some & centred).sum())


def _beside(advantage: F64, first: F64) -> tuple[float | None, float | None]:
    """Share of equal signs, and Spearman's coefficient, over the actions that both score; null where undefined."""
    both = ~(np.isnan(advantage) | np.isnan(first))
    if not both.any():
        return None, None
    a, b = advantage[both], first[both]
    rank = float(spearman(a, b, np.zeros(len(a), dtype=np.int64), 1)[0])
    return float(np.mean(np.sign(a) == np.sign(b))), None if np.isnan(rank) else rank


def _hit(cases: Sequence[Case], advantage: F64) -> float:
    n = len(cases)
    return float(Culprits(cases, advantage, np.arange(n)).at(np.ones(n))[MEASURES.index("acc@1")])
