"""Where conversations of one log part: the note `branched` names the one that is left, whose id may still change."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from trajcredit.model import Trajectory

__all__ = ["Forks", "nth_name"]


def nth_name(name: str, n: int) -> str:
    """What a reader calls the n-th trajectory of its log with this id, until ids are settled."""
    return name if n == 1 else f"{name}#{n}"


class Forks:
    """The ids that the trajectories of one log get, in their order."""

    def __init__(self) -> None:
        self._asked = Counter[str]()
        self._got: dict[str, str | None] = {}
        """Name that a reader uses -> the id, where it is another; null where the record was read before."""

    def follow(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, its note with the id that the one it leaves got."""
        if not self._got or not any(note.code == "branched" for note in trajectory.report):
            return trajectory
        got = self._got
        report = [
            replace(note, trajectory=got[note.trajectory])
            if note.code == "branched" and note.trajectory in got
            else note
            for note in trajectory.report
        ]
        return replace(trajectory, report=report)

    def settled(self, asked: str, got: str | None) -> None:
        """The next trajectory asked for this id and got that one; null: it is not read again."""
        self._asked[asked] += 1
        name = nth_name(asked, self._asked[asked])
        if name != got:
            self._got[name] = got
