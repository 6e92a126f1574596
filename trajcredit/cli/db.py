"""`trajcredit db`: the database brought up to date, or looked over."""

from __future__ import annotations

import sys

import click

from trajcredit.cli.stored import database
from trajcredit.cli.terminal import amount, line, say, working

__all__ = ["command"]


@click.command("db")
@click.argument("action", type=click.Choice(["upgrade", "check"]), metavar="upgrade|check")
@database
def command(action: str, db: str) -> None:
    """Bring the database to the version of this program (every command does), or check that all of it is sound."""
    from trajcredit.service import opening

    if action == "upgrade":
        found = opening.upgraded(db)
        click.echo(f"{line(found.name)} is at version {line(found.version)}")
        return
    with working("checking"):
        checked = opening.checked(db)
    for problem in checked.problems:
        say(f"error: {problem}")
    counts = (
        amount(checked.trajectories, "trajectory", "trajectories"),
        amount(checked.logs, "raw log"),
        f"{amount(checked.credits, 'credit')}",
    )
    click.echo(f"{', '.join(counts)}: {amount(len(checked.problems), 'problem') if checked.problems else 'sound'}")
    sys.exit(1 if checked.problems else 0)
