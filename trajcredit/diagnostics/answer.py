"""What a detector says: a figure with its interval against a threshold, or which field the log lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from trajcredit.diagnostics.intervals import LEAST, Interval

__all__ = ["Finding", "Status", "Verdict", "above", "lacking", "too_few", "undecided"]

Status: TypeAlias = Literal["found", "clear", "needs"]
"""`found`: the whole 95 % interval lies beyond the threshold; `needs`: the log lacks a field, or has too few tasks."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place to look at: the trajectory by its row in the table, a span of it (null: all of it), and why."""

    t: int
    span: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Figure and interval are null where the figure could not be taken. `says` is one sentence with its numbers."""

    status: Status
    figure: float | None
    low: float | None
    high: float | None
    threshold: float | None
    says: str
    needs: str | None = None
    evidence: tuple[Finding, ...] = ()


def above(found: Interval, threshold: float, says: str, evidence: tuple[Finding, ...], what: str) -> Verdict:
    """Found where the whole interval is above the threshold. Evidence is kept either way: a clear figure is not 0.

    Over fewer than LEAST clusters (`what` they are) the figure and its evidence are told, and nothing is decided.
    """
    if found.clusters < LEAST:
        return undecided(found, threshold, says, evidence, what)
    status: Status = "found" if found.low > threshold else "clear"
    return Verdict(status, found.value, found.low, found.high, threshold, says, None, evidence)


def undecided(found: Interval, threshold: float, says: str, evidence: tuple[Finding, ...], what: str) -> Verdict:
    """A figure over too few clusters to tell from chance."""
    needs = f"at least {LEAST} {what} (here {found.clusters})"
    return Verdict("needs", found.value, None, None, threshold, says, needs, evidence)


def lacking(needs: str, says: str, threshold: float | None = None) -> Verdict:
    """No figure, since a field is missing."""
    return Verdict("needs", None, None, None, threshold, says, needs)


def too_few(has: int, what: str, threshold: float | None = None) -> Verdict | None:
    """Why a figure is not taken from so few independent tasks; None where there are enough."""
    if has >= LEAST:
        return None
    return lacking(f"at least {LEAST} {what} (here {has})", f"{has} {what}: too few to tell from chance", threshold)
