"""Which trajectory a file of rewards means by a name: an id, else a path however it is typed, else the end of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from trajcredit.formats.sources import Source, expand
from trajcredit.model import Trajectory

__all__ = ["Named"]

ENDS = (".gz", ".zst", ".json", ".jsonl", ".traj", ".eval", ".parquet", ".log", ".txt")
MOST_NAMED = 4
"""Candidates that are named where a name fits several."""


class Named:
    """The trajectories that were read, found by name.

    `paths` are those that were read: with them a name that is an absolute path, or one with `.` and `..` in it, is
    followed from here and from `beside`, the folder of the file of rewards. Without them only the ends of paths that
    trajectories keep are known.
    """

    def __init__(self, trajectories: Sequence[Trajectory], paths: Iterable[str], beside: Path) -> None:
        self._trajectories = trajectories
        self._ids = {t.id: place for place, t in enumerate(trajectories)}
        self._from = (Path.cwd(), beside.absolute())
        full = {s.name: _real(Path.cwd(), str(s.path)) for s in expand(paths) if isinstance(s, Source) and s.path}
        self._by_path: dict[str, list[int]] = {}
        for place, t in enumerate(trajectories):
            file = None if t.source is None else t.source.file
            if file is None or t.parent is not None:
                continue
            path = full.get(file, file)
            self._by_path.setdefault(path, []).append(place)
            if t.id.startswith(f"{file}#") or t.id.startswith(f"{file}:"):  # made of the name of its file
                self._by_path.setdefault(path + t.id.removeprefix(file), []).append(place)
        self._by_end: dict[str, list[str]] = {}
        for path in self._by_path:
            for name in _without_endings(PurePosixPath(path).name):
                self._by_end.setdefault(name, []).append(path)

    def place_of(self, name: str) -> int | str:
        """The trajectory's place among those read, or why there is none; LookupError where the name fits several."""
        if name in self._ids:
            return self._ids[name]
        paths = [path for path in dict.fromkeys(_real(start, name) for start in self._from) if path in self._by_path]
        paths = paths or self._ending_in(name)
        places = sorted({place for path in paths for place in self._by_path[path]})
        if len(places) == 1:
            return places[0]
        if not places:
            return "no trajectory or file has it"
        some = ", ".join(repr(self._trajectories[place].id) for place in places[:MOST_NAMED])
        more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
        what = "files end in that" if len(paths) > 1 else "trajectories are in that file"
        raise LookupError(f"{len(places) if len(paths) == 1 else len(paths)} {what}: {some}{more}; give an id")

    def _ending_in(self, name: str) -> list[str]:
        """The paths that end in this one, with their endings rather than without."""
        wanted = PurePosixPath(os.path.normpath(name)) if name else PurePosixPath()
        above = wanted.parts[:-1]
        found = [
            path
            for path in self._by_end.get(wanted.name, ())
            if _is_end(above, PurePosixPath(path).parts[:-1], wanted.is_absolute())
        ]
        exact = [path for path in found if PurePosixPath(path).name == wanted.name]
        return exact or found


def _is_end(above: tuple[str, ...], parts: tuple[str, ...], absolute: bool) -> bool:
    """Whether the folders of a path end in these; those of one whose beginning is not known may be an end of these."""
    if absolute and parts[:1] == ("/",):
        return parts == above
    if parts[:1] != ("/",) and len(above) > len(parts):
        return above[len(above) - len(parts) :] == parts
    return parts[len(parts) - len(above) :] == above


def _without_endings(name: str) -> Iterator[str]:
    """A file's name, and the same without one ending after the other."""
    yield name
    while (end := next((end for end in ENDS if name.endswith(end) and name != end), None)) is not None:
        name = name.removesuffix(end)
        yield name


def _real(start: Path, path: str) -> str:
    """The absolute path from there, links to folders resolved as the names of logs have them."""
    try:
        full = os.path.join(start, path)
        return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    except (OSError, ValueError):
        return path
