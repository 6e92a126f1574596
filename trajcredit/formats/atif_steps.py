"""The steps of one agent in an ATIF trajectory -> spans.

| note | says |
| --- | --- |
| `joined-steps` | steps that a converter made of one answer are one turn again, what they repeat is left out |
| `copied-context` | steps repeated from an earlier part stand as context: they were credited where they first were |
| `sub-agent` | a call started an agent: its work is a trajectory of its own |
| `written-call` | calls were written as text: they are marked as inferred |
| `shared-result` | one observation of several calls: it answers the last of them, and depends on each |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.parts import arguments_of, text_of, time_of, usage_of
from trajcredit.formats.transcript import Transcript
from trajcredit.formats.written import SAID, holds_written_calls, with_written_calls
from trajcredit.model import Edge, Note, TurnTokens

__all__ = ["Run", "Step"]


class Call(msgspec.Struct, gc=False):
    """A tool call of a step."""

    tool_call_id: str | int | None = None
    function_name: str | None = None
    arguments: Any = None
    extra: Any = None


class Result(msgspec.Struct, gc=False):
    """What came back: of one call of the same step, or of the whole step."""

    source_call_id: str | int | None = None
    content: Any = None
    subagent_trajectory_ref: Any = None
    extra: Any = None


class Observation(msgspec.Struct, gc=False):
    """What came back to a step."""

    results: list[Result] = []


class Step(msgspec.Struct, gc=False):
    """One step; only the agent's have calls, reasoning and metrics."""

    source: str
    message: Any = None
    timestamp: str | int | float | None = None
    model_name: str | None = None
    reasoning_content: Any = None
    tool_calls: list[Call] | None = None
    observation: Observation | None = None
    metrics: Any = None
    is_copied_context: bool | None = None
    extra: Any = None


@dataclass
class Run:
    """The steps of one agent on their way to a transcript."""

    transcript: Transcript = field(default_factory=Transcript)
    turns: list[TurnTokens] = field(default_factory=list)
    model: str | None = None
    n_calls_of_model: int = 0
    started: dict[str, int] = field(default_factory=dict)
    """Agent -> the call that started it."""
    _answers: list[tuple[int, int]] = field(default_factory=list)
    """Text of a step, and what came back to the step as a whole."""
    _written: list[int] = field(default_factory=list)
    """Calls written in the text of the step, which nothing has answered."""
    _called: list[int] = field(default_factory=list)
    """Calls of the step."""
    _sharing: list[int] = field(default_factory=list)
    """Calls of all steps whose result is that of a later call."""
    _noted: bool = False
    _before: Step | None = None
    _joined: int = 0
    _copied: int = 0

    def add(self, step: Step, index: int) -> None:
        """The spans of one step."""
        transcript = self.transcript
        first = len(transcript.spans)
        self._written, self._called = [], []
        text, opaque = text_of(step.message)
        if step.source == "agent" and not step.is_copied_context:
            self._before = step if self._add_answer(step, index, text) else None
        else:
            self._copied += bool(step.is_copied_context)
            kind = _kind(step)
            if text:
                transcript.add(kind, text, index)
            self._before = None
        if opaque and len(transcript.spans) > first:
            transcript.opaque(opaque)
        said = len(transcript.spans) - 1
        for result in step.observation.results if step.observation else ():
            self._add_result(step, result, index, said if step.source == "agent" and said >= first else None)
        transcript.mark(first, started_at=time_of(step.timestamp))

    def _add_answer(self, step: Step, index: int, text: str) -> bool:
        """Whether the step said anything: only then can a later one be the rest of it."""
        transcript, before = self.transcript, self._before
        calls = step.tool_calls or []
        thought = step.reasoning_content if isinstance(step.reasoning_content, str) else ""
        joins = before is not None and _is_rest(step, before, text)
        text = "" if text in _made_up(calls) else text
        if joins:
            self._joined += 1
            thought = "" if before is not None and thought == before.reasoning_content else thought
        if not (thought or text or calls):
            return False
        first = len(transcript.spans)
        if not joins:
            transcript.begin_turn()
            self.n_calls_of_model += 1
        if thought:
            transcript.add("reasoning", thought, index)
        if not calls and holds_written_calls([text]):
            self._add_written(text, index)
        elif text and not text.isspace():
            transcript.add("assistant", text, index)
        for call in calls:
            name = None if call.tool_call_id in (None, "") else str(call.tool_call_id)
            self._called.append(len(transcript.spans))
            transcript.call(call.function_name, name, arguments_of(_given(step, call)), index)
        metrics = step.metrics if isinstance(step.metrics, dict) else {}
        transcript.count(usage_of(metrics, metrics.get("cost_usd")), first)
        self._add_tokens(metrics)
        self.model = step.model_name or self.model
        return True

    def _add_written(self, text: str, index: int) -> None:
        """Text, and the calls in it."""
        transcript = self.transcript
        [entry] = with_written_calls([Entry([Part("assistant", text)], acts=True)])
        for part in entry.parts:
            if part.kind != "tool_call" or part.arguments is None:
                transcript.add("assistant", part.text, index)
                continue
            self._written.append(len(transcript.spans))
            transcript.call(part.name, part.call_id, part.arguments, index)
            transcript.mark(self._written[-1], inferred=True)
        if self._written and not self._noted:
            transcript.note(*SAID)
            self._noted = True

    def _add_tokens(self, metrics: dict[str, Any]) -> None:
        prompt, sampled = _integers(metrics.get("prompt_token_ids")), _integers(metrics.get("completion_token_ids"))
        if prompt is not None or sampled is not None:
            logprobs = _floats(metrics.get("logprobs"), sampled)
            self.turns.append(TurnTokens(self.transcript.turn, prompt, sampled, logprobs))

    def _add_result(self, step: Step, result: Result, index: int, said: int | None) -> None:
        transcript = self.transcript
        text, opaque = text_of(result.content)
        refs = result.subagent_trajectory_ref
        refs = refs if isinstance(refs, list) else [refs] if refs else []
        call_id = None if result.source_call_id in (None, "") else str(result.source_call_id)
        if not text and not opaque and refs and call_id is None:
            return  # a summariser at work: its text is in files of its own
        if call_id is None and self._written:
            transcript.answer(self._written.pop(0), text, _failed(step, result), index)
        elif call_id is None and len(self._called) > 1 and step.observation and len(step.observation.results) == 1:
            *others, last = self._called
            self._sharing += others
            self._answers += [(call, len(transcript.spans)) for call in others]
            transcript.answer(last, text, _failed(step, result), index)
            transcript.note("shared-result", f"one observation of {len(self._called)} calls: it answers the last")
        else:
            if call_id is None and said is not None and not step.tool_calls:
                self._answers.append((said, len(transcript.spans)))
            transcript.result(text, call_id, None, _failed(step, result), index)
        if opaque:
            transcript.opaque(opaque)
        call = transcript.spans[-1].result_of
        for ref in refs:
            for key in ("trajectory_id", "session_id"):
                if call is not None and isinstance(ref, dict) and isinstance(ref.get(key), str):
                    self.started[ref[key]] = call
                    transcript.note("sub-agent", "started an agent, whose work is a trajectory of its own", call)

    def finish(self) -> None:
        """Settle what only the whole run can tell."""
        notes = self.transcript.notes
        if self._joined:
            notes.append(
                Note("joined-steps", f"steps that were parts of the answer before them, joined: {self._joined}")
            )
        if self._copied:
            notes.append(Note("copied-context", f"steps that repeat an earlier part stand as context: {self._copied}"))
        self.transcript.finish()
        moved = self.transcript.moved or {}
        self._answers = [(moved.get(said, said), moved.get(result, result)) for said, result in self._answers]
        known = {result for _, result in self._answers}
        orphans = [note for note in self.transcript.notes if note.code == "orphan-result" and note.span in known]
        sharing = {moved.get(call, call) for call in self._sharing}
        orphans += [n for n in self.transcript.notes if n.code == "unanswered-call" and n.span in sharing]
        self.transcript.notes = [note for note in self.transcript.notes if note not in orphans]

    def call_of(self, keys: Iterable[str | None]) -> int | None:
        """The call that started an agent known by one of these keys."""
        known = [self.started[key] for key in keys if key is not None and key in self.started]
        return (self.transcript.moved or {}).get(known[0], known[0]) if known else None

    def edges(self) -> list[Edge]:
        """What came back to a step without calls was caused by its text: the log says so."""
        evidence = "the observation of that step"
        return [Edge(said, at, "explicit", evidence=evidence) for said, at in self._answers if said < at]


def _kind(step: Step) -> Any:
    """System, user, or meta for what the harness did to the context."""
    extra = step.extra if isinstance(step.extra, dict) else {}
    if step.source == "agent" or "context_management" in extra:
        return "meta"
    return "user" if step.source == "user" else "system"


def _is_rest(step: Step, before: Step, text: str) -> bool:
    """Whether a converter cut this step off the answer that the step before it began."""
    calls = step.tool_calls or []
    if not calls or step.metrics is not None or before.source != "agent":
        return False
    same = step.timestamp == before.timestamp or step.reasoning_content == before.reasoning_content
    return same and (not text or text in _made_up(calls))


def _made_up(calls: list[Call]) -> set[str]:
    """What a converter writes where the model wrote no text."""
    return {f"Executed {call.function_name} {call.tool_call_id}" for call in calls}


def _given(step: Step, call: Call) -> Any:
    """The arguments as the model gave them, where a converter kept them beside its own reading."""
    for extra in (call.extra, step.extra if len(step.tool_calls or ()) == 1 else None):
        if isinstance(extra, dict) and extra.get("raw_arguments") not in (None, "", call.arguments):
            return extra["raw_arguments"]
    return call.arguments


def _failed(step: Step, result: Result) -> bool | None:
    """What the log says about a result: its own flag, else that of a step with one call."""
    alone = step.observation is not None and len(step.observation.results) == 1
    for extra in (result.extra, step.extra if alone else None):
        if not isinstance(extra, dict):
            continue
        inner = extra.get("tool_result_metadata")
        for place in (extra, inner if isinstance(inner, dict) else {}):
            for flag in (place.get("tool_result_is_error"), place.get("is_error")):
                if isinstance(flag, bool):
                    return flag
    return None


def _integers(value: Any) -> list[int] | None:
    return value if isinstance(value, list) and all(type(item) is int for item in value) else None


def _floats(value: Any, sampled: list[int] | None) -> list[float] | None:
    if not isinstance(value, list) or sampled is None or len(value) != len(sampled):
        return None
    return [float(item) for item in value] if all(type(item) in (int, float) for item in value) else None
