"""A file of rewards beside the logs -> rewards of the trajectories it names.

| file | holds |
| --- | --- |
| JSON object | trajectory id or file name -> reward; or an evaluation's `resolved_ids` and `unresolved_ids` |
| JSON list, JSON lines | objects: `trajectory_id`, `trajectory`, `id` or `file`, with `reward`, `value` or `score` |
| CSV | the same keys as its first line |

Objects and lines may also have `source`, `name` and `at`. A row that is none is refused with its line and field; the
others count.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.repair import TOO_DEEP
from trajcredit.formats.sources import Source, load
from trajcredit.formats.unpacking import CutOff
from trajcredit.model import LARGEST_NUMBER, REWARD_SOURCES, Note, Reward, Trajectory, instant
from trajcredit.service.reward_names import Named

__all__ = ["SideReward", "read_side_rewards", "rewarded"]

NAMES = ("trajectory_id", "trajectory", "id", "file")
VALUES = ("reward", "value", "score")
WORDS = {"true": 1.0, "false": 0.0, "resolved": 1.0, "unresolved": 0.0, "pass": 1.0, "fail": 0.0}
VERDICTS = {"resolved_ids": 1.0, "unresolved_ids": 0.0}


@dataclass(frozen=True, slots=True)
class SideReward:
    """One reward, the trajectory or file it names, and the line it stands on."""

    name: str
    reward: Reward
    line: int | None


Row: TypeAlias = SideReward | ParseError


def read_side_rewards(path: Path) -> list[Row]:
    """Every reward of a file, an error in the place of a row that is none; ParseError where no row can be told."""
    shown = str(path)
    cut: list[Row] = []
    try:
        data = load(Source(path.name, path))
    except CutOff as error:
        data, cut = error.data, [ParseError(error.reason, shown)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"not UTF-8 at byte {error.start}", shown) from error
    found = _of_rows(text, shown) if text.lstrip()[:1] in ("{", "[") else _of_csv(text, shown)
    return [*found, *cut]


def rewarded(
    trajectories: Sequence[Trajectory], found: Sequence[Row], shown: str, paths: Iterable[str] = ()
) -> tuple[list[Trajectory], list[Note], list[ParseError]]:
    """The trajectories with their rewards, what is to be said, and the rows that could not be used.

    A name is a trajectory's id; else the path of its file, absolute, from here or from the folder of the rewards; else
    an end of that, with or without endings. `paths` are those that were read. One that fits several is an error. A
    later reward of the same source counts instead of an earlier one. InputError where no row fits any trajectory.
    """
    named = Named(trajectories, paths, Path(shown).parent)
    errors = [row for row in found if isinstance(row, ParseError)]
    given: dict[int, list[Reward]] = {}
    notes: list[Note] = []
    said: dict[tuple[int, str, str | None, str | None], float] = {}
    for one in found:
        if isinstance(one, ParseError):
            continue
        where = shown if one.line is None else f"{shown}:{one.line}"
        try:
            place = named.place_of(one.name)
        except LookupError as error:
            errors.append(ParseError(f"{one.name!r}: {error.args[0]}", shown, one.line))
            continue
        if isinstance(place, str):
            notes.append(Note("unmatched-reward", f"{where} names {one.name!r}: {place}"))
            continue
        given.setdefault(place, []).append(one.reward)
        key = (place, one.reward.source, one.reward.name, one.reward.at)
        before = said.setdefault(key, one.reward.value)
        if before != one.reward.value:
            change = f"{one.name!r} {one.reward.value:g} after {before:g}"
            notes.append(Note("contradictory-reward", f"{where} gives {change}: the later one counts"))
            said[key] = one.reward.value
    if not given:
        raise InputError(_nothing(trajectories, found, errors, shown))
    return [_with(t, given[place]) if place in given else t for place, t in enumerate(trajectories)], notes, errors


def _nothing(trajectories: Sequence[Trajectory], found: Sequence[Row], errors: Sequence[ParseError], shown: str) -> str:
    """That no row of the file can be used, and why."""
    some = ", ".join(repr(t.id) for t in trajectories[:3])
    names = len(found) - sum(isinstance(row, ParseError) for row in found)
    said = f"{shown}: none of its {names} names is one trajectory or file that was read, e.g. {some}"
    return "; ".join([said, *(str(error) for error in errors[:3])])


def _with(trajectory: Trajectory, rewards: list[Reward]) -> Trajectory:
    """With rewards behind its own: given no time, each is as new as the newest of its source."""
    own = list(trajectory.rewards)
    for reward in rewards:
        times = [known.at for known in own if known.source == reward.source and known.at is not None]
        own.append(replace(reward, at=reward.at or max(times, default=None)))
    return replace(trajectory, rewards=own)


# ---------------------------------------------------------------- forms of a file


class _Pairs(dict[str, Any]):
    """An object, with keys that come again."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _json(text: str) -> Any:
    """A JSON value, in which NaN and Infinity are numbers: the row that has one is refused, not the file."""
    return json.loads(text, object_pairs_hook=_Pairs)


def _is_json(text: str) -> bool:
    try:
        _json(text)
    except (ValueError, RecursionError):
        return False
    return True


def _of_rows(text: str, shown: str) -> Iterator[Row]:
    """JSON: an object of rewards, a list of rows, or a row a line."""
    try:
        whole = _json(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and not _is_json(text.lstrip().partition("\n")[0]):
            raise ParseError(f"not JSON: {error.msg}", shown, error.lineno) from error  # one value over several lines
        yield from _of_lines(text, shown)
        return
    if isinstance(whole, list):
        yield from (_row(row, number, shown, "record") for number, row in enumerate(whole, 1))
    elif any(isinstance(whole.get(key), list) for key in VERDICTS):
        for key, value in VERDICTS.items():
            for name in whole[key] if isinstance(whole.get(key), list) else ():
                yield SideReward(str(name), Reward(value), None)
    elif any(key in whole for key in NAMES) and any(key in whole for key in VALUES):
        yield _row(whole, 1, shown, "line")
    else:
        for name, value in whole.pairs:
            if value is not None:
                try:
                    yield SideReward(name, Reward(_number(value, name)), None)
                except ValueError as error:
                    yield ParseError(str(error), shown)


def _of_lines(text: str, shown: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = _json(line)
            except RecursionError:
                yield ParseError(TOO_DEEP, shown, number)
            except ValueError as error:
                yield ParseError(f"not JSON: {error}", shown, number)
            else:
                yield _row(row, number, shown, "line")


def _of_csv(text: str, shown: str) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    try:
        columns = set(reader.fieldnames or ())
        if not columns & set(NAMES) or not columns & set(VALUES):
            what = f"a first line with one of {', '.join(NAMES)} and one of {', '.join(VALUES)}"
            raise ParseError(f"neither JSON nor CSV with {what}", shown, 1)
        for row in reader:
            if any(row.get(key) for key in VALUES):  # an empty cell is no reward
                filled = {key: value for key, value in row.items() if value not in (None, "")}
                yield _row(filled, reader.line_num, shown, "line")
    except csv.Error as error:
        yield ParseError(f"no CSV from here on: {error}", shown, reader.line_num)


def _row(row: Any, number: int, shown: str, what: str) -> Row:
    """The reward of one row, or why it is none."""
    try:
        return _of_row(row, number)
    except ValueError as error:
        return ParseError(str(error) if what == "line" else f"{what} {number}: {error}", shown, number)


def _of_row(row: Any, line: int) -> SideReward:
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, not {type(row).__name__}")
    name = next((row[key] for key in NAMES if row.get(key) not in (None, "")), None)
    value = next((row[key] for key in VALUES if row.get(key) is not None), None)
    if name is None or value is None:
        raise ValueError(f"expected one of {', '.join(NAMES)} and one of {', '.join(VALUES)}")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise ValueError(f"expected text as {', '.join(NAMES)}, not {type(name).__name__}")
    if row.get("span") is not None:
        raise ValueError("`span`: rewards of single spans are not taken from a file of rewards, log them on the spans")
    source = row.get("source") or "verifier"
    if source not in REWARD_SOURCES:
        raise ValueError(f"no reward source {source!r}; known: {', '.join(REWARD_SOURCES)}")
    label, at = row.get("name"), row.get("at")
    if not all(word is None or isinstance(word, str) for word in (label, at)):
        raise ValueError("`name` and `at` must be text")
    try:
        instant(at)
    except InputError as error:
        raise ValueError(f"`at`: {error}") from error
    return SideReward(str(name), Reward(_number(value, str(name)), source, name=label, at=at), line)


def _number(value: Any, name: str) -> float:
    if isinstance(value, str):
        try:
            value = WORDS[value.strip().lower()] if value.strip().lower() in WORDS else float(value)
        except ValueError:
            value = None
    if not isinstance(value, int | float) or not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise ValueError(f"the reward of {name!r} is no finite number")
    return float(value)
