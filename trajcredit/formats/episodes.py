"""The steps of a trace -> trajectories: one for each agent that has a context of its own.

| note | says |
| --- | --- |
| `failed-request` | a request to the model failed: nothing was done, so there is nothing to credit |
| `spawner-guessed` | which call started a sub-agent is told by its task or its answer, not by the log |
"""

from __future__ import annotations

from collections.abc import Sequence

from trajcredit.formats.contexts import Context, Contexts, Found, news
from trajcredit.formats.episode import Episode
from trajcredit.formats.family import Family
from trajcredit.formats.said import Key, Piece
from trajcredit.formats.steps import Step, Trace, in_order
from trajcredit.formats.toolruns import ToolRuns
from trajcredit.formats.unwrapping import unwrapped
from trajcredit.model import Note, SpawnedBy, Trajectory

__all__ = ["trajectories_of"]


def trajectories_of(trace: Trace) -> list[Trajectory]:
    """The trajectories of a trace, the first under the trace's own id; none where no agent did anything."""
    steps, notes = in_order(trace.steps)
    steps, nested = unwrapped(steps)
    notes += nested
    cast = _cast(steps)
    for episode in cast.episodes:
        episode.end()
    kept = [episode for episode in cast.episodes if episode.transcript.spans]
    ids: dict[int, str] = {}
    marks: set[str | None] = {None}
    for episode in kept:
        mark = episode.first.id if episode.scope in marks else episode.scope
        ids[episode.number] = f"{trace.id}/{mark}" if ids else trace.id
        marks.add(episode.scope)
    family = Family(kept)
    return [_trajectory(trace, [] if ids[e.number] != trace.id else notes, e, family, ids) for e in kept]


# ---------------------------------------------------------------- steps -> episodes


class _Cast:
    """The episodes of a trace so far, and what finds them."""

    def __init__(self, steps: Sequence[Step], speaking: Sequence[Step]) -> None:
        self.runs = ToolRuns(steps, speaking)
        self.contexts = Contexts()
        self.episodes: list[Episode] = []
        self._latest: dict[str | None, Episode] = {}
        self._by_system: dict[tuple[str | None, Key | None], Episode] = {}

    def of_scope(self, step: Step, scope: str | None, system: Key | None) -> Episode:
        """The latest trajectory in this agent or tool, else a new one; another system prompt is another agent's."""
        episode = self._by_system.get((scope, system)) or self._by_system.get((scope, None))
        if system is None:
            episode = self._latest.get(scope)
        if episode is None:
            episode = Episode(len(self.episodes), step, scope, system, self.runs)
            self.episodes.append(episode)
        elif episode.system is None:
            self._by_system.pop((scope, None), None)
            episode.system = system
        self._by_system[scope, episode.system] = self._latest[scope] = episode
        return episode

    def gone_on_with(self, found: Found, scope: str | None) -> Episode:
        """The trajectory that a request goes on with, which is from now on also that of its agent or tool."""
        self._latest[scope] = self.episodes[found.context.owner]
        return self._latest[scope]


def _cast(steps: Sequence[Step]) -> _Cast:
    told = _told_by_requests(steps)
    speaks = {s.id for s in steps if s.kind == "llm" or (s.kind == "agent" and s.answered and s.id not in told)}
    cast = _Cast(steps, [step for step in steps if step.id in speaks])
    for step in steps:
        if step.id in speaks:
            _speak(step, cast)
        elif step.kind == "tool" and not cast.runs.is_asked_for(step):
            cast.of_scope(step, None if step.scope is None else step.scope.id, None).ran(step)
    return cast


def _told_by_requests(steps: Sequence[Step]) -> set[str]:
    """The agents whose requests to the model are in the log, with what was said."""
    told: set[str] = set()
    for step in steps:
        around = step.scope if step.kind == "llm" and (step.asked or step.answered) else None
        while around is not None and around.kind == "agent" and around.id not in told:
            told.add(around.id)
            around = around.scope
    return told


def _speak(step: Step, cast: _Cast) -> None:
    """One request and its answer: find whose it is, and add what is new."""
    pieces = [piece for message in step.asked for piece in message]
    keys = [piece.key for piece in pieces if piece.key is not None]
    home = step if step.kind == "agent" else step.scope
    scope = None if home is None else home.id
    found = cast.contexts.find(keys, scope) if keys else None
    system = keys[0] if keys and keys[0][0] == "system" else None
    episode = cast.gone_on_with(found, scope) if found else cast.of_scope(step, scope, system)
    before = found.context if found else episode.context
    episode.tools |= {tool.name: tool for tool in step.tools if tool.name not in episode.tools}
    episode.models |= {step.model} if step.model is not None and step.answered else set()

    if pieces or not step.failed:
        episode.hear(*_news(pieces, found, before), step)
        episode.stand_beside(step)
    if step.answered:
        episode.say(step, cast.runs.of_answer(step))
    elif step.failed:
        episode.transcript.notes.append(Note("failed-request", f"request {step.id} failed: {step.why or 'no reason'}"))
    elif not step.content:
        episode.stay_silent(step)

    said = [piece.key for message in step.answered for piece in message if piece.key is not None]
    history = keys if keys or before is None else before.keys
    if before is not None and (not keys or (found is not None and found.how != "branches")):
        before.current = False
    episode.context = Context(episode.number, scope, [*history, *said], len(said))
    cast.contexts.add(episode.context)


def _news(pieces: list[Piece], found: Found | None, before: Context | None) -> tuple[list[Piece], list[bool] | None]:
    """What of a request is new; where the context was rewritten, also whether it stands before what is known."""
    if found is not None and found.how != "rewrites":
        return _behind(pieces, found.shared), None
    if before is None or not before.keys or not pieces:
        return pieces, None
    fresh = news([piece.key for piece in pieces], before.keys)
    end = _end(pieces, before) if found is not None else len(pieces)
    kept = [(piece, place < end) for place, piece in enumerate(pieces) if fresh[place]]
    return [piece for piece, _ in kept], [old for _, old in kept]


def _behind(pieces: list[Piece], shared: int) -> list[Piece]:
    """The pieces behind the first so many that have a key, and behind the thoughts among them."""
    seen = 0
    for place, piece in enumerate(pieces):
        if seen == shared and piece.key is not None:
            return pieces[place:]
        seen += piece.key is not None
    return []


def _end(pieces: list[Piece], before: Context) -> int:
    """Where the last answer that is known ends in a request."""
    places = [place for place, piece in enumerate(pieces) if piece.key is not None]
    keys = [pieces[place].key for place in places]
    last: list[Key | None] = list(before.keys[len(before.keys) - before.answer :])
    for end in range(len(keys), before.answer - 1, -1):
        if keys[end - before.answer : end] == last:
            return places[end - 1] + 1
    return len(pieces)


# ---------------------------------------------------------------- episodes -> trajectories


def _trajectory(trace: Trace, notes: list[Note], episode: Episode, family: Family, ids: dict[int, str]) -> Trajectory:
    first = ids[episode.number] == trace.id
    parent, guessed = (None, []) if first else _parent(episode, family, ids)
    return Trajectory(
        id=ids[episode.number],
        dataset=trace.dataset,
        task=trace.task,
        group=trace.group if parent is None else None,
        trial=trace.trial,
        policy_version=trace.policy_version,
        model=next(iter(episode.models)) if len(episode.models) == 1 else None,
        role=episode.first.agent,
        parent=parent,
        rewards=[*(trace.rewards if parent is None else ()), *episode.rewards()],
        tools=list(episode.tools.values()),
        spans=episode.transcript.spans,
        turns=episode.turns,
        report=[*(trace.notes if first else ()), *notes, *guessed, *episode.transcript.notes],
    )


def _parent(episode: Episode, family: Family, ids: dict[int, str]) -> tuple[SpawnedBy | None, list[Note]]:
    """The call that started a sub-agent, else the agent that it runs in."""
    if (call := family.spawner(episode)) is not None:
        return SpawnedBy(ids[call[0].number], call[1]), []
    if (call := family.guess(episode)) is not None:
        name = ids[call[0].number]
        note = Note("spawner-guessed", f"its task or its answer is that of a call in {name}")
        return SpawnedBy(name, call[1]), [note]
    around = family.around(episode)
    return (SpawnedBy(ids[around.number]) if around is not None else None), []
