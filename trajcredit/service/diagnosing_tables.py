"""A diagnosis as tables of plain cells, which text, Markdown and HTML write each in their own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trajcredit.diagnostics.comparison import MEASURES
from trajcredit.service.diagnosing import Diagnosis, Mode
from trajcredit.service.wording import count

__all__ = ["TICKS", "Grid", "begun", "grids", "left_out", "number", "over", "reading", "told"]

TICKS = {"yes": "yes", "no": "NO", "in part": "in part", "ask": "ask"}
MOST_POINTS = 20
"""Rows of the table over training; pictures have all."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A titled table. `note`: what one needs to read it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def number(value: float | None, sign: str = "") -> str:
    """Three digits, `-` where there is none."""
    if value is None or value != value:
        return "-"
    return f"{value:{sign}.3g}" if abs(value) < 1e4 else f"{value:{sign},.0f}"


def _interval(low: float | None, high: float | None, sign: str = "") -> str:
    return "" if low is None or high is None else f" [{number(low, sign)}, {number(high, sign)}]"


def over(found: Diagnosis) -> str:
    """What was looked at, in a sentence."""
    o = found.over
    said = f"{_runs(o.trajectories)} in {count(o.groups, 'group')} of {count(o.tasks, 'task')}"
    said += f", {o.scored:,} with an outcome"
    said += f" from {o.reward.replace('_', ' ')}" if o.reward is not None else ""
    said += f"; credit by {o.attributor}, an outcome of at least {o.pass_at:g} passes"
    said += f": {o.passed:,} of {o.scored:,} do" if o.scored else ""
    said += f" ({o.split})" if o.split is not None else ""
    said += f"; {count(o.steps, 'training step')}" if o.steps else ""
    said += f"; {count(o.versions, 'policy version')}" if o.versions else ""
    return said


def left_out(found: Diagnosis) -> str | None:
    """What was not read; None where all was."""
    n = found.over.left_out
    return f"{_runs(n)} more were not read: the newest that fit were" if n else None


def reading(mode: Mode) -> str:
    """Figure, interval, threshold and unit in one cell."""
    if mode.figure is None:
        return "-"
    beyond = "below" if mode.threshold is not None and mode.threshold < 0 else "above"
    if mode.mode == "kl_mistuned" and mode.threshold is not None and mode.figure < mode.threshold < 0.01:
        beyond = "below"
    said = f"{number(mode.figure)}{_interval(mode.low, mode.high)} {mode.unit}"
    return said if mode.threshold is None else f"{said}, found {beyond} {mode.threshold:g}"


def told(mode: Mode) -> str:
    """What is said of it, and what is needed before more can be."""
    if mode.needs is None:
        return mode.says
    return f"needs {mode.needs}" + ("" if mode.figure is None else f"; so far: {mode.says}")


def grids(found: Diagnosis) -> Iterator[Grid]:
    """The tables beside the failure modes, those that have rows."""
    passes = tuple(
        (str(one.k), f"{one.value:.3f}{_interval(one.low, one.high)}", f"{one.groups:,}", f"{one.left_out:,}")
        for one in found.pass_at_k
    )
    if passes:
        note = "1 - C(n-c,k)/C(n,k), mean of groups; 95 % bootstrap over tasks; groups with fewer than k are left out."
        note += "" if found.over.split is None else f" {begun(found.over.split)}"
        yield Grid("pass@k", ("k", "pass@k, share of groups", "groups", "left out"), passes, note)
    d = found.diversity
    if d.groups:
        row = (f"{d.groups:,}", number(d.distinct), number(d.overlap), f"{d.identical:,}")
        head = ("groups", "distinct call sequences, share", "overlap of calls, 0..1", "groups all alike")
        yield Grid("Diversity of siblings", head, (row,), "By tool and normalised arguments of every call.")
    yield from _course(found)
    yield from _comparison(found)


def _course(found: Diagnosis) -> Iterator[Grid]:
    t = found.trend
    if not t.points:
        return
    rows = tuple(
        (
            p.label,
            f"{p.trajectories:,}",
            f"{number(p.reward)}{_interval(p.reward_low, p.reward_high)}",
            *([number(p.doubted)] if found.over.trusted is not None else []),
            f"{number(p.pass_rate)}{_interval(p.pass_low, p.pass_high)}",
            number(p.kl),
            number(p.length),
        )
        for p in t.points
    )
    note = f"95 % intervals by tasks; {count(t.common_tasks, 'task')} in every row"
    note += f"; {_runs(t.unplaced)} without a {t.axis} left out" if t.unplaced else ""
    if len(rows) > MOST_POINTS:
        keep = sorted({round(i * (len(rows) - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)})
        note += f"; {len(keep)} of {len(rows)} rows shown, evenly spread"
        rows = tuple(rows[i] for i in keep)
    two = (found.over.proxy or "",) if found.over.trusted is not None else ()
    head = (t.axis, "rollouts", "reward", *two, "pass rate, share", "KL, nats a token", f"length, {t.length_unit}")
    yield Grid(f"Over {t.axis}s", head, rows, note + ".")


def _comparison(found: Diagnosis) -> Iterator[Grid]:
    c = found.comparison
    if c is None:
        return
    rows = tuple(
        (
            f"{d.measure}, {d.unit}" if d.unit != d.measure else d.measure,
            number(d.a),
            number(d.b),
            f"{number(d.difference, '+')}{_interval(d.low, d.high, '+')}",
            f"{d.up:,} / {d.down:,} / {d.same:,}",
        )
        for d in c.differences
    )
    note = (
        f"{count(c.common, 'task')} in both, each counted once, paired; 95 % bootstrap over tasks. "
        f"{c.rollouts_a:,} and {c.rollouts_b:,} rollouts; {c.only_a:,} and {c.only_b:,} tasks of one side left out."
    )
    missing = [name for name in MEASURES if name not in {d.measure for d in c.differences}]
    note += f" No common task has these on both sides: {', '.join(missing)}." if missing else ""
    head = ("measure", f"{c.field} {c.a}", f"{c.field} {c.b}", "difference", "tasks up / down / same")
    yield Grid(f"{c.field} {c.b} against {c.a}", head, rows, note)


def begun(sentence: str) -> str:
    """With a capital and a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _runs(n: int) -> str:
    return f"{n:,} trajector{'y' if n == 1 else 'ies'}"
