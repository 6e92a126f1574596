"""Credit of more logs than one machine holds: shards scored by the workers of an engine, a file of rows each.

Every worker writes its own files, which appear whole; a task that is begun again writes the same file again. So there
are no double rows, and the files are the same bytes whichever engine made them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import msgspec
import numpy as np

from trajcredit import critics
from trajcredit.batching import Batch, Whole, pack
from trajcredit.engines import Engine
from trajcredit.errors import InputError, ParseError
from trajcredit.exporters import Credit
from trajcredit.graph import build_graphs
from trajcredit.model import Note, RewardSource
from trajcredit.service import notes, sharding
from trajcredit.service.files import written_whole
from trajcredit.service.judged import local, parts
from trajcredit.service.notes import NoteCount
from trajcredit.service.plugins import Choice, choose, exported, exporter_of
from trajcredit.service.sharding import SPANS, Asked, Plan, Shard
from trajcredit.service.stateless import score
from trajcredit.service.versions import code_version

__all__ = ["DONE", "Scored", "alone", "score_shards"]

DONE = "_done.json"
"""Written last: a folder without it is not complete."""
SCHEMA = "trajcredit.shards/1"
BY_SPAN = ("jsonl", "parquet")
"""Exporters whose rows are of one span each, whatever else there is."""


@dataclass(frozen=True, slots=True)
class _Task:
    shard: Shard
    source: RewardSource | None
    asked: Asked
    attributors: tuple[str, ...]
    exporter: str
    out: str


@dataclass(frozen=True, slots=True)
class Part:
    """One file of rows."""

    file: str
    rows: int
    spans: int
    trajectories: int
    notes: tuple[NoteCount, ...]
    refused: dict[str, str]
    """Attributors that could score nothing here, and why."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a folder of rows holds, and what was guessed or left out."""

    parts: tuple[Part, ...]
    rows: int
    trajectories: int
    groups: int
    reward_source: str | None
    notes: tuple[NoteCount, ...]
    errors: tuple[ParseError, ...]


def alone(choices: Sequence[Choice]) -> None:
    """InputError where an attributor cannot score groups apart from each other."""
    for choice in choices:
        critic = choice.critic or getattr(choice.attributor, "default_critic", None)
        if choice.attributor.scope != "group":
            why = "it compares across groups"
        elif critic is not None:
            why = f"its critic {critic!r} {'learns from all' if critic in critics.KINDS else 'is held against all'}"
        elif choice.judge is not None and not all(map(local, parts(choice.judge))):
            why = "a file of opinions is of all"
        else:
            continue
        raise InputError(f"attributor {choice.label!r} cannot be scored in shards: {why}; name a file, not a folder")


def score_shards(
    engine: Engine,
    paths: Sequence[str],
    out: Path,
    attributors: Sequence[str],
    exporter: str,
    asked: Asked,
    spans: int = SPANS,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Scored:
    """Score logs into a new folder, a file a shard; `told` hears how many of the shards are done.

    InputError where the folder holds something, an attributor cannot score groups apart, or as `sharding.plan`.
    """
    alone(choose(attributors))
    made = exporter_of(exporter)
    if exporter.partition(":")[0] not in BY_SPAN:
        raise InputError(f"exporter {exporter!r} does not write shards; those that do: {', '.join(BY_SPAN)}")
    found = sharding.logs(paths)
    _new_folder(out)
    plan = sharding.plan(found, asked, sharding.index(engine, found, asked), spans)
    files = [str(out / f"part-{shard.number:06}{made.suffix}") for shard in plan.shards]
    tasks = [
        _Task(shard, plan.source, asked, tuple(attributors), exporter, file)
        for shard, file in zip(plan.shards, files, strict=True)
    ]
    told(0, len(tasks))
    written = list[Part]()
    for part in engine.map(work, tasks):
        written.append(part)
        told(len(written), len(tasks))
    for label in written[0].refused:
        if all(label in part.refused for part in written):
            raise InputError(written[0].refused[label])
    for left in out.glob(".part-*.part"):  # of workers that were killed while they wrote
        left.unlink()
    done = _done(plan, written)
    _keep(out, done, attributors)
    return done


def work(task: _Task) -> Part:
    """What a worker does with one shard."""
    asked, shard = task.asked, task.shard
    trajectories = list(sharding.trajectories_of(shard, asked))
    graphs = build_graphs(trajectories, writes=asked.writes or {})
    batch = pack(graphs, asked.reward, asked.group_by, Whole(task.source, shard.names))
    told = [*notes.of_reading(trajectories), *notes.of_batch(batch)]
    refused: dict[str, str] = {}
    scored = [_credit(batch, choice, refused) for choice in choose(task.attributors)]
    for credit in scored:
        told += notes.of_credit(credit)
    with written_whole(Path(task.out)) as file:
        rows = exported(exporter_of(task.exporter), scored, file).rows
    name = Path(task.out).name
    return Part(name, rows, batch.n_spans, batch.n_trajectories, tuple(notes.count_notes(told)), refused)


def _credit(batch: Batch, choice: Choice, refused: dict[str, str]) -> Credit:
    """What an attributor says; nothing, with the reason in a note, where a shard has not what it needs: others may."""
    try:
        return next(iter(score(batch, [choice])))
    except InputError as error:
        if error.__cause__ is not None:
            raise  # it failed
        refused[choice.label] = str(error)
        nothing = np.full(batch.n_spans, np.nan)
        note = Note("refused", f"nothing in a shard could be scored: {error}")
        parameters = {field.name: getattr(choice.attributor, field.name) for field in fields(choice.attributor)}  # type: ignore[arg-type]  # a dataclass
        return Credit(batch, choice.label, parameters, nothing, nothing, (note,))


def _new_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise InputError(f"{out} holds something already: rows in shards need a folder of their own")
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error


def _done(plan: Plan, written: Sequence[Part]) -> Scored:
    said: dict[tuple[str, str], NoteCount] = {}
    for part in written:
        for one in part.notes:
            known = said.get((one.stage, one.code))
            said[one.stage, one.code] = one if known is None else replace(known, count=known.count + one.count)
    return Scored(
        tuple(written),
        sum(part.rows for part in written),
        plan.n_trajectories,
        plan.n_groups,
        plan.source,
        tuple(said.values()),
        plan.errors,
    )


def _keep(out: Path, done: Scored, attributors: Sequence[str]) -> None:
    said = {
        "schema": SCHEMA,
        "code_version": code_version(),
        "attributors": list(attributors),
        "reward_source": done.reward_source,
        "trajectories": done.trajectories,
        "groups": done.groups,
        "rows": done.rows,
        "parts": [
            {"file": p.file, "rows": p.rows, "spans": p.spans, "trajectories": p.trajectories} for p in done.parts
        ],
        "notes": [asdict(one) for one in done.notes],
        "errors": [str(error) for error in done.errors],
    }
    with written_whole(out / DONE) as file:
        file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")
