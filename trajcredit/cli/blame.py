"""`trajcredit blame`: who is blamed, who is praised, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, attributor, finish, logs, read_logs_with_tools, tell, trajectory
from trajcredit.cli.stored import DEFAULT_PROJECT, database, recalled, stored_name
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, amount, line, working

if TYPE_CHECKING:
    from trajcredit.service.blame import Blame, Finding, Link, Reason
    from trajcredit.service.plugins import Choice

__all__ = ["command", "finding_lines", "report"]

MOST_REASONS = 5
"""Terms shown of one span; the rest is summed up on one line."""
MOST_LINKS = 4
"""Data edges shown in each direction; the rest is counted."""
MARGIN = " " * 11


@click.command("blame")
@logs("reward", "group_by", "writes", "reads", "project", takes="PATH... | ID")
@attributor(default="dag")
@trajectory
@database
@click.option("-n", "count", type=click.IntRange(min=1), default=5, show_default=True, help="Spans on each side.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(asked: Asked, attributor: str, trajectory: str | None, db: str, count: int, as_json: bool) -> None:
    """The most blamed and most praised spans, with why.

    Groups are compared over everything read; --trajectory only narrows what is shown. ID is that of a trajectory in
    the database, with the edges it was kept with: it is compared over its project.
    """
    from trajcredit.service import blame, notes, plugins, stateless

    [choice] = plugins.choose([attributor])
    name = stored_name(asked, trajectory)
    if name is not None:
        _show(_stored(asked, db, name, choice, count), as_json)
        return
    reading = read_logs_with_tools(asked)
    stateless.only(reading, trajectory)
    chosen = asked.settings
    with working(COMPILING):
        batch = stateless.batch(reading, chosen.reward, chosen.group_by, chosen.writes)
        [credit] = stateless.score(batch, [choice])
    tell((*notes.of_reading(reading), *notes.of_batch(batch), *notes.of_credit(credit)))
    _show(blame.blame(credit, choice.attributor, count, trajectory), as_json)
    finish(reading)


def _stored(asked: Asked, db: str, name: str, choice: Choice, count: int) -> Blame:
    from trajcredit.service import notes, recalling

    chosen = asked.settings
    place = chosen.project or DEFAULT_PROJECT
    with recalled(db, place, name) as (store, stored), working(COMPILING):
        found = recalling.blamed(store, place, stored, choice, count, chosen.reward, chosen.group_by)
    tell((*notes.of_batch(found.credit.batch), *notes.of_credit(found.credit)))
    return found.blame


def _show(found: Blame, as_json: bool) -> None:
    if as_json:
        json_stdout().write(msgspec.json.encode(found, enc_hook=str) + b"\n")
    else:
        click.echo("\n".join(report(found)))


def report(found: Blame) -> Iterator[str]:
    """The two lists as text; `advantage` is in units of the attributor, its sign is the blame."""
    scored = found.negative + found.zero + found.positive
    yield (
        f"{line(found.attributor)}: of {scored:,} scored actions {found.negative:,} have an advantage below zero, "
        f"{found.positive:,} above, {found.zero:,} exactly zero"
    )
    for title, findings in (("most blamed", found.blamed), ("most praised", found.praised)):
        yield ""
        yield f"{title}:" if findings else f"{title}: none"
        for finding in findings:
            yield from finding_lines(finding)


def finding_lines(finding: Finding) -> Iterator[str]:
    """One span: its numbers, what it says, the terms, the data edges."""
    place = f"{finding.trajectory_id} span {finding.span_index} {finding.kind} {finding.name or ''}"
    yield f"  {finding.advantage:+.4f}  {line(place)}"
    yield f"{MARGIN}{line(finding.text, 100)}"
    yield f"{MARGIN}credit {finding.credit:+.4f} = {_sum(finding.reasons)}"
    yield from _links("fed by", finding.uses)
    yield from _links("feeds", finding.used_by)


def _sum(reasons: Sequence[Reason]) -> str:
    largest = sorted(range(len(reasons)), key=lambda i: -abs(reasons[i].value))[:MOST_REASONS]
    shown = [f"{reasons[i].value:+.4f} ({line(reasons[i].name)})" for i in sorted(largest)]
    rest = sum(reason.value for i, reason in enumerate(reasons) if i not in largest)
    more = len(reasons) - len(shown)
    return " ".join(shown) + (f" {rest:+.4f} from {amount(more, 'smaller term')}" if more else "")


def _links(title: str, links: Sequence[Link]) -> Iterator[str]:
    for link in links[:MOST_LINKS]:
        place = f"{title} span {link.span_index} {link.kind} {link.name or ''}"
        yield f"{MARGIN}{line(place)}: {line(link.why)} (weight {link.weight:.2f})"
    if len(links) > MOST_LINKS:
        yield f"{MARGIN}{title} {len(links) - MOST_LINKS} more spans"
