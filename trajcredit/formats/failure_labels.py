"""What a person found wrong in a run, kept in a file beside the logs in the form of AgentRx -> notes at its messages.

A list of `{trajectory_id, failures: [{step_number, failure_category, failed_agent, step_reason}], root_cause}` in a
file whose name ends in `ground_truth.json`, in the folder of the log or in `ground_truth/` beside that. A log belongs
to the entry whose `trajectory_id` is its file's name without the ending; steps count messages from 1.

| note | says |
| --- | --- |
| `failure-label` | who failed at this message, how and why; which of several is the root cause |
| `label-mismatch` | a label names a message that the log does not have |
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec.structs import replace

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.split import Record
from trajcredit.model import ACTION_KINDS, Note, Trajectory

__all__ = ["with_failures"]

FILE = "ground_truth.json"
FOLDERS = (".", "../ground_truth")


class Failure(msgspec.Struct, gc=False):
    """One failing step."""

    step_number: int | str | None = None
    failure_id: int | str | None = None
    failure_category: str | None = None
    failed_agent: str | None = None
    step_reason: str | None = None


class Entry(msgspec.Struct, gc=False):
    """What was found in one run."""

    trajectory_id: int | str
    failures: list[Failure]
    root_cause: dict[str, Any] | None = None


_entry = msgspec.json.Decoder(Entry).decode


def with_failures(document: Document, trajectory: Trajectory) -> Trajectory:
    """The trajectory with what the file beside its log says is wrong in it."""
    siblings = document.siblings
    if siblings is None:
        return trajectory
    known = siblings.once("failure labels", lambda: _labels(document))
    entry = known.get(PurePosixPath(document.name).name.partition(".json")[0])
    if entry is None:
        return trajectory
    return replace(trajectory, report=[*trajectory.report, *_notes(entry, trajectory)])


def _labels(document: Document) -> dict[str, Entry]:
    """The entries of all such files, by the name of the log."""
    siblings = document.siblings
    names = [name for folder in FOLDERS for name in (siblings.names(folder) if siblings is not None else ())]
    found: dict[str, Entry] = {}
    for name in names:
        try:
            file = document.beside(name) if name.endswith(FILE) else None
            for record in file.records if file is not None else ():
                if file is not None and isinstance(record, Record):
                    entry, _ = decoded(file, record, _entry)
                    found.setdefault(str(entry.trajectory_id), entry)
        except ParseError:
            continue  # no such labels, or damaged: a run that nobody labelled loses nothing
    return found


def _notes(entry: Entry, trajectory: Trajectory) -> list[Note]:
    root = (entry.root_cause or {}).get("failure_id")
    notes: list[Note] = []
    for failure in entry.failures:
        step = str(failure.step_number)
        at = _span_of(trajectory, int(step) - 1) if step.isdecimal() and len(step) < 9 else None
        cause = "the root cause: " if root is not None and failure.failure_id == root else ""
        said = [f"{failure.failed_agent or 'somebody'} failed at step {step}", failure.failure_category]
        text = cause + ": ".join(word for word in (*said, failure.step_reason) if word)
        if at is None:
            notes.append(Note("label-mismatch", f"{text}; no message of the log stands there"))
        else:
            notes.append(Note("failure-label", text, at))
    return notes


def _span_of(trajectory: Trajectory, message: int) -> int | None:
    """The first action of a message, else its first span."""
    spans = [place for place, span in enumerate(trajectory.spans) if span.message_index == message]
    acts = [place for place in spans if trajectory.spans[place].kind in ACTION_KINDS]
    return next(iter([*acts, *spans]), None)
