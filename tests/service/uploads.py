"""Logs as clients send them, made for tests of the verbs over the store."""

from __future__ import annotations

import json
from typing import Any

from trajcredit.service.asking import of_spec
from trajcredit.service.ingesting import Ingested, Log, ingest
from trajcredit.service.runner import see_through
from trajcredit.service.running import RunView, Wanted, ask_for
from trajcredit.store import Store

__all__ = ["PROJECT", "log", "rollout", "scored", "send"]

PROJECT = "default"


def rollout(name: str, reward: float | None = 1.0, text: str = "done", **more: Any) -> dict[str, Any]:
    """One chat row: a question, a call, its result, an answer; four spans."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "ZX-4471"}'}}
    return {
        "id": name,
        "reward": reward,
        "messages": [
            {"role": "user", "content": "look at ZX-4471"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "it is QK-9932"},
            {"role": "assistant", "content": f"{text}: QK-9932"},
        ],
        **more,
    }


def log(*rows: dict[str, Any] | str, name: str = "log.jsonl", format: str | None = None) -> Log:
    """JSON lines; a text stands as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return Log("".join(line + "\n" for line in lines).encode(), name, format)


def send(store: Store, *rows: dict[str, Any] | str, **how: Any) -> Ingested:
    """The rows as one upload."""
    return ingest(store, PROJECT, [log(*rows)], **how)


def scored(store: Store, spec: str = "grpo", wanted: Wanted | None = None) -> RunView:
    """A finished run over what is there."""
    run = ask_for(store, PROJECT, of_spec(spec), wanted or Wanted())
    ended = see_through(store, PROJECT, run.id, lambda done, total: None)
    assert ended.state == "done", ended.error
    return ended
