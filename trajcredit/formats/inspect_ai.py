"""Logs of Inspect AI: `.eval` archives and their JSON form, one trajectory a sample and epoch.

| note | says |
| --- | --- |
| `rewritten-context` | the context of the model was rewritten (compacted, say): what follows is a new start |
| `several-scores` | several scorers gave a number: the first one counts |
| `unread-score` | a score is no number: it is no reward |
| `sub-agent` | an agent worked in a context of its own: it is a trajectory of its own |
| `run-error` | the sample ended in an error |
| `retried` | the sample was attempted before and failed: an attempt with events of its own is a trajectory of its own |
| `unknown-role` | a message of a role that the format does not have is kept |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import logged_id, outcome_of
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.inspect_archive import Archive, is_archive
from trajcredit.formats.inspect_events import Agent, Event, agents_of, history
from trajcredit.formats.inspect_messages import add_message, attached
from trajcredit.formats.parts import arguments_of, json_text, text_of, tools_of, usage_of
from trajcredit.formats.split import REFUSED, Record
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Reward, SpanTokens, SpawnedBy, Tool, Trajectory, TurnTokens
from trajcredit.registry import formats

__all__ = ["InspectAI"]

FORMAT = "inspect"
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer."""
KINDS = ("span_begin", "sample_init", "model", "tool", "step", "state", "info")


class Eval(msgspec.Struct, gc=False):
    """What was evaluated."""

    run_id: str | None = None
    task: str | None = None
    model: str | None = None


class Log(msgspec.Struct, gc=False):
    """A log, without its samples where those are members of their own."""

    eval: Eval | None = None
    samples: list[msgspec.Raw] | None = None


class Score(msgspec.Struct, gc=False):
    """What one scorer gave."""

    value: Any = None


class Pools(msgspec.Struct, gc=False):
    """What the events share."""

    messages: list[Any] | None = None


class Attempt(msgspec.Struct, gc=False):
    """An attempt at a sample that failed, so that another one was made."""

    message: str | None = None
    events: list[Event] | None = None


class Sample(msgspec.Struct, gc=False):
    """One task, attempted once."""

    id: str | int | None = None
    epoch: int | None = None
    input: Any = None
    target: Any = None
    messages: list[dict[str, Any]] | None = None
    scores: dict[str, Score] | None = None
    events: list[Event] | None = None
    error: Any = None
    error_retries: list[Attempt] | None = None
    limit: Any = None
    attachments: dict[str, str] | None = None
    message_pool: list[Any] | None = None
    events_data: Pools | None = None


Told: TypeAlias = tuple[Transcript, list[TurnTokens]]

_log = msgspec.json.Decoder(Log)
_sample = msgspec.json.Decoder(Sample)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class InspectAI:
    """Inspect AI logs (`.eval`, `.json`): samples and epochs as groups, scores as rewards, agents by their spans.

    Left out: states and stores, means over epochs (`reductions`), `top_logprobs`; pictures, for which a marker stands.
    """

    def sniff(self, document: Document) -> Match:
        """Its archive, the object it writes, a sample, or bare events."""
        keys = document.keys
        if document.shape == "other":
            return Match.YES if is_archive(document.data) else Match.NO
        if {"eval", "status", "version"} <= keys or {"epoch", "target", "messages"} <= keys:
            return Match.YES
        events = document.peek("events") if "events" in keys and "spans" not in keys else None
        first = events[0] if isinstance(events, list) and events else None
        return Match.YES if isinstance(first, dict) and first.get("event") in KINDS else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a sample and epoch, then the agents in it that had a context of their own."""
        if document.shape == "other":
            try:
                archive = Archive(document.data, document.place, document.limit)
                header = _header(archive)
            except ParseError as error:
                yield error
                return
            found = list(archive.samples())
            view = document.inside(sample for sample in found if isinstance(sample, bytes))
            yield from _samples(view, header.eval or Eval())
            yield from (error for error in found if isinstance(error, ParseError))
        elif {"eval", "status", "version"} <= document.keys:
            for record in document.records:
                try:
                    if isinstance(record, ParseError):
                        raise record
                    log, _ = decoded(document, record, _log.decode)
                    yield from _samples(document.inside(log.samples or ()), log.eval or Eval())
                except ParseError as error:
                    yield error
        else:
            yield from _samples(document, Eval())


def _header(archive: Archive) -> Log:
    """What the log says of itself; a run that crashed has its start alone."""
    try:
        return _log.decode(archive.header)
    except REFUSED as error:
        raise ParseError(f"the header of the archive cannot be read: {error}", archive.place) from error


def _samples(document: Document, about: Eval) -> Iterator[Trajectory | ParseError]:
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            sample, notes = decoded(document, record, _sample.decode)
            yield from _trajectories(document, record, sample, about, notes)
            for number, attempt in enumerate(sample.error_retries or (), 1):
                if attempt.events:
                    before = _before(sample, attempt)
                    yield from _trajectories(document, record, before, about, [], f"/attempt-{number}")
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error), record if isinstance(record, Record) else None)


def _before(sample: Sample, attempt: Attempt) -> Sample:
    """The sample as it was attempted before: what the failed attempt did, which nobody scored."""
    return structs.replace(
        sample,
        messages=None,
        scores=None,
        events=attempt.events,
        error=attempt.message or "(no message)",
        error_retries=None,
        limit=None,
    )


def _trajectories(
    document: Document, record: Record, sample: Sample, about: Eval, notes: list[Note], attempt: str = ""
) -> Iterator[Trajectory]:
    attachments = sample.attachments or {}
    pool = (sample.events_data.messages if sample.events_data else None) or sample.message_pool or []
    agents = agents_of(sample.events or [])
    final = [attached(message, attachments) for message in sample.messages or ()]
    mine, others = _shared_out(agents, final)
    transcript, turns = _main(sample, mine, final, partial(history, pool=pool, attachments=attachments))
    parts = (about.run_id, logged_id(sample.id), logged_id(sample.epoch))
    called = ":".join(part for part in parts if part) if sample.id is not None else document.name_of(record)
    called += attempt
    rewards, remarks = _rewards(sample.scores or {})
    dataset = document.given_dataset or about.run_id or document.dataset_of(record)
    task = None if sample.id is None else "/".join(part for part in (about.task, logged_id(sample.id)) if part)
    origin = document.origin_of(FORMAT, record)
    model = about.model or next((event.model for agent in agents for event in agent.answers), None)
    yield Trajectory(
        id=called,
        dataset=dataset,
        task=task,
        trial=logged_id(sample.epoch),
        role=None if final or len(mine) != 1 else mine[0].name,
        model=model,
        terminated=None if sample.id is None else sample.limit is None and sample.error is None,
        truncated=None if sample.id is None else sample.limit is not None,
        answer=_answer(sample.target),
        rewards=rewards,
        tools=_tools(mine),
        spans=transcript.spans,
        turns=turns,
        report=[*notes, *transcript.notes, *remarks, *_crash(sample.error), *_retried(sample.error_retries)],
        source=origin,
    )
    numbers: dict[str, int] = {}
    calls = {
        span.call_id: place for place, span in reversed(list(enumerate(transcript.spans))) if span.kind == "tool_call"
    }
    for agent in others:
        name = agent.name or "agent"
        numbers[name] = numbers.get(name, 0) + 1
        inner, turns = _told(agent, partial(history, pool=pool, attachments=attachments))
        call = calls.get(agent.call)
        yield Trajectory(
            id=f"{called}/{name}" + (f"-{numbers[name]}" if numbers[name] > 1 else ""),
            dataset=dataset,
            task=task,
            trial=logged_id(sample.epoch),
            role=name,
            model=model,
            parent=SpawnedBy(called, None if agent.call is None else call) if agent.inner or final else None,
            tools=_tools([agent]),
            spans=inner.spans,
            turns=turns,
            report=[*inner.notes, Note("sub-agent", f"agent {name} worked in a context of its own")],
            source=origin,
        )


def _shared_out(agents: list[Agent], final: list[dict[str, Any]]) -> tuple[list[Agent], list[Agent]]:
    """The agents whose work is in the sample's messages, and those with a context of their own."""
    ids = {message["id"] for message in final if isinstance(message.get("id"), str)}
    outer = [agent for agent in agents if not agent.inner]
    mine: list[Agent] = []
    others: list[Agent] = []
    for agent in agents:
        wrote = {event.wrote for event in agent.answers} - {None}
        seen = not agent.answers or bool(wrote & ids) or (not wrote and not agent.inner)
        belongs = (seen if final else agent is outer[0]) if outer else agent is agents[0]
        (mine if belongs or (not agent.answers and final) else others).append(agent)
    return mine, others


def _main(sample: Sample, mine: list[Agent], final: list[dict[str, Any]], told: Any) -> Told:
    """The transcript of the sample: its messages, or what was lost of them since is in its events."""
    compacted = any(event.event == "compaction" for event in sample.events or ())
    if not final or compacted:
        if any(agent.answers for agent in mine):
            return _told(mine[0], told)
        if any(agent.events for agent in mine):
            return _done(mine[0]), []
    transcript = Transcript()
    names: dict[str, str | None] = {}
    if len([agent for agent in mine if agent.answers]) > 1:
        names = {event.wrote: agent.name for agent in mine for event in agent.answers if event.wrote is not None}
    asked = sample.input if isinstance(sample.input, list) else [{"role": "user", "content": sample.input}]
    messages = final or [message for message in asked if isinstance(message, dict) and message.get("content")]
    turns = _add_all(transcript, enumerate(messages), [event for agent in mine for event in agent.events], names)
    transcript.finish()
    return transcript, turns


def _told(agent: Agent, told: Any) -> Told:
    """The transcript of what an agent's model saw and wrote."""
    if not agent.answers:
        return _done(agent), []
    transcript = Transcript()
    messages: list[tuple[int, dict[str, Any] | None]] = []
    for message in told(agent):
        messages.append((sum(known is not None for _, known in messages), message))
    turns = _add_all(transcript, messages, agent.events, {})
    transcript.finish()
    return transcript, turns


def _add_all(
    transcript: Transcript, messages: Any, events: list[Event], names: dict[str, str | None]
) -> list[TurnTokens]:
    """The spans of messages, with times, counts and log-probs from the events that brought them; the last by turn."""
    turns: list[TurnTokens] = []
    by_id: dict[str | None, Event] = {event.wrote: event for event in events if event.wrote is not None}
    ran: dict[Any, list[Event]] = {}
    for done in reversed(events):
        if done.event == "tool" and isinstance(done.id, str):
            ran.setdefault(done.id, []).append(done)
    for index, message in messages:
        if message is None:
            transcript.add("meta", "the context was rewritten", None)
            transcript.note("rewritten-context", "what follows was asked with another context")
            continue
        first = len(transcript.spans)
        name = message.get("id") if isinstance(message.get("id"), str) else None
        add_message(transcript, message, index, names.get(name or ""))
        event: Event | None = by_id.get(name)
        call = message.get("tool_call_id")
        if event is not None and isinstance(event.output, dict):
            transcript.count(usage_of(event.output.get("usage")), first)
            if event.logprobs is not None and first < len(transcript.spans):
                turns.append(TurnTokens(transcript.spans[first].turn, logprobs=event.logprobs))
                if len(transcript.spans) == first + 1:  # else nobody knows where the cuts are
                    transcript.mark(first, tokens=SpanTokens(logprobs=event.logprobs))
        elif message.get("role") == "tool" and isinstance(call, str) and ran.get(call):
            event = ran[call].pop()
        if event is not None:
            transcript.mark(first, started_at=event.timestamp, ended_at=event.completed)
    return turns


def _done(agent: Agent) -> Transcript:
    """The transcript of what was done with tools, where no model is on record."""
    transcript = Transcript()
    for event in agent.events:
        if event.event != "tool":
            continue
        first = len(transcript.spans)
        transcript.begin_turn()
        name = event.id if isinstance(event.id, str) else None
        transcript.call(event.function, name, arguments_of(event.arguments), None, agent.name)
        text, opaque = text_of(event.result)
        said = event.error.get("message") if isinstance(event.error, dict) else event.error
        text = text or (said if isinstance(said, str) else "")
        if event.result is not None or event.error is not None:
            transcript.result(text, name, event.function, True if event.error else None, None, agent.name)
            if opaque:
                transcript.opaque(opaque)
        transcript.mark(first, started_at=event.timestamp, ended_at=event.completed)
    transcript.finish()
    return transcript


def _rewards(scores: dict[str, Score]) -> tuple[list[Reward], list[Note]]:
    """A reward for every number that a scorer gave; the first scorer's last, since of one source the last counts."""
    found: list[Reward] = []
    notes: list[Note] = []
    for name, score in scores.items():
        numbers = score.value.items() if isinstance(score.value, dict) else [("", score.value)]
        for key, value in numbers:
            number = _number(value)
            if number is None:
                notes.append(Note("unread-score", f"the score {name} is {json_text(value)[:80]}: no number"))
            else:
                found += [Reward(r.value, name=f"{name}.{key}" if key else name) for r in outcome_of(number)]
    if len(found) > 1:
        names = ", ".join(str(reward.name) for reward in found)
        notes.append(Note("several-scores", f"scores {names}: {found[0].name} counts, or what --reward names"))
    return found[::-1], notes


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return LETTERS.get(value)
    return float(value) if isinstance(value, bool | int | float) else None


def _answer(target: Any) -> str | None:
    if target is None or target == "":
        return None
    return target if isinstance(target, str) else json_text(target)


def _crash(error: Any) -> list[Note]:
    if not error:
        return []
    said = error.get("message") if isinstance(error, dict) else error
    return [Note("run-error", f"the sample ended in an error: {str(said)[:500]}")]


def _retried(attempts: list[Attempt] | None) -> list[Note]:
    if not attempts:
        return []
    kept = sum(bool(attempt.events) for attempt in attempts)
    said = f"attempts that failed before this one: {len(attempts)}, of which the log keeps the work of {kept}"
    return [Note("retried", f"{said}; the last failed with: {str(attempts[-1].message)[:500]}")]


def _tools(agents: list[Agent]) -> list[Tool]:
    """The tools that the first request of the agents declares."""
    first = next((event for agent in agents for event in agent.answers), None)
    return [] if first is None else list(tools_of(bytes(first.tools)))
