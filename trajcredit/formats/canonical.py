"""The canonical form itself, one trajectory a line: what `trajcredit` writes, and any program may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, Match, trajectories
from trajcredit.formats.repair import TOO_DEEP, too_deep
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory, check
from trajcredit.registry import formats

__all__ = ["Canonical"]

_trajectories = msgspec.json.Decoder(Trajectory)


@formats.register("trajcredit")
@dataclass(frozen=True, slots=True)
class Canonical:
    """trajcredit's own form (`trajcredit.trajectory/1`), which keeps everything that any reader finds.

    Left out: nothing; an unknown key is an error that names it.
    """

    def sniff(self, document: Document) -> Match:
        """Its objects name their schema."""
        schema = document.peek("schema")
        return Match.YES if isinstance(schema, str) and schema.startswith("trajcredit.trajectory/") else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """The trajectories, as they were written."""
        return trajectories(document, _trajectories.decode, _checked)


def _checked(document: Document, record: Record, trajectory: Trajectory, notes: list[Note]) -> Trajectory:
    """The trajectory as it stands, unless it refers to nothing or to the future."""
    check(trajectory)
    free = [*(span.arguments for span in trajectory.spans), *(tool.parameters for tool in trajectory.tools)]
    if any(too_deep(value) for value in free if isinstance(value, dict | list)):
        raise InputError(TOO_DEEP)
    return replace(trajectory, report=trajectory.report + notes) if notes else trajectory
