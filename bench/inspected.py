"""A log of Inspect AI, made of runs like those of tau-bench with its own types and written by itself."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trajcredit.model import Trajectory

__all__ = ["our_messages", "their_messages", "written"]


def written(place: Path, rows: list[Any]) -> Callable[[], Any]:
    """Write the runs to a JSON log; what inspect_ai reads it with. ImportError where that is not installed."""
    log: Any = importlib.import_module("inspect_ai.log")
    model: Any = importlib.import_module("inspect_ai.model")
    scorer: Any = importlib.import_module("inspect_ai.scorer")
    tool: Any = importlib.import_module("inspect_ai.tool")
    samples = []
    for k, row in enumerate(rows):
        messages = [_message(one, model, tool) for one in row["traj"]]
        value = scorer.Score(value=row["reward"])
        sample = {"id": k, "epoch": 1, "input": "go", "target": "", "messages": messages, "scores": {"match": value}}
        samples.append(log.EvalSample(**sample))
    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="made up",
        dataset=log.EvalDataset(name="made up", samples=len(rows)),
        model="none",
        config=log.EvalConfig(),
    )
    log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=samples), str(place), format="json")
    return lambda: log.read_eval_log(str(place))


def _message(one: dict[str, Any], model: Any, tool: Any) -> Any:
    content = one.get("content") or ""
    if one["role"] == "system":
        return model.ChatMessageSystem(content=content)
    if one["role"] == "user":
        return model.ChatMessageUser(content=content)
    if one["role"] == "tool":
        return model.ChatMessageTool(content=content, tool_call_id=one["tool_call_id"], function=one["name"])
    calls = [
        tool.ToolCall(id=c["id"], function=c["function"]["name"], arguments=json.loads(c["function"]["arguments"]))
        for c in one.get("tool_calls") or ()
    ]
    return model.ChatMessageAssistant(content=content, tool_calls=calls or None, model="none")


def our_messages(one: Trajectory) -> list[tuple[Any, ...]]:
    """What was said, called and answered, and the scores, in terms of the log."""
    said: list[tuple[Any, ...]] = []
    for span in one.spans:
        if span.kind == "tool_call":
            said.append(("call", span.call_id, span.name, span.arguments))
        else:
            said.append(("tool" if span.kind == "tool_result" else span.kind, span.text))
    return [*said, *(("score", reward.value) for reward in one.rewards)]


def their_messages(sample: Any) -> list[tuple[Any, ...]]:
    """The same of a sample that inspect_ai read."""
    said: list[tuple[Any, ...]] = []
    for message in sample.messages:
        if message.role != "assistant" or message.text:
            said.append((message.role, message.text))
        calls = (message.tool_calls or ()) if message.role == "assistant" else ()
        said += [("call", call.id, call.function, call.arguments) for call in calls]
    return [*said, *(("score", score.value) for score in sample.scores.values())]
