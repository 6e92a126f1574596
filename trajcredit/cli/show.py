"""`trajcredit show`: the transcripts as read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from trajcredit.cli.options import Asked, finish, logs, read_logs, trajectory
from trajcredit.cli.stored import DEFAULT_PROJECT, database, recalled, stored_name
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, line, paragraph

if TYPE_CHECKING:
    from trajcredit.model import Note, Reward, Span, Trajectory

__all__ = ["command", "transcript"]

MOST_SPANS = 10
"""Named where one thing is said of many."""


@click.command("show")
@logs("project", takes="PATH... | ID")
@trajectory
@database
@click.option("--json", "as_json", is_flag=True, help="Canonical trajectories, one JSON object a line.")
def command(asked: Asked, trajectory: str | None, db: str, as_json: bool) -> None:
    """The transcripts as they were read: every span with its kind and turn, and what the reader had to guess.

    ID is that of a trajectory in the database.
    """
    from trajcredit.service import recalling, stateless

    name = stored_name(asked, trajectory)
    if name is not None:
        place = asked.settings.project or DEFAULT_PROJECT
        with recalled(db, place, name) as (store, stored):
            _show(recalling.transcript(store, place, stored), as_json)
        return
    reading = read_logs(asked)
    for found in stateless.only(reading, trajectory):
        _show(found, as_json)
    finish(reading)


def _show(trajectory: Trajectory, as_json: bool) -> None:
    from trajcredit.model import encode

    if as_json:
        json_stdout().write(encode(trajectory) + b"\n")
    else:
        click.echo("\n".join(transcript(trajectory)) + "\n")


def transcript(trajectory: Trajectory) -> Iterator[str]:
    """One trajectory as text; whatever it holds, no character of it steers the terminal."""
    t = trajectory
    turns = 1 + max((span.turn for span in t.spans), default=-1)
    yield f"trajectory {line(t.id)}: {amount(len(t.spans), 'span')}, {amount(turns, 'turn')}"
    facts: dict[str, str | int | None] = {
        "project": t.project,
        "data set": t.dataset,
        "task": t.task,
        "role": t.role,
        "group": t.group,
        "trial": t.trial,
        "step": t.step,
        "policy": t.policy_version,
        "model": t.model,
        "started by": _parent(t),
        "ended": _end(t),
    }
    yield "  " + ", ".join(f"{key} {line(str(value))}" for key, value in facts.items() if value is not None)
    if t.source is not None:
        place = t.source.file or "?"
        yield f"  read as {line(t.source.format)} from {line(place)}" + (f":{t.source.line}" if t.source.line else "")
    yield "  " + ("; ".join(map(_reward, t.rewards)) or "no reward")
    yield from _report(t.report)
    for index, span in enumerate(t.spans):
        yield ""
        yield from _span(index, span)


def _span(index: int, span: Span) -> Iterator[str]:
    from trajcredit.model import body

    parts = [f"[{index}] turn {span.turn} {span.kind}", span.name, span.call_id, span.agent and f"agent {span.agent}"]
    if span.result_of is not None:
        parts.append(f"of span {span.result_of}")
    parts += ["failed" if span.error else None, "written as text" if span.inferred else None]
    yield line(" ".join(part for part in parts if part))
    text = body(span)
    if text:
        yield paragraph(text, "    ")


def _report(notes: list[Note]) -> Iterator[str]:
    """What was guessed; the same said of several spans once, with the spans."""
    spans: dict[tuple[str, str], list[int]] = {}
    for note in notes:
        said = spans.setdefault((note.code, note.message), [])
        said += [] if note.span is None else [note.span]
    for (code, message), found in spans.items():
        shown = ", ".join(map(str, found[:MOST_SPANS])) + (" ..." if len(found) > MOST_SPANS else "")
        where = f" ({amount(len(found), 'span')}: {shown})" if len(found) > 1 else f" (span {shown})" if found else ""
        yield f"  report: {line(message)} [{line(code)}]{where}"


def _parent(trajectory: Trajectory) -> str | None:
    parent = trajectory.parent
    if parent is None:
        return None
    return parent.trajectory if parent.span is None else f"span {parent.span} of {parent.trajectory}"


def _reward(reward: Reward) -> str:
    name = "" if reward.name is None else f" ({line(reward.name)})"
    where = "" if reward.span is None else f" on span {reward.span}"
    at = "" if reward.at is None else f" at {line(reward.at)}"
    return f"reward {reward.value!r} from {reward.source}{name}{where}{at}"


def _end(trajectory: Trajectory) -> str | None:
    if trajectory.truncated:
        return "truncated"
    return "by itself" if trajectory.terminated else None
