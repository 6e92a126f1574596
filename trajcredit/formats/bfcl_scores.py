"""The score file of a BFCL run, which lies beside its results: it lists what failed, so that all else passed.

| note | says |
| --- | --- |
| `score-mismatch` | its totals do not fit what it lists, or the results: who passed is unknown, its failures count |
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.parts import json_text
from trajcredit.model import Note

__all__ = ["Scores", "is_score", "partner", "scores_beside"]

TOTALS = frozenset({"accuracy", "correct_count", "total_count"})
"""Keys of the first line of a score file."""
ENDS = {"_result.json": "_score.json", "_score.json": "_result.json"}
FOLDERS = {"result": "score", "score": "result"}


class Line(msgspec.Struct, gc=False):
    """The totals, or one task that failed."""

    id: str | int | None = None
    error: Any = None
    correct_count: int | None = None
    total_count: int | None = None


_line = msgspec.json.Decoder(Line).decode


@dataclass(frozen=True, slots=True)
class Scores:
    """Who failed and why; `mismatch` says why it is unknown who passed, null where it is known."""

    file: str
    failed: dict[str, str] = field(default_factory=dict)
    mismatch: str | None = None

    def of(self, task: str | None) -> tuple[bool | None, list[Note]]:
        """Whether a task passed (null: unknown), and what is to be said about it."""
        if task in self.failed:
            why = self.failed[task]
            return False, [Note("run-error", f"the checker reports: {why}")] if why else []
        if self.mismatch is not None:
            return None, [Note("score-mismatch", f"{self.mismatch}: whether this task passed is unknown")]
        return True, []


def is_score(document: Document) -> bool:
    """Whether the document begins with the totals of a score file."""
    return document.keys >= TOTALS


def partner(document: Document) -> Document | None:
    """The scores of results, or the results of scores: in the same folder, or in the tree beside this one."""
    folder, name = PurePosixPath(document.name).parent, PurePosixPath(document.name).name
    if document.siblings is not None:
        folder = PurePosixPath(os.path.abspath(document.siblings.folder))
    end = next((end for end in ENDS if name.endswith(end)), None)
    if end is None:
        return None
    other = name.removesuffix(end) + ENDS[end]
    return document.beside(other, *_across(folder.parts, other))


def _across(parts: tuple[str, ...], other: str) -> Iterator[str]:
    """`score/MODEL/...` from inside of `result/MODEL/...`, or the other way round; the innermost such folder first."""
    for up, part in enumerate(reversed(parts), 1):
        if part in FOLDERS:
            inner = parts[len(parts) - up + 1 :]
            yield "/".join([*[".."] * up, FOLDERS[part], *inner, other])


def scores_beside(document: Document) -> Scores | None:
    """What the score file of these results says; ParseError where one is there and damaged."""
    found = partner(document)
    if found is None or not is_score(found):
        return None
    failed: dict[str, str] = {}
    total = correct = None
    for record in found.records:
        if isinstance(record, ParseError):
            raise record
        line, _ = decoded(found, record, _line)
        if line.id is not None:
            failed[str(line.id)] = json_text(line.error)[:500] if line.error else ""
        elif line.total_count is not None:
            total, correct = line.total_count, line.correct_count
    name = PurePosixPath(found.name).name
    return Scores(name, failed, _mismatch(name, failed, total, correct, len(document.records)))


def _mismatch(file: str, failed: dict[str, str], total: int | None, correct: int | None, tasks: int) -> str | None:
    """Why passing cannot be told from a list of failures; null where all numbers fit."""
    if total is None or correct is None or total - correct != len(failed):
        return f"{file} lists {len(failed)} failures, its totals are {correct} right of {total}"
    return f"{file} counts {total} tasks, there are {tasks} results" if total != tasks else None
