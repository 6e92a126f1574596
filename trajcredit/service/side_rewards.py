"""A file of rewards beside the logs -> rewards of the trajectories it names.

| file | holds |
| --- | --- |
| JSON object | trajectory id or file name -> reward; or an evaluation's `resolved_ids` and `unresolved_ids` |
| JSON list, JSON lines | objects: `trajectory_id`, `trajectory`, `id` or `file`, with `reward`, `value` or `score` |
| CSV | the same keys as its first line |

Objects and lines may also have `source`, `name` and `at`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.sources import Source, load
from trajcredit.model import LARGEST_NUMBER, REWARD_SOURCES, Note, Reward, Trajectory

__all__ = ["SideReward", "read_side_rewards", "rewarded"]

NAMES = ("trajectory_id", "trajectory", "id", "file")
VALUES = ("reward", "value", "score")
WORDS = {"true": 1.0, "false": 0.0, "resolved": 1.0, "unresolved": 0.0, "pass": 1.0, "fail": 0.0}
VERDICTS = {"resolved_ids": 1.0, "unresolved_ids": 0.0}
ENDS = (".gz", ".zst", ".json", ".jsonl", ".traj", ".eval", ".parquet", ".log", ".txt")

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class SideReward:
    """One reward, the trajectory or file it names, and the line it stands on."""

    name: str
    reward: Reward
    line: int | None


def read_side_rewards(path: Path) -> list[SideReward]:
    """Every reward of a file; ParseError names the line and what was expected."""
    shown = str(path)
    data = load(Source(path.name, path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"not UTF-8 at byte {error.start}", shown) from error
    return list(_of_rows(text, shown) if text.lstrip()[:1] in ("{", "[") else _of_csv(text, shown))


def rewarded(
    trajectories: Sequence[Trajectory], found: Sequence[SideReward], shown: str
) -> tuple[list[Trajectory], list[Note]]:
    """The trajectories with their rewards, and what is to be said; InputError where no name fits any of them.

    A name is a trajectory's id; else its file, with or without folder and endings. A later reward of the same source
    counts instead of an earlier one.
    """
    by_id = {t.id: place for place, t in enumerate(trajectories)}
    by_file: dict[str, list[int]] = {}
    for place, t in enumerate(trajectories):
        if t.source is not None and t.source.file is not None and t.parent is None:
            for name in _names_of(t.source.file):
                by_file.setdefault(name, []).append(place)
    given: dict[int, list[Reward]] = {}
    notes: list[Note] = []
    said: dict[tuple[int, str, str | None, str | None], float] = {}
    for one in found:
        places = [by_id[one.name]] if one.name in by_id else by_file.get(one.name, [])
        if len(places) == 1:
            given.setdefault(places[0], []).append(one.reward)
            key = (places[0], one.reward.source, one.reward.name, one.reward.at)
            before = said.setdefault(key, one.reward.value)
            if before != one.reward.value:
                where = shown if one.line is None else f"{shown}:{one.line}"
                change = f"{one.name!r} {one.reward.value:g} after {before:g}"
                notes.append(Note("contradictory-reward", f"{where} gives {change}: the later one counts"))
                said[key] = one.reward.value
        else:
            why = f"{len(places)} trajectories are in a file of that name" if places else "no trajectory or file has it"
            where = shown if one.line is None else f"{shown}:{one.line}"
            notes.append(Note("unmatched-reward", f"{where} names {one.name!r}: {why}"))
    if not given:
        some = ", ".join(repr(t.id) for t in trajectories[:3])
        raise InputError(
            f"{shown}: none of its {len(found)} names is a trajectory or a file that was read, e.g. {some}"
        )
    return [_with(t, given[place]) if place in given else t for place, t in enumerate(trajectories)], notes


def _with(trajectory: Trajectory, rewards: list[Reward]) -> Trajectory:
    """With rewards behind its own: given no time, each is as new as the newest of its source."""
    own = list(trajectory.rewards)
    for reward in rewards:
        times = [known.at for known in own if known.source == reward.source and known.at is not None]
        own.append(replace(reward, at=reward.at or max(times, default=None)))
    return replace(trajectory, rewards=own)


def _names_of(file: str) -> set[str]:
    """What a file may be called: its path, its name, both without their endings."""
    names = {file, PurePosixPath(file).name}
    for name in list(names):
        while (end := next((end for end in ENDS if name.endswith(end) and name != end), None)) is not None:
            name = name.removesuffix(end)
            names.add(name)
    return names


def _of_rows(text: str, shown: str) -> Iterator[SideReward]:
    """JSON: an object of rewards, a list of rows, or a row a line."""
    try:
        whole = _decode(text)
    except (msgspec.DecodeError, RecursionError):
        yield from _of_lines(text, shown)
        return
    if isinstance(whole, list):
        yield from (_of_row(row, number, shown) for number, row in enumerate(whole, 1))
    elif any(isinstance(whole.get(key), list) for key in VERDICTS):
        for key, value in VERDICTS.items():
            for name in whole.get(key) or ():
                yield SideReward(str(name), Reward(value), None)
    elif any(key in whole for key in NAMES) and any(key in whole for key in VALUES):
        yield _of_row(whole, 1, shown)
    else:
        for name, value in whole.items():
            if value is not None:
                yield SideReward(name, Reward(_number(value, name, shown, None)), None)


def _of_lines(text: str, shown: str) -> Iterator[SideReward]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = _decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise ParseError(f"not JSON: {error}", shown, number) from error
            yield _of_row(row, number, shown)


def _of_csv(text: str, shown: str) -> Iterator[SideReward]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    columns = set(reader.fieldnames or ())
    if not columns & set(NAMES) or not columns & set(VALUES):
        what = f"a first line with one of {', '.join(NAMES)} and one of {', '.join(VALUES)}"
        raise ParseError(f"neither JSON nor CSV with {what}", shown, 1)
    for row in reader:
        if any(row.get(key) for key in VALUES):  # an empty cell is no reward
            yield _of_row({key: value for key, value in row.items() if value not in (None, "")}, reader.line_num, shown)


def _of_row(row: Any, line: int, shown: str) -> SideReward:
    if not isinstance(row, dict):
        raise ParseError(f"expected an object, not {type(row).__name__}", shown, line)
    name = next((row[key] for key in NAMES if row.get(key) not in (None, "")), None)
    value = next((row[key] for key in VALUES if row.get(key) is not None), None)
    if name is None or value is None:
        raise ParseError(f"expected one of {', '.join(NAMES)} and one of {', '.join(VALUES)}", shown, line)
    source = row.get("source") or "verifier"
    if source not in REWARD_SOURCES:
        raise ParseError(f"no reward source {source!r}; known: {', '.join(REWARD_SOURCES)}", shown, line)
    label, at = row.get("name"), row.get("at")
    if not all(word is None or isinstance(word, str) for word in (label, at)):
        raise ParseError("`name` and `at` must be text", shown, line)
    return SideReward(str(name), Reward(_number(value, str(name), shown, line), source, name=label, at=at), line)


def _number(value: Any, name: str, shown: str, line: int | None) -> float:
    if isinstance(value, str):
        try:
            value = WORDS[value.strip().lower()] if value.strip().lower() in WORDS else float(value)
        except ValueError:
            value = None
    if not isinstance(value, int | float) or not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise ParseError(f"the reward of {name!r} is no finite number", shown, line)
    return float(value)
