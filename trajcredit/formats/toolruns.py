"""Which call a run of a tool answers: by the call's id, else by tool, arguments and order."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence

from trajcredit.formats.said import Key, Piece
from trajcredit.formats.steps import Step

__all__ = ["ToolRuns"]


class ToolRuns:
    """The runs of tools in one trace, each given to one call."""

    def __init__(self, steps: Sequence[Step], speaking: Sequence[Step]) -> None:
        self._queues: dict[Hashable, deque[Step]] = {}
        self._claimed: set[str] = set()
        for step in steps:
            if step.kind == "tool":
                for place in self._places(step):
                    self._queues.setdefault(place, deque()).append(step)
        self._of_answer = {step.id: [self.claim(call, step.scope) for call in step.calls] for step in speaking}
        asked = [piece for step in speaking for message in step.asked for piece in message]
        calls = [piece for piece in asked if piece.kind == "tool_call"]
        self._ids = {call.call_id for call in calls if call.call_id}
        self._keys: set[Key | None] = {call.key for call in calls}
        self._names = {call.name for call in calls}

    @staticmethod
    def _places(run: Step) -> list[Hashable]:
        """Where a run waits for its call: first by its id; by the rest also for calls without one."""
        scope = None if run.scope is None else run.scope.id
        rest: list[tuple[Hashable, ...]] = [(scope, run.call_key), (run.call_key,), (scope, run.name)]
        found: list[Hashable] = [("any", *place) for place in rest]
        return found + ([("id", run.call_id)] if run.call_id else [("no id", *place) for place in rest])

    def of_answer(self, step: Step) -> list[Step | None]:
        """The runs of the calls in an answer, one a call, null where none was logged."""
        return self._of_answer.get(step.id, [])

    def claim(self, call: Piece, scope: Step | None) -> Step | None:
        """The run that answers a call, which is then taken; null where there is none.

        Of the runs without this id those with the same arguments come first, in the same agent, then in any; then those
        of the same tool in the same agent.
        """
        home = None if scope is None else scope.id
        which = "no id" if call.call_id else "any"
        places = ((which, home, call.key), (which, call.key), (which, home, call.name))
        for place in ((("id", call.call_id),) if call.call_id else ()) + places:
            queue = self._queues.get(place)
            while queue:
                run = queue.popleft()
                if run.id not in self._claimed:
                    self._claimed.add(run.id)
                    return run
        return None

    def is_asked_for(self, run: Step) -> bool:
        """Whether an answer, or the history of a request, holds the call of this run."""
        if run.id in self._claimed or (run.call_id and run.call_id in self._ids):
            return True
        if run.call_id and self._ids:
            return False
        return run.call_key in self._keys or (run.arguments is None and run.name in self._names)
