"""tau2-bench results: one simulation a task and trial, in one file or a file each.

| note | says |
| --- | --- |
| `user-call` | the simulated user called tools: what it did stands as an observation |
| `merged-chunks` | speech that was logged in chunks is joined, a span for each time a speaker has the floor |
| `content-off` | somebody spoke, but the log keeps no words of it |
| `run-error` | the run ended in an error: its reward is no verdict on the agent |
| `unknown-role` | a message of a role that the format does not have is kept as a note in the transcript |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import logged_id, outcome_of
from trajcredit.formats.document import Document, Match, decoded, trajectories
from trajcredit.formats.parts import arguments_of, json_text, text_of, time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Edge, Note, Span, Trajectory
from trajcredit.registry import formats

__all__ = ["Tau2Bench"]

FORMAT = "tau2_bench"
CUT = ("max_steps", "timeout", "context_window_exceeded")
FAILED = ("agent_error", "user_error", "infrastructure_error", "unexpected_error")
"""How a simulation ends that is stopped before its end, or breaks."""
SIMULATION = {"task_id", "termination_reason"}
USER = "user"


class Call(msgspec.Struct, gc=False):
    """A call by the agent, or by the simulated user."""

    id: str | int | None = None
    name: str | None = None
    arguments: Any = None
    requestor: str | None = None


class Message(msgspec.Struct, gc=False):
    """A message; of a tool, `id` is that of the call it answers."""

    role: str
    content: Any = None
    tool_calls: list[Call] | None = None
    id: str | int | None = None
    requestor: str | None = None
    error: bool | None = None
    tool_messages: list[Message] | None = None
    timestamp: str | int | float | None = None
    cost: float | None = None
    usage: Any = None
    contains_speech: bool | None = None


class Tick(msgspec.Struct, gc=False):
    """A moment of a spoken conversation."""

    agent_chunk: Message | None = None
    user_chunk: Message | None = None
    agent_tool_calls: list[Call] | None = None
    agent_tool_results: list[Message] | None = None
    user_tool_calls: list[Call] | None = None
    user_tool_results: list[Message] | None = None


class Verdict(msgspec.Struct, gc=False):
    """Of the verdict only the reward: the reference actions beside it must not reach the graph."""

    reward: float | None = None


class Simulation(msgspec.Struct, gc=False):
    """One task, attempted once."""

    task_id: str | int
    id: str | int | None = None
    trial: str | int | None = None
    termination_reason: str | None = None
    reward_info: Verdict | None = None
    messages: list[Message] | None = None
    ticks: list[Tick] | None = None
    end_time: str | None = None


class Results(msgspec.Struct, gc=False):
    """A result file."""

    simulations: list[msgspec.Raw]
    info: Any = None


_simulation = msgspec.json.Decoder(Simulation)
_results = msgspec.json.Decoder(Results)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Tau2Bench:
    """tau2-bench results, also of spoken and two-sided tasks; what the simulated user does with tools is no action.

    Left out: the parts of a reward (`db_check`, `action_checks` and others), seeds, the messages as providers sent
    them.
    """

    def sniff(self, document: Document) -> Match:
        """Simulations, or one of them."""
        keys = document.keys
        whole = "simulations" in keys and not keys.isdisjoint(("tasks", "info"))
        one = keys >= SIMULATION and not keys.isdisjoint(("messages", "ticks"))
        return Match.YES if one or (whole and isinstance(document.peek("simulations"), list)) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a simulation."""
        if document.keys >= SIMULATION:
            yield from trajectories(document, _simulation.decode, partial(_trajectory, None))
            return
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                results, _ = decoded(document, record, _results.decode)
                inner = document.inside(results.simulations)
                if not results.simulations:
                    raise InputError("it holds no simulation")
                yield from trajectories(inner, _simulation.decode, partial(_trajectory, _model(results.info)))
            except ParseError as error:
                yield error
            except InputError as error:
                yield document.error(str(error))


def _model(info: Any) -> str | None:
    agent = info.get("agent_info") if isinstance(info, dict) else None
    model = agent.get("llm") if isinstance(agent, dict) else None
    return model if isinstance(model, str) else None


def _trajectory(
    model: str | None, document: Document, record: Record, run: Simulation, notes: list[Note]
) -> Trajectory:
    talk = _Talk()
    for index, message in enumerate(run.messages or ()):
        talk.add(message, index)
    for index, tick in enumerate(run.ticks or ()):
        talk.hear(tick, index)
    talk.finish()
    dataset, task, trial = document.dataset_of(record), str(run.task_id), logged_id(run.trial)
    return Trajectory(
        id=logged_id(run.id) or ":".join(part for part in (dataset or document.name, task, trial) if part),
        dataset=dataset,
        task=task,
        trial=trial,
        model=model,
        terminated=None if run.termination_reason is None else run.termination_reason not in CUT,
        truncated=None if run.termination_reason is None else run.termination_reason in CUT,
        rewards=outcome_of(run.reward_info.reward if run.reward_info else None, at=run.end_time),
        spans=talk.transcript.spans,
        edges=talk.edges,
        report=[*notes, *talk.transcript.notes, *_ending(run)],
        source=document.origin_of(FORMAT, record),
    )


def _ending(run: Simulation) -> list[Note]:
    if run.termination_reason not in FAILED:
        return []
    return [Note("run-error", f"the simulation ended in {run.termination_reason}: its reward is no verdict")]


class _Talk:
    """A conversation of an agent and a user on its way to a transcript."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.edges: list[Edge] = []
        self._asked: dict[str | None, int] = {}  # calls of the user that nobody has answered
        self._n_asked = 0
        self._heard: list[Message] = []  # chunks of whoever has the floor
        self._since = 0
        self._merged = 0
        self._wordless = 0

    def add(self, message: Message, index: int) -> None:
        """The spans of one message."""
        first = len(self.transcript.spans)
        if message.role == "tool":
            for result in message.tool_messages or [message]:
                self._result(result, index)
        elif message.role == "assistant":
            self._answer(message, index)
        elif message.role in (USER, "system"):
            self._prompt(message, index)
        else:
            text, _ = text_of(message.content)
            self.transcript.add("meta", text, index, message.role)
            self.transcript.note("unknown-role", f"a message of the role {message.role!r}")
        self.transcript.mark(first, started_at=time_of(message.timestamp))

    def hear(self, tick: Tick, index: int) -> None:
        """The spans that a moment ends, and the calls and results in it."""
        for chunk in (tick.agent_chunk, tick.user_chunk):
            self._wordless += chunk is not None and bool(chunk.contains_speech) and chunk.content is None
            if chunk is not None and chunk.content not in (None, "", []):
                if self._heard and self._heard[0].role != chunk.role:
                    self._flush()
                self._since = self._since if self._heard else index
                self._heard.append(chunk)
        for role, calls in (("assistant", tick.agent_tool_calls), (USER, tick.user_tool_calls)):
            if calls:
                self._flush()
                self.add(Message(role, tool_calls=calls), index)
        for role, results in (("assistant", tick.agent_tool_results), (USER, tick.user_tool_results)):
            for result in results or ():
                self._flush()
                result.requestor = result.requestor or role
                self._result(result, index)

    def finish(self) -> None:
        """Settle what only the whole conversation can tell."""
        self._flush()
        notes = self.transcript.notes
        if self._n_asked:
            notes.append(Note("user-call", f"calls by the simulated user stand as observations: {self._n_asked}"))
        if self._wordless:
            notes.append(Note("content-off", f"chunks of speech of which the log keeps no words: {self._wordless}"))
        if self._merged:
            notes.append(Note("merged-chunks", f"chunks of speech joined to those before them: {self._merged}"))
        self.transcript.finish()
        place = self.transcript.moved or {}
        pairs = [(place.get(e.parent, e.parent), place.get(e.child, e.child), e) for e in self.edges]
        self.edges = [
            Edge(parent, child, "explicit", evidence=e.evidence) for parent, child, e in pairs if parent < child
        ]

    def _flush(self) -> None:
        """One message of the chunks of one speaker."""
        if self._heard:
            first, self._merged = self._heard[0], self._merged + len(self._heard) - 1
            text = "".join(text_of(chunk.content)[0] for chunk in self._heard)
            self._heard = []
            self.add(Message(first.role, text, timestamp=first.timestamp), self._since)

    def _answer(self, message: Message, index: int) -> None:
        transcript = self.transcript
        first = len(transcript.spans)
        transcript.begin_turn()
        text, opaque = text_of(message.content)
        if text and not text.isspace():
            transcript.add("assistant", text, index)
            if opaque:
                transcript.opaque(opaque)
        for call in message.tool_calls or ():
            transcript.call(call.name, logged_id(call.id), arguments_of(call.arguments), index)
        transcript.count(usage_of(message.usage, message.cost), first)

    def _prompt(self, message: Message, index: int) -> None:
        transcript = self.transcript
        text, opaque = text_of(message.content)
        if text or not message.tool_calls:
            transcript.add("user" if message.role == USER else "system", text, index)
            if opaque:
                transcript.opaque(opaque)
        for call in message.tool_calls or ():
            self._n_asked += 1
            name = call.name or "a tool"
            self._asked[logged_id(call.id)] = len(transcript.spans)
            transcript.add("user", f"{name} {json_text(arguments_of(call.arguments).value)}", index, USER)

    def _result(self, message: Message, index: int) -> None:
        transcript = self.transcript
        text, opaque = text_of(message.content)
        call_id = logged_id(message.id)
        if message.requestor == USER:
            at = self._asked.pop(call_id, None)
            if at is not None:
                self.edges.append(Edge(at, len(transcript.spans), "explicit", evidence="the result of this call"))
            transcript.spans.append(
                Span("tool_result", transcript.turn, text, index, USER, call_id, error=message.error)
            )
        else:
            transcript.result(text, call_id, None, message.error, index)
        if opaque:
            transcript.opaque(opaque)
