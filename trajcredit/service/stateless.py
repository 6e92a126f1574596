"""Files in, advantages out: the verbs that need no store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import msgspec

from trajcredit import formats
from trajcredit.attributors import Attributor
from trajcredit.batching import Batch, pack
from trajcredit.engines import Engine
from trajcredit.errors import InputError, NotFoundError, ParseError
from trajcredit.exporters import Credit, Exported, Exporter
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.model import Note, Trajectory
from trajcredit.service.attributing import Filled, scored
from trajcredit.service.building import graphs_by
from trajcredit.service.files import written_whole
from trajcredit.service.plugins import Choice, exported, hears_judges, make, make_exporter, name_of
from trajcredit.service.side_rewards import read_side_rewards, rewarded

__all__ = [
    "Batch",
    "Credit",
    "Reading",
    "attribute",
    "batch",
    "export",
    "gather",
    "graphs",
    "only",
    "read",
    "records",
    "score",
    "with_rewards",
    "write",
]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Reading(Sequence[Trajectory]):
    """What `read` found: a sequence of trajectories, and beside it every record that could not be read."""

    trajectories: tuple[Trajectory, ...]
    errors: tuple[ParseError, ...] = ()

    def __len__(self) -> int:
        return len(self.trajectories)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Trajectory, ...]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | tuple[Trajectory, ...]:
        return self.trajectories[index]


def read(paths: Paths, format: str | None = None, project: str | None = None) -> Reading:
    """The trajectories of files, folders or globs ("-" is standard input), of any known format.

    A record that breaks its format is in `.errors` of what is returned; the rest is read. `project` files trajectories
    whose log names no project under it.
    """
    return gather(records(paths, format), project)


def records(paths: Paths, format: str | None = None) -> Iterator[Trajectory | ParseError]:
    """What `read` gathers, one record at a time."""
    some = [paths] if isinstance(paths, str | os.PathLike) else paths
    return formats.read([os.fspath(path) for path in some], format=format)


def gather(found: Iterable[Trajectory | ParseError], project: str | None = None) -> Reading:
    """Trajectories and errors apart, each in the order found."""
    trajectories: list[Trajectory] = []
    errors: list[ParseError] = []
    for record in found:
        if isinstance(record, ParseError):
            errors.append(record)
        elif project is not None and record.project == "default":
            trajectories.append(msgspec.structs.replace(record, project=project))
        else:
            trajectories.append(record)
    return Reading(tuple(trajectories), tuple(errors))


def with_rewards(reading: Reading, path: Path, paths: Iterable[str] = ()) -> tuple[Reading, list[Note]]:
    """What was read from these paths, with the rewards of a file beside it, and which of them belong to nothing of it.

    A row of the file that is no reward, or whose name fits several trajectories, is one more of the errors.
    """
    trajectories, notes, errors = rewarded(reading.trajectories, read_side_rewards(path), str(path), paths)
    return Reading(tuple(trajectories), (*reading.errors, *errors)), notes


def only(trajectories: Sequence[Trajectory], trajectory_id: str | None) -> Sequence[Trajectory]:
    """The one of that id, or all where none is asked for."""
    if trajectory_id is None:
        return trajectories
    found = [t for t in trajectories if t.id == trajectory_id]
    if not found:
        some = ", ".join(t.id for t in trajectories[:3])
        raise NotFoundError(f"no trajectory {trajectory_id!r} among the {len(trajectories)} read, e.g. {some}")
    return found


def graphs(trajectories: Sequence[Trajectory], writes: Mapping[str, bool] | None = None) -> list[SpanGraph]:
    """The dependency graph of each; `writes` says of tools by name whether they change state."""
    return build_graphs(trajectories, writes=writes or {})


def batch(
    trajectories: Sequence[Trajectory],
    reward: str | None = None,
    group_by: str | None = None,
    writes: Mapping[str, bool] | None = None,
    engine: Engine | None = None,
) -> Batch:
    """Dependency graphs and flat columns of many trajectories, ready for attributors.

    `reward` names the one source to read (verifier, human, reward_model, judge), or the rewards of one name, `group_by`
    the trajectory fields, joined by +, that make a group, `writes` the tools that change state where their declaration
    does not say. `engine` builds the graphs, the same ones; none = here.
    """
    built = graphs(trajectories, writes) if engine is None else graphs_by(engine, trajectories, writes)
    return pack(built, reward=reward, group_by=group_by)


def attribute(
    batch: Batch,
    attributor: str | Attributor = "dag",
    /,
    *,
    critic: str | None = None,
    judge: str | None = None,
    **parameters: Any,
) -> Credit:
    """Credit and advantage of every span: an attributor by name with its parameters, or one already made.

    `critic` names the critic that fills the columns it reads first, or the file of a fitted one; else the attributor's
    own, where it has one. `judge` likewise names the judge, or several joined by +, whose mean is taken.
    """
    if not isinstance(attributor, str):
        if parameters:
            raise InputError("parameters belong to an attributor asked for by name; this one is made already")
        name, made = name_of(attributor), attributor
    else:
        name, made = attributor, make(attributor, parameters)
    if judge is not None:
        hears_judges(name, made)
    return scored(batch, name, made, critic, judge=judge)


def score(batch: Batch, choices: Iterable[Choice]) -> Iterator[Credit]:
    """The credit of each attributor in turn, made when asked for: one is in memory at a time."""
    filled: Filled = {}
    return (scored(batch, choice.label, choice.attributor, choice.critic, filled, choice.judge) for choice in choices)


def export(
    credit: Credit | Iterable[Credit], to: str | Exporter, out: str | os.PathLike[str], **parameters: Any
) -> Exported:
    """Write credit to a file for a registered exporter, by name with its parameters, or for one already made.

    What it wrote: `.rows`, and of token files `.counted`. The file appears whole or not at all.
    """
    if not isinstance(to, str):
        if parameters:
            raise InputError("parameters belong to an exporter asked for by name; this one is made already")
        exporter = to
    else:
        exporter = make_exporter(to, parameters)
    return write([credit] if isinstance(credit, Credit) else credit, exporter, Path(out))


def write(scored: Iterable[Credit], exporter: Exporter, out: Path) -> Exported:
    """Write the credit of many attributors, one after the other; the file appears whole or not at all."""
    with written_whole(out) as file:
        return exported(exporter, scored, file)
