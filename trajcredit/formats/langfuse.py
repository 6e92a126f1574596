"""Langfuse exports: the download of a trace, what its API answers, and lists of observations and scores.

| key | is |
| --- | --- |
| `scores` | rewards: of a trace or an observation; by an evaluator (judge), a person (human) or the API (verifier) |
| `metadata.dataset_item_id`, `datasetRunId` | the task and the experiment, where the trace is one of a data set |

| note | says |
| --- | --- |
| `several-scores` | one source gave scores of several names: the newest of a source counts |
| `score-left-out` | a score is no number |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.dialects import AGENTS, CALL_IDS, declared, first_text, returned
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.otel import told
from trajcredit.formats.parts import arguments_of, usage_of
from trajcredit.formats.said import Message, messages_of, unquoted
from trajcredit.formats.spanlist import instant
from trajcredit.formats.steps import Step, Trace
from trajcredit.model import LARGEST_NUMBER, Note, Reward, RewardSource, Trajectory
from trajcredit.registry import formats

__all__ = ["Langfuse"]

FORMAT = "langfuse"
SOURCES: dict[str, RewardSource] = {"EVAL": "judge", "ANNOTATION": "human", "API": "verifier"}
KINDS = {"GENERATION": "llm", "TOOL": "tool", "AGENT": "agent"}
USAGE = {
    "input_tokens": ("input", "promptTokens", "prompt_tokens", "input_tokens"),
    "output_tokens": ("output", "completionTokens", "completion_tokens", "output_tokens"),
    "reasoning_tokens": ("output_reasoning", "completion_details.reasoning", "output_reasoning_tokens"),
    "cached_tokens": ("input_cache_read", "prompt_details.cache_read", "input_cached_tokens"),
}

_record = msgspec.json.Decoder(dict[str, Any] | list[dict[str, Any]])


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Langfuse:
    """Langfuse traces as the interface downloads them or the API answers, with their scores as rewards.

    Left out: observations of no model, tool or agent, scores that are text, costs by kind.
    """

    def sniff(self, document: Document) -> Match:
        """A trace with its observations, or observations that name their trace."""
        keys = document.keys
        whole = "observations" in keys and not keys.isdisjoint(("trace", "scores", "timestamp"))
        single = {"traceId", "type", "startTime"} <= keys or {"trace_id", "parent_observation_id", "type"} <= keys
        return Match.YES if whole or single else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a trace and agent."""
        traces: dict[str, _Found] = {}
        notes: list[Note] = []
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                value, mended = decoded(document, record, _record.decode)
                notes += mended
                for row in value if isinstance(value, list) else [value]:
                    _sort(row, traces)
            except ParseError as error:
                yield error
            except InputError as error:
                yield document.error(str(error), record if not isinstance(record, ParseError) else None)
        named = ((name, partial(_trace, name, found)) for name, found in traces.items())
        yield from told(document, FORMAT, named, len(traces), notes)


class _Found(msgspec.Struct):
    """What the rows of an export tell of one trace."""

    trace: dict[str, Any] = {}
    observations: dict[str, dict[str, Any]] = {}
    scores: list[dict[str, Any]] = []


def _sort(row: dict[str, Any], traces: dict[str, _Found]) -> None:
    """Put a row to its trace: a download, a trace, an observation or a score."""
    inner = row.get("trace")
    trace = inner if isinstance(inner, dict) else row
    if "observations" in row:
        name = _text(trace.get("id")) or _text(trace.get("traceId"))
        if name is None:
            raise InputError("the trace has no `id`")
        found = traces.setdefault(name, _Found())
        found.trace |= trace
        for each in (trace.get("observations"), row.get("observations")):  # those of the trace itself are cut short
            if each is not None and not isinstance(each, list):
                raise InputError(f"`observations` must be a list, not {type(each).__name__}")
            for observation in each or ():
                _observe(observation, found)
        scores = [*_list(trace.get("scores")), *(_list(row.get("scores")) if trace is not row else [])]
        found.scores += [score for score in scores if isinstance(score, dict)]
        return
    name = _text(row.get("traceId")) or _text(row.get("trace_id"))
    if name is None:
        raise InputError("neither a trace with `observations` nor a row with a `traceId`")
    found = traces.setdefault(name, _Found())
    if "value" in row and "type" not in row:
        found.scores.append(row)
    else:
        _observe(row, found)


def _observe(row: Any, found: _Found) -> None:
    if isinstance(row, str):
        return  # a trace in a list of traces names its observations, and holds none
    if not isinstance(row, dict):
        raise InputError(f"an observation must be an object, not {type(row).__name__}")
    name = _text(row.get("id")) or f"observation {len(found.observations) + 1}"
    known = found.observations.get(name, {"id": name})
    found.observations[name] = known | {key: value for key, value in row.items() if value is not None}


# ---------------------------------------------------------------- observations -> steps


def _trace(name: str, found: _Found) -> Trace:
    rows = list(found.observations.values())
    steps = [_step(row, at) for at, row in enumerate(rows)]
    called = {call.name for step in steps for call in step.calls if call.name is not None}
    within = {step.parent for step in steps if step.kind == "llm"}
    for step, row in zip(steps, rows, strict=True):
        if (
            step.kind == "other" and _text(row.get("name")) in called and step.id not in within
        ):  # older versions had no TOOL
            _as_tool(step, row, {})
    by_id = {step.id: step for step in steps}
    whole: list[Reward] = []
    said: list[Note] = []
    for score in found.scores:
        reward = _reward(score)
        if reward is None:
            said.append(
                Note("score-left-out", f"score {score.get('name')!r} is no number: {str(score.get('value'))[:80]}")
            )
            continue
        of = by_id.get(_text(score.get("observationId")) or _text(score.get("observation_id")) or "")
        (of.rewards if of is not None and of.kind in ("llm", "tool") else whole).append(reward)
    said += _ambiguous([*whole, *(reward for step in steps for reward in step.rewards)])
    said += [Note(code, sentence) for step in steps for code, sentence in step.notes]
    metadata = unquoted(found.trace.get("metadata"))
    metadata = metadata if isinstance(metadata, dict) else {}
    run = next((text for score in found.scores if (text := _text(score.get("datasetRunId")))), None)
    return Trace(
        id=name,
        steps=steps,
        task=first_text(metadata, ("dataset_item_id", "datasetItemId")),
        dataset=run or first_text(metadata, ("dataset_run_id", "datasetRunId", "dataset_run_name")),
        rewards=whole,
        notes=said,
    )


def _step(row: dict[str, Any], at: int) -> Step:
    metadata = unquoted(row.get("metadata"))
    inner = unquoted(metadata.get("attributes")) if isinstance(metadata, dict) else None
    attributes: dict[str, Any] = inner if isinstance(inner, dict) else {}
    step = Step(
        id=str(row["id"]),
        parent=_text(row.get("parentObservationId")) or _text(row.get("parent_observation_id")),
        at=at,
        start=instant(row.get("startTime", row.get("start_time"))),
        end=instant(row.get("endTime", row.get("end_time"))),
        failed=True if row.get("level") == "ERROR" else None,
        why=_text(row.get("statusMessage")) or _text(row.get("status_message")),
        agent=first_text(attributes, AGENTS),
    )
    kind = KINDS.get(str(row.get("type")))
    if kind == "llm":
        _as_request(step, row, metadata if isinstance(metadata, dict) else {})
    elif kind == "tool":
        _as_tool(step, row, attributes)
    elif kind == "agent" or step.agent is not None:
        step.kind, step.agent = "agent", step.agent or _text(row.get("name"))
    return step


def _as_request(step: Step, row: dict[str, Any], metadata: dict[str, Any]) -> None:
    step.kind = "llm"
    step.asked = _messages(step, row.get("input"), "user", "input")
    answered = _messages(step, row.get("output"), "assistant", "output")
    system = [message for message in answered if message[0].kind == "system"]  # a response repeats its instructions
    step.answered = [message for message in answered if message[0].kind not in ("system", "user")]
    if not any(message[0].kind == "system" for message in step.asked):
        step.asked = system + step.asked
    step.content = bool(step.answered)
    usage = unquoted(row.get("usageDetails") or row.get("usage_details") or row.get("usage"))
    usage = usage if isinstance(usage, dict) else {}
    cost = unquoted(row.get("costDetails") or row.get("cost_details"))
    total = cost.get("total") if isinstance(cost, dict) else row.get("totalCost")
    counts = {name: next((usage[key] for key in keys if key in usage), None) for name, keys in USAGE.items()}
    step.usage = usage_of(counts, total)
    step.model = _text(row.get("model")) or _text(row.get("providedModelName"))
    asked = unquoted(row.get("input"))
    logged = [row.get("toolDefinitions"), metadata.get("tools")]
    logged += [asked] if isinstance(asked, dict) else [_pretended(asked)]
    answer = unquoted(row.get("output"))
    logged += [answer.get("tools")] if isinstance(answer, dict) else []
    inner = unquoted(metadata.get("attributes"))
    logged += [inner.get("model_request_parameters")] if isinstance(inner, dict) else []
    step.tools = declared(step, *logged)


def _pretended(asked: Any) -> list[Any]:
    """The declarations that LangGraph logs as messages of a tool."""
    contents = [message.get("content") for message in _list(asked) if isinstance(message, dict)]
    return [content for content in contents if isinstance(content, dict) and content.get("type") == "function"]


def _as_tool(step: Step, row: dict[str, Any], attributes: dict[str, Any]) -> None:
    step.kind = "tool"
    step.name = first_text(attributes, ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")) or _text(row.get("name"))
    if step.name is not None:
        step.name = step.name.removeprefix("execute_tool ")
    step.call_id = first_text(attributes, CALL_IDS)
    given = unquoted(row.get("input"))
    if isinstance(given, dict) and set(given) == {"input"} and isinstance(given["input"], dict):
        given = given["input"]
    output = row.get("output")
    try:
        step.arguments = arguments_of(given) if given is not None else None
        if output is not None:
            step.result, call_id = returned(output)
            step.call_id = step.call_id or call_id
    except InputError as error:
        step.notes.append(("broken-attribute", f"observation {step.id}: {error}"))


def _messages(step: Step, logged: Any, role: str, key: str) -> list[Message]:
    try:
        return messages_of(logged, role)
    except InputError as error:
        step.notes.append(("broken-attribute", f"observation {step.id}: {key}: {error}"))
        return []


# ---------------------------------------------------------------- scores


def _reward(score: dict[str, Any]) -> Reward | None:
    value = score.get("value")
    if not isinstance(value, int | float) or abs(value) > LARGEST_NUMBER:
        return None
    at = _text(score.get("timestamp")) or _text(score.get("createdAt"))
    source = SOURCES.get(str(score.get("source")), "verifier")
    return Reward(float(value), source, name=_text(score.get("name")), at=at)


def _ambiguous(rewards: Iterable[Reward]) -> Iterator[Note]:
    """Say which source gave scores of several names, since only the newest of a source counts."""
    names: dict[str, set[str]] = {}
    for reward in rewards:
        names.setdefault(reward.source, set()).add(reward.name or "")
    for source, given in names.items():
        if len(given) > 1:
            listed = ", ".join(sorted(given))
            yield Note(
                "several-scores",
                f"scores of source {source}: {listed}; the newest of a source counts, or what --reward names",
            )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
