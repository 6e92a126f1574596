"""What a run should have in place before anybody invents an estimator, as far as its log can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trajcredit.diagnostics.answer import Verdict
from trajcredit.diagnostics.passk import PassAtK
from trajcredit.diagnostics.table import Table
from trajcredit.diagnostics.trend import Trend

__all__ = ["Item", "Tick", "checklist"]

Tick: TypeAlias = Literal["yes", "no", "in part", "ask"]
"""`ask`: a log cannot show it."""
CHECKABLE = ("verifier", "human")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the list."""

    item: str
    tick: Tick
    says: str


def checklist(
    table: Table,
    source: str | None,
    valued: int,
    modes: Mapping[str, Verdict],
    passes: Sequence[PassAtK],
    course: Trend,
) -> tuple[Item, ...]:
    """The list; source: who gives the outcome; valued: trajectories with a logged value on every action."""
    return (
        _state(table),
        _actions(table),
        Item(
            "Reward checkable where it can be",
            "ask" if source is None else "yes" if source in CHECKABLE else "no",
            "no reward is logged" if source is None else f"the outcome is given by {source.replace('_', ' ')}",
        ),
        Item("Warm start on passing traces", "ask", "a log does not show what the policy was trained on before"),
        _measured(passes),
        _critic(table, valued),
        _kl(table),
        _course(course),
        _masks(table),
        _failures(modes),
        _stop(modes["reward_model_overoptimisation"]),
    )


def _part(n: int, of: int) -> Tick:
    return "yes" if n == of and of else "no" if not n else "in part"


def _state(table: Table) -> Item:
    n = len(table.seen)
    prompts, tools = sum(one.instructed for one in table.seen), sum(one.declared for one in table.seen)
    says = f"a system prompt in {prompts:,} of {n:,} trajectories, the tools declared in {tools:,}; memory and context"
    # half of the two things in every log is half, not nothing
    tick = _part(prompts + tools, 2 * n)
    return Item("State written down: template, tools, memory, context limit", tick, says + " limit: ask")


def _actions(table: Table) -> Item:
    title = "Action defined, invalid calls handled"
    if not any(table.calls_made):
        return Item(title, "ask", "no trajectory makes a call")
    broken, told = sum(one.broken for one in table.seen), sum(one.told_broken for one in table.seen)
    says = f"{broken:,} calls have arguments that are no JSON"
    says += f", {told:,} of them were answered with an error" if broken else ""
    return Item(title, "yes" if told == broken else "in part" if told else "no", says)


def _measured(passes: Sequence[PassAtK]) -> Item:
    title = "Best of n and pass@k measured first"
    if len(passes) < 2:
        return Item(title, "no", "no task has two scored rollouts")
    says = ", ".join(f"pass@{one.k} {one.value:.2f}" for one in passes)
    return Item(title, "yes", f"{says}: what is between the first and the last is what training can bring forward")


def _critic(table: Table, valued: int) -> Item:
    title = "Groups without critic, or critic with GAE; not half of each"
    scored = int(table.scored.sum())
    siblings = sum(len(own) for own in table.groups())
    says = f"{siblings:,} of {scored:,} scored rollouts have a scored sibling, {valued:,} have values on every action"
    return Item(title, _part(max(siblings, valued), scored), says)


def _kl(table: Table) -> Item:
    n = sum(one.sampled.kl_tokens > 0 for one in table.seen)
    says = f"{n:,} of {len(table.seen):,} trajectories have log-probs of a reference policy"
    return Item("KL to a reference on", "ask" if not n else _part(n, len(table.seen)), says)


def _course(course: Trend) -> Item:
    title = "Reward, KL, length, pass rate on a fixed task set every n steps"
    if len(course.points) < 2:
        says = f"one {course.axis}" if course.points else "neither `step` nor `policy_version` is logged"
        return Item(title, "no", says)
    says = f"{len(course.points):,} {course.axis}s, {course.common_tasks:,} tasks that all of them have"
    return Item(title, "yes" if course.common_tasks else "in part", says)


def _masks(table: Table) -> Item:
    bad = sum(one.sampled.masked for one in table.seen)
    says = f"{bad:,} prompts or tool results have a mask that trains them" if bad else "no logged mask trains one"
    return Item("Prompt and tool tokens masked", "no" if bad else "ask", says)


def _failures(modes: Mapping[str, Verdict]) -> Item:
    found = sum(one.status == "found" for one in modes.values())
    unknown = sum(one.status == "needs" for one in modes.values())
    says = f"of {len(modes)} failure modes {found} are found, {unknown} cannot be told from this log"
    return Item("Failure table consulted when metrics disagree", _part(len(modes) - unknown, len(modes)), says)


def _stop(verdict: Verdict) -> Item:
    title = "Stop when held-out quality stalls"
    if verdict.status == "needs" or verdict.figure is None or np.isnan(verdict.figure):
        return Item(title, "ask", f"needs {verdict.needs}")
    return Item(title, "no" if verdict.status == "found" else "yes", verdict.says)
