"""Logs in shards of whole groups, found out by reading them once: who is in which group, and where.

A group is never split, nor are a sub-agent and the trajectory that started it, whose outcome it may share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from trajcredit.batching import GROUP_FIELDS, Key, choose_source, group_key, group_names, named
from trajcredit.engines import Engine
from trajcredit.errors import InputError, ParseError
from trajcredit.formats.reading import read_source
from trajcredit.formats.sources import Source, expand, load
from trajcredit.formats.unpacking import CutOff
from trajcredit.model import REWARD_SOURCES, Reward, RewardSource, Trajectory

__all__ = ["SPANS", "Asked", "Plan", "Shard", "index", "logs", "plan", "together", "trajectories_of"]

SPANS = 100_000
"""Spans of a shard, about: what one worker has in memory at a time."""
TASK_BYTES, TASK_LOGS = 8 << 20, 256
"""Of logs that one task reads, about."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How logs are read, and what counts."""

    format: str | None = None
    project: str | None = None
    """Files trajectories whose log names no project."""
    reward: str | None = None
    group_by: str | None = None
    writes: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """What has to be known of a trajectory before its shard is: its id, group, parent, size, and rewards."""

    id: str
    key: Key
    parent: str | None
    n_spans: int
    sources: frozenset[RewardSource]
    """Of the rewards that count."""
    names: frozenset[str]
    """Of all its rewards."""
    fields: frozenset[str]
    """Of those that make groups, which it has."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """One log, read."""

    content: bytes
    """The hash of its bytes."""
    entries: tuple[_Entry, ...]
    errors: tuple[ParseError, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """Whole groups, and the logs that hold them, in the order in which all were given."""

    number: int
    sources: tuple[Source, ...]
    ids: frozenset[str]
    names: Mapping[Key, str]
    n_spans: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The shards of some logs, in the order of their first trajectories, and what could not be read."""

    shards: tuple[Shard, ...]
    source: RewardSource | None
    n_trajectories: int
    n_groups: int
    n_spans: int
    errors: tuple[ParseError, ...]


def logs(paths: Iterable[str]) -> list[Source | ParseError]:
    """The logs that paths name, an error in the place of what is none.

    InputError for standard input, which cannot be read twice.
    """
    found = expand(paths)
    if any(isinstance(one, Source) and one.path is None for one in found):
        raise InputError("standard input cannot be read in shards: name files or folders")
    return found


def index(engine: Engine, found: Sequence[Source | ParseError], asked: Asked) -> dict[Source, Indexed]:
    """Every log, read once by some worker."""
    some = [source for source in found if isinstance(source, Source)]
    tasks = [(few, asked) for few in together(some)]
    return dict(zip(some, (one for read in engine.map(indexed, tasks) for one in read), strict=True))


def indexed(task: tuple[list[Source], Asked]) -> list[Indexed]:
    """What a worker finds out about some logs."""
    return [_indexed(source, task[1]) for source in task[0]]


def _indexed(source: Source, asked: Asked) -> Indexed:
    errors = list[ParseError]()
    try:
        data = load(source)
    except CutOff as error:
        data = error.data
        errors.append(ParseError(error.reason, error.file))
    except ParseError as error:
        return Indexed(b"", (), (error,))
    entries = list[_Entry]()
    for found in _read(source, data, asked):
        if isinstance(found, ParseError):
            errors.append(found)
        else:
            entries.append(_entry(found, asked))
    return Indexed(sha256(data).digest(), tuple(entries), tuple(errors))


def together(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Small logs several a task: what they share is sent once."""
    few, so_far = list[Source](), 0
    for source in sources:
        few.append(source)
        so_far += source.path.stat().st_size if source.path is not None and source.path.is_file() else 0
        if so_far >= TASK_BYTES or len(few) == TASK_LOGS:
            yield few
            few, so_far = [], 0
    if few:
        yield few


def trajectories_of(shard: Shard, asked: Asked) -> Iterator[Trajectory]:
    """The trajectories of a shard, read again; InputError where a log has changed since."""
    missing = set(shard.ids)
    for source in shard.sources:
        try:
            data = load(source)
        except CutOff as error:
            data = error.data
        for found in _read(source, data, asked):
            if isinstance(found, Trajectory) and found.id in missing:
                missing.remove(found.id)
                yield found
    if missing:
        raise InputError(f"trajectory {min(missing)!r} is not there any more: a log changed while it was read")


def plan(
    found: Sequence[Source | ParseError], asked: Asked, read: Mapping[Source, Indexed], spans: int = SPANS
) -> Plan:
    """Shards of about so many spans; a group that has more is one by itself. `found` is of `logs`, `read` of `index`.

    InputError where two logs hold trajectories of one id, nothing can be read, or no trajectory has a field or a reward
    that was asked for.
    """
    errors, held = list[ParseError](), list[tuple[Source, tuple[_Entry, ...]]]()
    contents: dict[bytes, Source] = {}
    for source in found:
        if isinstance(source, ParseError):
            errors.append(source)
            continue
        own = read[source]
        first = contents.setdefault(own.content, source) if own.content else source
        if first is not source:
            errors.append(ParseError(f"holds the same bytes as {first.shown}: read once", source.shown))
            continue
        errors += own.errors
        held.append((source, own.entries))
    every = [entry for _, entries in held for entry in entries]
    if not every:
        raise errors[0] if errors else InputError("no logs: nothing to score")
    _check(held, every, asked)
    names = group_names([entry.key for entry in every])
    present = {source for entry in every for source in entry.sources}
    known = asked.reward if asked.reward in REWARD_SOURCES else None
    chosen = choose_source([[Reward(0.0, one) for one in present]], known)
    shards = tuple(_shards(held, names, spans))
    return Plan(shards, chosen, len(every), len(names), sum(entry.n_spans for entry in every), tuple(errors))


def _read(source: Source, data: bytes, asked: Asked) -> Iterator[Trajectory | ParseError]:
    for found in read_source(source, data, asked.format):
        if isinstance(found, Trajectory) and asked.project is not None and found.project == "default":
            found = msgspec.structs.replace(found, project=asked.project)
        yield found


def _entry(trajectory: Trajectory, asked: Asked) -> _Entry:
    [kept], _ = named([trajectory.rewards], asked.reward, some=True)
    return _Entry(
        id=trajectory.id,
        key=group_key(trajectory, asked.group_by),
        parent=None if trajectory.parent is None else trajectory.parent.trajectory,
        n_spans=len(trajectory.spans),
        sources=frozenset(reward.source for reward in kept),
        names=frozenset(reward.name for reward in trajectory.rewards if reward.name is not None),
        fields=frozenset(name for name in GROUP_FIELDS if getattr(trajectory, name) is not None),
    )


def _check(logs: Sequence[tuple[Source, tuple[_Entry, ...]]], every: Sequence[_Entry], asked: Asked) -> None:
    owner: dict[str, Source] = {}
    for source, entries in logs:
        for entry in entries:
            first = owner.setdefault(entry.id, source)
            if first is not source:
                raise InputError(
                    f"{first.shown} and {source.shown} both hold a trajectory {entry.id!r}: in shards ids have to be "
                    "those of one log each; without an engine the second one gets another id"
                )
    for name in (asked.group_by or "").split("+") if asked.group_by else ():
        if not any(name in entry.fields for entry in every):
            raise InputError(f"cannot group by {name}: no trajectory has one")
    if asked.reward is not None and not any(entry.sources for entry in every):
        named([[Reward(0.0, "verifier", name=name) for entry in every for name in sorted(entry.names)]], asked.reward)


def _shards(held: Sequence[tuple[Source, tuple[_Entry, ...]]], names: Mapping[Key, str], spans: int) -> Iterator[Shard]:
    """Units that cannot be split, in the order of their first trajectories, as many together as have so many spans."""
    unit_of, sizes = _units([entry for _, entries in held for entry in entries])
    shard_of, so_far, number = dict[int, int](), 0, 0
    for unit, size in sizes.items():
        if so_far and so_far + size > spans:
            number, so_far = number + 1, 0
        shard_of[unit] = number
        so_far += size
    parts: list[dict[Source, list[_Entry]]] = [{} for _ in range(number + 1)]
    for source, entries in held:
        for entry in entries:
            parts[shard_of[unit_of[entry.id]]].setdefault(source, []).append(entry)
    for k, own in enumerate(parts):
        some = [entry for entries in own.values() for entry in entries]
        keys = {entry.key: names[entry.key] for entry in some}
        yield Shard(k, tuple(own), frozenset(one.id for one in some), keys, sum(one.n_spans for one in some))


def _units(every: Sequence[_Entry]) -> tuple[dict[str, int], dict[int, int]]:
    """Trajectory -> unit, and unit -> spans, in the order of first trajectories: groups that parents join are one."""
    number = {key: k for k, key in enumerate(dict.fromkeys(entry.key for entry in every))}
    group = {entry.id: number[entry.key] for entry in every}
    root = list(range(len(number)))

    def find(k: int) -> int:
        while root[k] != k:
            root[k] = k = root[root[k]]
        return k

    for entry in every:
        if entry.parent is not None and entry.parent in group:
            a, b = find(group[entry.id]), find(group[entry.parent])
            root[max(a, b)] = min(a, b)
    unit_of = {name: find(k) for name, k in group.items()}
    sizes = Counter[int]()
    for entry in every:
        sizes[unit_of[entry.id]] += entry.n_spans
    return unit_of, dict(sizes)
