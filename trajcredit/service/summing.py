"""What a run's numbers of one trajectory amount to: the law they follow, their whole, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.attributors import Attributor, Dag, DoublyRobust
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import KIND_CODES, Note
from trajcredit.service.asking import configured
from trajcredit.service.headline import Picture, Siblings, headline, not_scored
from trajcredit.service.laws import Law, Proven, compares_siblings, law_of, totals, unexplained
from trajcredit.store.run_credits import Scored
from trajcredit.store.runs import Run

__all__ = ["Group", "Sum", "summed_up"]

LONGEST_NAME = 60
"""Characters of a tool's name in a sentence."""
SPOKEN = {"assistant": "message"}
NO_NUMBER = frozenset({"missing-values", "no-bootstrap"})
"""Codes of notes that say why a trajectory with an outcome has no number."""
_KINDS = tuple(KIND_CODES)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The group of a trajectory as its run read it, and the place of the trajectory in it."""

    batch: Batch
    place: int
    whole: bool
    """Whether no member of it can be gone since."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The law is `free`, and the total null, where nothing is scored."""

    law: Law
    total: float | None
    headline: str


def summed_up(
    run: Run,
    alone: Batch,
    said: Scored,
    notes: Sequence[Note],
    later: Sequence[str],
    group: Callable[[], Group],
) -> Sum:
    """Of a trajectory that a run read.

    alone  the trajectory alone, as the run read it
    later  sources of rewards that came after that
    group  the whole group, only asked for where it matters
    """
    outcome = None if np.isnan(alone.outcome[0]) else float(alone.outcome[0])
    spans = np.flatnonzero(~np.isnan(said.credit))
    n_actions = int(alone.action_mask.sum())
    if outcome is None or not len(spans):
        came_later = any(source == (run.reward_used or source) for source in later)
        own = next((note.message for note in notes if note.code in NO_NUMBER), None)
        return Sum("free", None, not_scored(n_actions, outcome, _whose(run), came_later, own))
    attributor = _attributor(run)
    credit, gains, on_path = said.credit[spans], None, None
    if isinstance(attributor, Dag):
        shares, paths = attributor.shares(alone)
        gains, on_path = shares[spans], paths[spans]

    def possible() -> tuple[float, ...]:
        found = group()
        return totals(attributor, found.batch, found.place)

    proven = law_of(credit, gains, possible)
    picture = Picture(
        credit=credit,
        names=tuple(_name(alone, i) for i in spans.tolist()),
        law=proven.law,
        total=proven.total,
        outcome=outcome,
        unscored=n_actions - len(spans),
        on_path=on_path,
        has_calls=bool((alone.kind == KIND_CODES["tool_call"]).any()),
        siblings=_siblings(attributor, proven, group),
        unexplained=_unexplained(attributor, credit, alone.advantage_forecast[spans]),
    )
    return Sum(proven.law, proven.total, headline(picture))


def _whose(run: Run) -> str | None:
    """Whose rewards the run read, null where there were none: `reward model`, `judge of 'safety'`."""
    if run.reward_used is None:
        return None
    source, name = run.reward_used.replace("_", " "), run.asked.reward_name
    return source if name is None else f"{source} of {name!r}"


def _attributor(run: Run) -> Attributor | None:
    """Null where it is not installed any more, or takes other parameters now: numbers stand without it."""
    try:
        return configured(run.asked.attributor, run.asked.parameters).attributor
    except InputError:
        return None


def _unexplained(attributor: Attributor | None, credit: F64, forecasts: F64) -> float | None:
    """Of `doubly_robust` alone, whose formula says so: two numbers of any other would fit too."""
    formula = isinstance(attributor, DoublyRobust) and attributor.part == 0
    return unexplained(credit, forecasts) if formula else None


def _siblings(attributor: Attributor | None, proven: Proven, group: Callable[[], Group]) -> Siblings | None:
    """Asked for where every number is 0, which the group explains; null where some of it is gone since."""
    if proven != Proven("flat", 0.0) or not compares_siblings(attributor):
        return None
    found = group()
    outcomes = found.batch.outcome
    return Siblings(len(outcomes), outcomes[~np.isnan(outcomes)]) if found.whole else None


def _name(batch: Batch, span: int) -> str:
    """`s3 search_flights`, `s2 message`."""
    kind, tool = _KINDS[batch.kind[span]], int(batch.tool[span])
    name = batch.tool_names[tool] if tool >= 0 else SPOKEN.get(kind, kind)
    return f"s{span} {name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + '…'}"
