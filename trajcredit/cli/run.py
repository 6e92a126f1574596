"""`trajcredit run`: an attributor over what is stored."""

from __future__ import annotations

from functools import partial

import click
import msgspec

from trajcredit.cli.options import engine as where
from trajcredit.cli.stored import database, project, project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, gauge, line, say
from trajcredit.errors import InputError

__all__ = ["command"]


@click.command("run")
@click.argument("name", metavar="NAME[:K=V,...]")
@project
@database
@click.option(
    "--reward",
    metavar="SOURCE|NAME",
    help="verifier, human, reward_model or judge; else the name of a reward; else the first source present.",
)
@click.option("--group-by", metavar="KEY", help="Fields that make a group, joined by +, e.g. task+step.")
@click.option("--dataset", metavar="NAME", help="Only trajectories of this data set.")
@where
@click.option("--json", "as_json", is_flag=True, help="The run as one JSON object.")
def command(
    name: str,
    project: str | None,
    db: str,
    reward: str | None,
    group_by: str | None,
    dataset: str | None,
    engine: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Score the stored trajectories of a project with one attributor, and keep the credit.

    A critic that the attributor needs, or that `critic=NAME` names, is asked first, and what it says is kept too.
    Works on it here, or waits for the process that works on this database. Ctrl-C cancels it. Every engine keeps the
    same numbers; workers have nothing to do with the database.
    """
    from trajcredit import engines, settings
    from trajcredit.service import asking, opening, runner, running

    said, place = settings.find(()), project_of(project)
    made = asking.of_spec(name)
    wanted = running.Wanted(reward or said.reward, group_by or said.group_by, dataset)
    with engines.engine(engine, workers) as working, opening.existing(db) as store:
        asked = running.ask_for(store, place, made, wanted)
        try:
            with gauge("scoring") as told:
                run = runner.see_through(store, place, asked.id, told, working, partial(_away, engine))
        except KeyboardInterrupt:
            running.cancel(store, place, asked.id)
            say(f"run {asked.id} is cancelled")
            raise
    for count in running.counted(run.notes):
        say(f"note: {count}")
    if as_json:
        json_stdout().write(msgspec.json.encode(run) + b"\n")
    else:
        scored = f"{run.done:,} of {amount(run.total, 'trajectory', 'trajectories')}"
        critic = "" if run.critic is None else f"; critic {line(run.critic)}, fingerprint {run.critic_fingerprint}"
        click.echo(f"run {run.id} (#{run.number}) {line(run.label)}: {run.state}, {scored}{critic}")
    if run.state != "done":
        raise InputError(f"run {run.id} {run.state}: {run.error or 'somebody stopped it'}")


def _away(engine: str) -> None:
    if engine != "in-process":
        say(f"note: another process works on this database and scores the run in itself: --engine {engine} is not used")
