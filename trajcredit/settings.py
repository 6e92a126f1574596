"""Project settings for work on files alone: which tools write, which reward counts, what makes a group.

# trajcredit.toml, beside the logs
project = "flights"
reward = "human"
group_by = "task"

[tools]
writes = ["hold_seat"]
reads = ["set_filter"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError

__all__ = ["FILE", "Settings", "find", "load", "tool_table"]

FILE = "trajcredit.toml"
_TEXTS = ("project", "reward", "group_by")
_LISTS = ("writes", "reads")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says once so that no command has to; null leaves the choice to the batch."""

    writes: Mapping[str, bool] = field(default_factory=dict)
    """Tool name -> whether its calls change state."""
    reward: str | None = None
    """The reward source to read (verifier, human, reward_model or judge), or the name of a reward."""
    group_by: str | None = None
    """Trajectory fields, joined by +, that make a group."""
    project: str | None = None
    """The project of trajectories whose log names none."""


def find(paths: Sequence[str]) -> Settings:
    """The settings beside the first log, else those of the current folder, else none."""
    beside = [_folder(path) for path in paths[:1] if path != "-"]
    for place in (*beside, Path()):
        if (place / FILE).is_file():
            return load(place / FILE)
    return Settings()


def load(file: Path) -> Settings:
    """The settings of one file; InputError names the key or value that does not belong."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: {error}") from error
    _refuse_unknown(table, (*_TEXTS, "tools"), f"{file}:")
    texts = {key: _text(table, key, file) for key in _TEXTS}
    tools = table.get("tools", {})
    if not isinstance(tools, dict):
        raise InputError(f"{file}: tools must be a table, not {tools!r}")
    _refuse_unknown(tools, _LISTS, f"{file}: [tools]")
    writes, reads = (_names(tools, key, file) for key in _LISTS)
    return Settings(writes=tool_table(writes, reads, f"{file}: "), **texts)


def tool_table(writes: Iterable[str], reads: Iterable[str], place: str = "") -> dict[str, bool]:
    """Tool name -> does it write; a tool cannot be both."""
    table = dict.fromkeys(writes, True)
    for name in reads:
        if table.get(name):
            raise InputError(f"{place}tool {name!r} is listed under writes and under reads")
        table[name] = False
    return table


def _folder(path: str) -> Path:
    """The folder a path, folder or glob starts in."""
    fixed = Path(re.split(r"[*?\[]", path, maxsplit=1)[0] + "x").parent if re.search(r"[*?\[]", path) else Path(path)
    return fixed if fixed.is_dir() else fixed.parent


def _refuse_unknown(table: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    unknown = [key for key in table if key not in known]
    if unknown:
        raise InputError(f"{place} unknown key {', '.join(map(repr, unknown))}; known: {', '.join(known)}")


def _text(table: Mapping[str, Any], key: str, file: Path) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{file}: {key} must be text, not {value!r}")
    return value


def _names(table: Mapping[str, Any], key: str, file: Path) -> list[str]:
    value = table.get(key, [])
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise InputError(f"{file}: [tools] {key} must be a list of tool names, not {value!r}")
    return value
