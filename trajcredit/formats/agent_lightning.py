"""Agent Lightning: spans of its stores (0.3), and the events that replaced them.

| key | is |
| --- | --- |
| `rollout_id`, `attempt_id` | the id; the trial |
| `sequence_id`, or the order of events | the order of steps: it counts more than clocks |
| `agentlightning.reward.0.value`, or an event `reward` | of the whole: the last one counts, as in its trainers |
| `data.model_version` | the policy version |

| note | says |
| --- | --- |
| `several-rewards` | rewards were given more than once: the last one counts |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.dialects import declared
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.otel import told, trace_of
from trajcredit.formats.otlp import TraceSpan, iso
from trajcredit.formats.parts import usage_of
from trajcredit.formats.repeated import Reading
from trajcredit.formats.said import messages_of
from trajcredit.formats.spanlist import instant, of_object
from trajcredit.formats.steps import Ids, Step, Trace
from trajcredit.model import LARGEST_NUMBER, Note, Reward, Trajectory
from trajcredit.registry import formats

__all__ = ["AgentLightning"]

FORMAT = "agent_lightning"
REWARD = "agentlightning.reward."

Rows = list[dict[str, Any]]

_record = msgspec.json.Decoder(dict[str, Any] | Rows)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class AgentLightning:
    """Agent Lightning rollouts: spans of version 0.3, or the events of later ones, with their rewards.

    Left out: rewards before the last, all dimensions but the first; resources and links.
    """

    def sniff(self, document: Document) -> Match:
        """Spans or events that name their rollout and attempt."""
        keys = document.keys
        ours = {"rollout_id", "attempt_id"} <= keys and ("event_type" in keys or {"span_id", "sequence_id"} <= keys)
        return Match.YES if ours else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory an attempt and agent."""
        attempts: dict[tuple[str, str | None], Rows] = {}
        notes: list[Note] = []
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                value, mended = decoded(document, record, _record.decode)
                notes += mended
                for row in value if isinstance(value, list) else [value]:
                    rollout = _text(row.get("rollout_id"))
                    if rollout is None:
                        raise InputError("a span or an event needs a `rollout_id`")
                    attempts.setdefault((rollout, _text(row.get("attempt_id"))), []).append(row)
            except ParseError as error:
                yield error
            except InputError as error:
                yield document.error(str(error), record if not isinstance(record, ParseError) else None)
        once = len({rollout for rollout, _ in attempts}) == len(attempts)
        named = []
        for (rollout, attempt), rows in attempts.items():
            name = rollout if once or attempt is None else f"{rollout}:{attempt}"
            named.append((name, partial(_trace, name, attempt, rows)))
        yield from told(document, FORMAT, named, len(attempts), notes)


def _trace(name: str, attempt: str | None, rows: Rows) -> Trace:
    trace = _of_events(name, rows) if "event_type" in rows[0] else _of_spans(name, rows)
    trace.trial = attempt
    return trace


def _of_spans(name: str, rows: Rows) -> Trace:
    """The trace of an attempt's spans, in the order of their sequence."""
    spans = _told_apart([of_object(row) for row in rows])
    trace = trace_of(name, spans, Reading())
    order = {span.at: _whole(rows[span.at].get("sequence_id")) for span in spans}
    for step in trace.steps:
        step.rank = order[step.at]
    given = sorted(spans, key=lambda span: order[span.at])
    rewards = [reward for span in given for reward in _rewards(span.attributes, iso(span.end or span.start))]
    return _rewarded(trace, rewards)


def _told_apart(spans: list[TraceSpan]) -> list[TraceSpan]:
    """The spans with their places; one that was sent again stands once, another one of the same id has a new one."""
    kept: list[TraceSpan] = []
    known: dict[str, TraceSpan] = {}
    for at, span in enumerate(spans):
        first = known.setdefault(span.span_id, span)
        if first is not span and msgspec.structs.replace(span, at=first.at) == first:
            continue
        span.at = at
        span.span_id = span.span_id if first is span else f"{span.span_id}#{at}"
        kept.append(span)
    return kept


def _rewards(attributes: dict[str, Any], at: str | None) -> Iterator[Reward]:
    """The rewards of a span: the first dimension is the one that trains."""
    value = attributes.get(f"{REWARD}0.value")
    if _is_number(value):
        name = _text(attributes.get(f"{REWARD}0.name"))
        yield Reward(float(value), name=name, at=at)


def _of_events(name: str, rows: Rows) -> Trace:
    """The trace of an attempt's events: requests to the model, and rewards."""
    trace = Trace(id=name, steps=[])
    rewards: list[Reward] = []
    versions: set[str] = set()
    for at, row in enumerate(rows):
        data = row.get("data")
        data = data if isinstance(data, dict) else {}
        time = instant(row.get("timestamp"))
        if row.get("event_type") == "model_request":
            trace.steps.append(step := _request(data, at, time))
            versions |= {step.ids.policy_version} if step.ids and step.ids.policy_version else set()
        elif row.get("event_type") == "reward" and _is_number(data.get("value")):
            rewards.append(Reward(float(data["value"]), name=_text(data.get("source")), at=iso(time)))
    trace.policy_version = versions.pop() if len(versions) == 1 else None
    trace.notes = [Note(code, sentence) for step in trace.steps for code, sentence in step.notes]
    return _rewarded(trace, rewards)


def _request(data: dict[str, Any], at: int, time: int | None) -> Step:
    request, response = data.get("request"), data.get("response")
    latency = data.get("latency_ms")
    version = data.get("model_version")
    took = int(latency * 1e6) if _is_number(latency) and 0 <= latency < 1e12 else None
    step = Step(
        id=f"event {at}",
        at=at,
        rank=at,
        kind="llm",
        start=time - took if time is not None and took is not None else None,
        end=time,
        usage=usage_of(data.get("usage") or (response.get("usage") if isinstance(response, dict) else None)),
        failed=True if data.get("status") in ("error", "failed") else None,
        model=_text(data.get("model")),
    )
    try:
        step.asked = messages_of(request or None, "user")
        step.answered = messages_of(response or None, "assistant")
    except InputError as error:
        step.notes.append(("broken-attribute", f"{step.id}: {error}"))
    step.content = bool(step.answered)
    step.tools = declared(step, request)
    if isinstance(version, str | int) and not isinstance(version, bool):
        step.ids = Ids(policy_version=str(version))
    return step


def _rewarded(trace: Trace, rewards: list[Reward]) -> Trace:
    """The trace with its reward; where several were given, the last one."""
    if len(rewards) > 1:
        given = ", ".join(f"{reward.value:g}" for reward in rewards[:10])
        trace.notes = [*trace.notes, Note("several-rewards", f"given in this order: {given}; the last one counts")]
    trace.rewards = [*trace.rewards, *rewards[-1:]]
    return trace


def _whole(value: Any) -> int:
    return value if type(value) is int else 0


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
