"""Which call of which agent started a sub-agent: the tool it ran in, else the call with its task or its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from trajcredit.formats.episode import Episode

__all__ = ["Family"]

Call: TypeAlias = tuple[Episode, int]
"""Whose call, and its span."""


class Family:
    """The trajectories of one trace once each has all its spans."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._called: dict[str, Call] = {}
        self._scopes: dict[str | None, Episode] = {}
        self._about: dict[tuple[str, str], dict[tuple[int, int], Call]] = {}
        for episode in episodes:
            self._scopes.setdefault(episode.scope, episode)
            for run, index in episode.called.items():
                self._called.setdefault(run, (episode, episode.place(index)))
            for index, span in enumerate(episode.transcript.spans):
                if span.kind == "tool_call" and isinstance(span.arguments, dict):
                    for value in span.arguments.values():
                        self._note("task", value, (episode, index))
                elif span.result_of is not None:
                    self._note("answer", span.text, (episode, span.result_of))

    def _note(self, what: str, text: object, call: Call) -> None:
        if isinstance(text, str) and text:
            self._about.setdefault((what, text), {})[call[0].number, call[1]] = call

    def spawner(self, episode: Episode) -> Call | None:
        """The call whose tool the agent ran in."""
        around = episode.first.spawner
        call = self._called.get(around.id) if around is not None else None
        return call if call is not None and call[0] is not episode else None

    def guess(self, episode: Episode) -> Call | None:
        """The one call of another agent that has this one's task among its arguments, or its answer as its result."""
        spans = episode.transcript.spans
        task = next((span.text for span in spans if span.kind == "user" and span.text), "")
        answer = next((span.text for span in reversed(spans) if span.kind == "assistant" and span.text), "")
        found = {**self._about.get(("task", task), {}), **self._about.get(("answer", answer), {})}
        others = [call for call in found.values() if call[0] is not episode]
        return others[0] if len(others) == 1 else None

    def around(self, episode: Episode) -> Episode | None:
        """The trajectory of the agent that this one's agent runs in."""
        around = episode.first.scope
        while around is not None:
            other = self._scopes.get(around.id)
            if other is not None and other is not episode and around.id != episode.scope:
                return other
            around = around.scope
        return None
