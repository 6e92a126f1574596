"""LangSmith runs: an export as list or JSONL, the bodies of its ingest (`post`, `patch`), and rows of feedback.

| key | is |
| --- | --- |
| `reference_example_id`; with it `session_name` or `session_id` | the task; the experiment, which is the data set |
| `feedback_stats`, rows of feedback | rewards: by an app's user (human), a model (judge), else the verifier |

| note | says |
| --- | --- |
| `several-scores` | one source gave feedback under several keys: the newest of a source counts |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.dialects import declared, returned
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.otel import told
from trajcredit.formats.parts import arguments_of, usage_of
from trajcredit.formats.said import Message, messages_of
from trajcredit.formats.spanlist import instant
from trajcredit.formats.steps import Step, Trace
from trajcredit.model import LARGEST_NUMBER, Note, Reward, RewardSource, Trajectory
from trajcredit.registry import formats

__all__ = ["LangSmith"]

FORMAT = "langsmith"
SOURCES: dict[str, RewardSource] = {"app": "human", "model": "judge", "auto_eval": "judge"}
UUID = 36

_record = msgspec.json.Decoder(dict[str, Any] | list[dict[str, Any]])


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class LangSmith:
    """LangSmith runs, exported or as they are sent to its ingest, with feedback as rewards.

    Left out: prompts, parsers and retrievers, chunks of streams, feedback without a score.
    """

    def sniff(self, document: Document) -> Match:
        """Runs with their place in a trace, or bodies that create and update such."""
        keys = document.keys
        if "run_type" in keys and not keys.isdisjoint(("dotted_order", "parent_run_id", "trace_id")):
            return Match.YES
        bodies = [document.peek(key) for key in ("post", "patch") if key in keys]
        runs = [run for body in bodies if isinstance(body, list) for run in body if isinstance(run, dict)]
        return Match.YES if any("dotted_order" in run or "run_type" in run for run in runs) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a trace and agent."""
        runs: dict[str, dict[str, Any]] = {}
        feedback: list[dict[str, Any]] = []
        notes: list[Note] = []
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                value, mended = decoded(document, record, _record.decode)
                notes += mended
                for row in value if isinstance(value, list) else [value]:
                    _sort(row, runs, feedback)
            except ParseError as error:
                yield error
            except InputError as error:
                yield document.error(str(error), record if not isinstance(record, ParseError) else None)
        traces: dict[str, list[dict[str, Any]]] = {}
        for run in runs.values():
            traces.setdefault(_text(run.get("trace_id")) or _root(run), []).append(run)
        named = ((name, partial(_trace, name, trace, feedback)) for name, trace in traces.items())
        yield from told(document, FORMAT, named, len(traces), notes)


OF_RUNS = {"dotted_order", "end_time", "error", "inputs", "name", "outputs", "run_type", "start_time", "trace_id"}
"""Keys of a run, or of what is sent later of it; any object has an `id`."""


def _sort(row: dict[str, Any], runs: dict[str, dict[str, Any]], feedback: list[dict[str, Any]]) -> None:
    """A run, feedback on one, or a body that holds several."""
    inner = [item for key in ("post", "patch", "runs") if isinstance(row.get(key), list) for item in row[key]]
    if inner and "run_type" not in row:
        for item in inner:
            if isinstance(item, dict):
                _sort(item, runs, feedback)
        return
    if "run_id" in row and "score" in row:
        feedback.append(row)
        return
    name = _text(row.get("id")) or _last(row.get("dotted_order"))
    if name is None or not row.keys() & OF_RUNS:
        raise InputError("neither a run with an `id` nor feedback with a `run_id`")
    known = runs.setdefault(name, {"id": name})
    known |= {key: value for key, value in row.items() if value not in (None, {}, [])}


def _last(dotted: Any) -> str | None:
    """The id of a run at the end of its place in the trace."""
    return dotted[-UUID:] if isinstance(dotted, str) and len(dotted) >= UUID else None


def _root(run: dict[str, Any]) -> str:
    """The id of the trace: that of the first run in the place."""
    dotted = run.get("dotted_order")
    first = dotted.split(".")[0] if isinstance(dotted, str) else ""
    return _last(first) or str(run["id"])


# ---------------------------------------------------------------- runs -> steps


def _trace(name: str, runs: list[dict[str, Any]], feedback: list[dict[str, Any]]) -> Trace:
    places = sorted({str(run.get("dotted_order", "")) for run in runs})
    ranks = {place: rank for rank, place in enumerate(places)}
    steps = [_step(run, at, ranks[str(run.get("dotted_order", ""))]) for at, run in enumerate(runs)]
    by_id = {step.id: step for step in steps}
    whole: list[Reward] = []
    given = [(str(row["run_id"]), reward) for row in feedback if (reward := _reward(row)) is not None]
    given += [(str(run["id"]), reward) for run in runs for reward in _stats(run.get("feedback_stats"))]
    for run_id, reward in given:
        step = by_id.get(run_id)
        if step is not None:
            (step.rewards if step.kind in ("llm", "tool") and step.parent is not None else whole).append(reward)
    names: dict[str, set[str | None]] = {}
    for _, reward in given:
        names.setdefault(reward.source, set()).add(reward.name)
    said = [
        Note(
            "several-scores",
            f"{source}: {', '.join(sorted(map(str, keys)))}; the newest of a source counts, or what --reward names",
        )
        for source, keys in names.items()
        if len(keys) > 1
    ]
    said += [Note(code, sentence) for step in steps for code, sentence in step.notes]
    task = next((text for run in runs if (text := _text(run.get("reference_example_id")))), None)
    session = next((t for run in runs for k in ("session_name", "session_id") if (t := _text(run.get(k)))), None)
    return Trace(
        id=name,
        steps=steps,
        task=task,
        dataset=session if task is not None else None,
        rewards=whole,
        notes=said,
    )


def _step(run: dict[str, Any], at: int, rank: int) -> Step:
    error = run.get("error")
    step = Step(
        id=str(run["id"]),
        parent=_text(run.get("parent_run_id")),
        at=at,
        rank=rank,
        start=instant(run.get("start_time")),
        end=instant(run.get("end_time")),
        failed=True if error or run.get("status") == "error" else None,
        why=_text(error),
    )
    inputs, outputs = run.get("inputs"), run.get("outputs")
    if run.get("run_type") == "llm":
        _as_request(step, run, inputs, outputs)
    elif run.get("run_type") == "tool":
        _as_tool(step, run, inputs, outputs)
    return step


def _as_request(step: Step, run: dict[str, Any], inputs: Any, outputs: Any) -> None:
    step.kind = "llm"
    step.asked = _messages(step, inputs, "user", "inputs")
    step.answered = [m for m in _messages(step, outputs, "assistant", "outputs") if m[0].kind not in ("system", "user")]
    step.content = bool(step.answered)
    holders = [outputs.get("usage_metadata"), outputs.get("usage")] if isinstance(outputs, dict) else []
    inner = outputs.get("llm_output") if isinstance(outputs, dict) else None
    holders += [inner.get("token_usage")] if isinstance(inner, dict) else []
    usage = next((_flat(holder) for holder in holders if isinstance(holder, dict)), run)
    step.usage = usage_of(usage, run.get("total_cost"))
    extra = run.get("extra")
    parameters = extra.get("invocation_params") if isinstance(extra, dict) else None
    step.model = _model(extra, outputs)
    step.tools = declared(step, parameters, inputs if isinstance(inputs, dict) else None)


def _model(extra: Any, outputs: Any) -> str | None:
    """The model by the name that the answer has, else the tracer's."""
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    answered = outputs.get("model") if isinstance(outputs, dict) else None
    return _text(answered) or (_text(metadata.get("ls_model_name")) if isinstance(metadata, dict) else None)


def _flat(usage: dict[str, Any]) -> dict[str, Any]:
    """LangSmith's details of token counts by the names of others."""
    inputs, outputs = usage.get("input_token_details"), usage.get("output_token_details")
    more = {
        "cached_tokens": inputs.get("cache_read") if isinstance(inputs, dict) else None,
        "reasoning_tokens": outputs.get("reasoning") if isinstance(outputs, dict) else None,
    }
    return usage | {key: value for key, value in more.items() if value is not None}


def _as_tool(step: Step, run: dict[str, Any], inputs: Any, outputs: Any) -> None:
    step.kind, step.name = "tool", _text(run.get("name"))
    if isinstance(inputs, dict) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    if isinstance(outputs, dict) and set(outputs) == {"output"}:
        outputs = outputs["output"]
    if isinstance(outputs, dict) and isinstance(outputs.get("kwargs"), dict):  # a serialised ToolMessage
        outputs = outputs["kwargs"]
    if isinstance(outputs, dict) and outputs.get("status") == "error":
        step.failed = True
    try:
        step.arguments = arguments_of(inputs) if inputs is not None else None
        if outputs is not None:
            step.result, step.call_id = returned(outputs)
    except InputError as error:
        step.notes.append(("broken-attribute", f"run {step.id}: {error}"))


def _messages(step: Step, logged: Any, role: str, key: str) -> list[Message]:
    if isinstance(logged, dict) and isinstance(logged.get("prompts"), list):
        logged = logged["prompts"]
    try:
        return messages_of(logged or None, role)
    except InputError as error:
        step.notes.append(("broken-attribute", f"run {step.id}: {key}: {error}"))
        return []


# ---------------------------------------------------------------- feedback


def _reward(row: dict[str, Any]) -> Reward | None:
    source = row.get("feedback_source")
    kind = source.get("type") if isinstance(source, dict) else None
    at = _text(row.get("modified_at")) or _text(row.get("created_at"))
    return _scored(row.get("score"), SOURCES.get(str(kind), "verifier"), _text(row.get("key")), at)


def _stats(stats: Any) -> Iterator[Reward]:
    """The means of feedback by key, which do not say who gave it."""
    for key, entry in stats.items() if isinstance(stats, dict) else ():
        reward = _scored(entry.get("avg"), "verifier", str(key), None) if isinstance(entry, dict) else None
        if reward is not None:
            yield reward


def _scored(score: Any, source: RewardSource, key: str | None, at: str | None) -> Reward | None:
    if not isinstance(score, int | float) or abs(score) > LARGEST_NUMBER:
        return None
    return Reward(float(score), source, name=key, at=at)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
