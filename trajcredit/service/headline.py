"""The one sentence over a transcript: what a run says of it, in numbers that can be checked against the bars below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64
from trajcredit.service.laws import Law
from trajcredit.service.wording import are, count, plain, share, signed
from trajcredit.store.runs import Run

__all__ = ["Picture", "Siblings", "headline", "not_read", "not_scored"]

OUTSIDE = {
    "queued": "this run has not begun: nothing is scored yet",
    "running": "this run is at work and has not come to this trajectory yet",
    "failed": "this run failed before it scored this trajectory: a new run would read it",
    "cancelled": "this run was cancelled before it scored this trajectory: a new run would read it",
}


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """The group of a trajectory as the run read it: how many rollouts, and the outcomes of those with a reward."""

    size: int
    outcomes: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picture:
    """What the sentence is made from: the scored action spans of one trajectory, at least one, in order."""

    credit: F64
    names: tuple[str, ...]
    """What each is called: `s3 search_flights`."""
    law: Law
    total: float | None
    outcome: float
    unscored: int = 0
    """Action spans without a number."""
    on_path: BOOL | None = None
    """Whether a path leads from each to where the outcome is looked at; null where the run follows none."""
    has_calls: bool = True
    siblings: Siblings | None = None
    """Null unless the run compares them and they are known as it read them."""
    unexplained: float | None = None
    """The part that is the same in every number, where it is known: what a critic leaves unexplained of the outcome."""


def not_read(run: Run, dataset: str | None, stored: str) -> str:
    """Of a trajectory that the run has no number of; `stored`: when it was."""
    if run.state != "done":
        return OUTSIDE[run.state]
    wanted = run.asked.filters.dataset
    if wanted is not None and wanted != dataset:
        return "this run read another data set, so it did not read this trajectory: a new run without that choice would"
    if run.started is not None and stored >= run.started:
        return "this trajectory was stored after this run had begun, so the run did not read it: a new run would"
    return "this run did not read this trajectory: a new run would"


def not_scored(n_actions: int, outcome: float | None, source: str | None, came_later: bool, note: str | None) -> str:
    """Of a trajectory that the run read and gave no number. `source`: whose rewards the run read, in words."""
    if not n_actions:
        return "no action spans in this trajectory: nothing in it can get credit"
    if outcome is not None:
        why = note or "this run gave none of its action spans a number"
        return f"not scored: {why.removesuffix(': not scored')}"
    if came_later:
        return "not scored: its reward came after this run had read its inputs; a new run would score it"
    if source is None:
        return "not scored: no trajectory of this run had a reward"
    return f"not scored: it has no reward from the {source}, and is left out of the baseline of its group"


def headline(picture: Picture) -> str:
    """Of a trajectory with numbers."""
    if picture.law == "flat":
        said = _flat(picture)
    elif picture.law == "mask":
        said = _mask(picture)
    else:
        said = _top(picture)
        if picture.unexplained:
            said += f"; {signed(picture.unexplained)} of every number is what the critic's forecasts leave unexplained"
    unscored = picture.unscored
    return said + (f"; {count(unscored, 'action span')} {are(unscored)} not scored" if unscored else "")


def _flat(picture: Picture) -> str:
    n, value = len(picture.credit), float(picture.credit[0])
    if picture.on_path is not None and not picture.on_path.any():
        kept = "gets" if value == 0 else "keeps"
        return f"no action span is on a path to the outcome: {_every(n)} {kept} {signed(value)}"
    if value == 0:
        return _zero(picture)
    if n == 1:
        return f"there is only one action span, {picture.names[0]}: it gets {signed(value)}"
    if picture.on_path is not None and picture.on_path.all():
        clears = "clears none of them" if value < 0 else "tells none of them apart"
        return f"{_all(n)} action spans are on a path to the outcome and get {signed(value)} each: this run {clears}"
    what = "call" if picture.has_calls else "span"
    cannot = f"which {what} was wrong" if value < 0 else f"which {what} earned it"
    return f"flat: every action span gets {signed(value)}; this run cannot tell {cannot}"


def _zero(picture: Picture) -> str:
    who = f"{_every(len(picture.credit))} gets 0.00"
    group = picture.siblings
    if group is not None:
        scored, of = len(group.outcomes), "rollouts" if len(group.outcomes) == group.size else "scored rollouts"
        if group.size == 1:
            return f"alone in its group: there is no sibling to hold it against, so {who}"
        if scored == 1:
            return f"the only scored rollout of its group of {group.size}: nothing to hold it against, so {who}"
        if np.ptp(group.outcomes) == 0:
            end = plain(float(group.outcomes[0]))
            return f"{_all(scored)} {of} of its group ended at {end}: nothing tells them apart, so {who}"
        return f"its outcome of {plain(picture.outcome)} is the mean of its group, so {who}"
    if picture.outcome == 0:
        return f"the outcome is 0.00, and {who}"
    return f"flat: {who}; this run neither blames nor praises any"


def _mask(picture: Picture) -> str:
    credit = picture.credit
    n, zero = len(credit), int((credit == 0).sum())
    what = "blame" if (picture.total or 0) < 0 else "credit"
    off = np.zeros(n, dtype=bool) if picture.on_path is None else ~picture.on_path
    carrying = credit[(credit != 0) & ~off]
    if not off.any() and not zero:
        return f"{_all(n)} action spans are on a path to the outcome: they get {_range(carrying)}"
    same = len(carrying) and np.ptp(carrying) == 0
    sizes = "" if same and zero else f", {_range(carrying)}"
    carry = "carries" if len(carrying) == 1 else "carry"
    said = f"{len(carrying):,} of {n:,} action spans {carry} the {what}{sizes}"
    kept = credit[off & (credit != 0)]
    if zero:
        said += f", {zero:,} get{'s' if zero == 1 else ''} exactly 0"
        if picture.on_path is not None and bool((off == (credit == 0)).all()):
            said += f": no path leads from {'it' if zero == 1 else 'them'} to the outcome"
    if len(kept):
        said += (
            f"; {len(kept):,} {are(len(kept))} off every path and keep{'s' if len(kept) == 1 else ''} {_range(kept)}"
        )
    return said


def _top(picture: Picture) -> str:
    credit = picture.credit
    side = _side(picture)
    sizes = np.where(np.sign(credit) == side, np.abs(credit), 0.0)
    first, whole = int(sizes.argmax()), float(sizes.sum())
    ties = int(np.isclose(sizes, sizes[first], rtol=1e-9, atol=0).sum())
    kind = "negative" if side < 0 else "positive"
    value = signed(float(credit[first]))
    if ties > 1:
        others = f"{ties - 1} other{'s' if ties > 2 else ''}"
        said = f"{picture.names[first]} and {others} carry the most {kind} credit, {value} each"
    else:
        said = f"{picture.names[first]} carries {share(sizes[first] / whole)} the {kind} credit ({value})"
    zero = int((credit == 0).sum())
    if not zero:
        return said
    off = 0 if picture.on_path is None else int((~picture.on_path & (credit == 0)).sum())
    why = "off the path and get" if off == zero and zero > 1 else "off the path and gets" if off == zero else ""
    if why:
        return f"{said}; {count(zero, 'action span')} {are(zero)} {why} exactly 0"
    return f"{said}; {count(zero, 'action span')} get{'s' if zero == 1 else ''} exactly 0"


def _side(picture: Picture) -> int:
    """Blame or praise: the sign of the whole where it has one and some span has it too, else of the larger sum."""
    credit = picture.credit
    wanted = int(np.sign(picture.total or 0))
    if wanted and (np.sign(credit) == wanted).any():
        return wanted
    return -1 if -credit[credit < 0].sum() >= credit[credit > 0].sum() else 1


def _every(n: int) -> str:
    return "its only action span" if n == 1 else "every action span"


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {n:,}"


def _range(values: F64) -> str:
    """`-0.50 each`, or `-0.26 to -0.50 each`, the smaller size first; of one number just that."""
    low, high = sorted((float(values.min()), float(values.max())), key=abs)
    shown = signed(low) if signed(low) == signed(high) else f"{signed(low)} to {signed(high)}"
    return shown if len(values) == 1 else f"{shown} each"
