"""Absolute paths -> the short names they go by in ids and data sets, the same on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

__all__ = ["short_names"]


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Each path -> its shortest end that no other has: whole components, at least the last one."""
    names: dict[str, str] = {}
    waiting = {path: PurePath(path).parts for path in paths}
    length = 0
    while waiting:
        length += 1
        shared = Counter(parts[-length:] for parts in waiting.values())
        settled = [path for path, parts in waiting.items() if shared[parts[-length:]] == 1 or length > len(parts)]
        for path in settled:
            names[path] = _text(PurePath(*waiting.pop(path)[-length:]))
    return names


def _text(path: PurePath) -> str:
    """The path with forward slashes; bytes that are no UTF-8 as the escapes they are shown with."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()
