"""What was guessed, repaired or left out, said once a kind instead of once a trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from trajcredit.batching import Batch
from trajcredit.exporters import Credit
from trajcredit.graph import SpanGraph
from trajcredit.model import Note, Trajectory

__all__ = ["NoteCount", "count_notes", "count_of", "of_batch", "of_credit", "of_graphs", "of_reading", "of_rewards"]


_PLURALS = {"group": "groups", "trajectory": "trajectories", "span": "spans"}


@dataclass(frozen=True, slots=True)
class NoteCount:
    """How often one stage said one thing, and one place where it did."""

    stage: str
    code: str
    count: int
    what: str
    """What is counted: group, trajectory or span."""
    example: str
    message: str

    def __str__(self) -> str:
        what = self.what if self.count == 1 else _PLURALS[self.what]
        return f"{self.stage}: {self.count:,} {what}: {self.message} ({self.code}), e.g. {self.example}"


def of_reading(trajectories: Iterable[Trajectory]) -> Iterator[tuple[str, Note, str]]:
    """What the readers reported: (stage, note, place)."""
    for trajectory in trajectories:
        for note in trajectory.report:  # one that names another trajectory says what this one has in common with it
            said = note if note.trajectory is None else replace(note, trajectory=None, span=None)
            yield "read", said, _place(said, trajectory.id)


def of_rewards(notes: Iterable[Note]) -> Iterator[tuple[str, Note, str]]:
    """Which rewards of a file beside the logs belong to nothing that was read."""
    return (("rewards", note, "the file of rewards") for note in notes)


def of_graphs(graphs: Iterable[SpanGraph]) -> Iterator[tuple[str, Note, str]]:
    """What the graph builder guessed."""
    for graph in graphs:
        yield from (("graph", note, _place(note, graph.trajectory.id)) for note in graph.notes)


def of_batch(batch: Batch) -> Iterator[tuple[str, Note, str]]:
    """What the batch left out, and what the graphs in it guessed, which its notes repeat."""
    guessed = {replace(note, trajectory=graph.trajectory.id) for graph in batch.graphs or () for note in graph.notes}
    yield from (("graph" if note in guessed else "batch", note, _place(note)) for note in batch.notes)


def of_credit(credit: Credit) -> Iterator[tuple[str, Note, str]]:
    """What an attributor could not score as asked."""
    yield from ((credit.attributor, note, _place(note)) for note in credit.notes)


def count_notes(notes: Iterable[tuple[str, Note, str]]) -> Sequence[NoteCount]:
    """One entry a stage and code, in order of first appearance, with the first place and its message."""
    found: dict[tuple[str, str], list[tuple[Note, str]]] = {}
    for stage, note, place in notes:
        found.setdefault((stage, note.code), []).append((note, place))
    return [
        NoteCount(stage, code, len(entries), _what(entries[0][0]), entries[0][1], entries[0][0].message)
        for (stage, code), entries in found.items()
    ]


def count_of(stage: str, first: Note, count: int) -> NoteCount:
    """So many notes of one kind, the first of which is known."""
    return NoteCount(stage, first.code, count, _what(first), _place(first), first.message)


def _what(note: Note) -> str:
    if note.span is not None:
        return "span"
    return "group" if note.group is not None and note.trajectory is None else "trajectory"


def _place(note: Note, owner: str | None = None) -> str:
    trajectory = note.trajectory or owner
    if trajectory is None:
        return f"group {note.group}" if note.group is not None else "the whole batch"
    return trajectory if note.span is None else f"{trajectory} span {note.span}"
