"""Results of verifiers environments: `prompt`, `completion` and `reward`, one rollout a row.

| key | is |
| --- | --- |
| `example_id`, else `id` | the task, where all of its rows have one prompt |
| `tool_calls` | calls, each perhaps as JSON text; results have lost their ids and are paired in order |
| `trajectory[].tokens` | the tokens of each policy invocation; those with 0 in `completion_mask` are not trained |
| `info.oai_tools`, else `tool_defs` | the declared tools |
| `is_truncated`, `is_completed`, `error` | how it ended |

| note | says |
| --- | --- |
| `id-not-task` | rows of one id have different prompts: the prompt says what was attempted |
| `lost-tokens` | the steps with tokens are not the turns of the messages: they are left out |
| `run-error` | the rollout ended in an error |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import Call, Message, entry_of
from trajcredit.formats.document import Document, Match, decoded, trajectories
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.history import NULL
from trajcredit.formats.labels import Labels, labels_of, of_entries
from trajcredit.formats.parts import json_text, tools_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.formats.written import with_written_calls
from trajcredit.model import Note, SpanKind, Trajectory, TurnTokens
from trajcredit.registry import formats

__all__ = ["Said", "Verifiers", "message_of"]

FORMAT = "verifiers"


class Said(Message, gc=False, kw_only=True):
    """One message; calls may be JSON text."""

    tool_calls: list[Call | str] | None = None  # type: ignore[assignment]


class Tokens(msgspec.Struct, gc=False):
    """Of one step."""

    prompt_ids: list[int] | None = None
    completion_ids: list[int] | None = None
    completion_mask: list[bool | int] | None = None
    completion_logprobs: list[float] | None = None


class Step(msgspec.Struct, gc=False):
    """One policy invocation."""

    tokens: Tokens | None = None


class Info(msgspec.Struct, gc=False):
    """What the environment says of the task."""

    oai_tools: msgspec.Raw = NULL


class Row(Labels, gc=False):
    """One rollout."""

    prompt: str | list[Said]
    completion: str | list[Said]
    example_id: str | int | None = None
    info: Info | str | None = None
    tool_defs: msgspec.Raw = NULL
    trajectory: list[Step] | None = None
    is_truncated: bool | None = None
    is_completed: bool | None = None
    error: Any = None
    token_usage: Any = None


class _Key(msgspec.Struct, gc=False):
    prompt: msgspec.Raw = NULL
    example_id: Any = None
    id: Any = None


_decode = msgspec.json.Decoder(Row).decode
_key = msgspec.json.Decoder(_Key).decode
_call = msgspec.json.Decoder(Call).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Verifiers:
    """verifiers results: prompt, completion and reward of one rollout a row, grouped by example; tokens where saved.

    Left out: metric columns, times of scoring, logged advantages, the mask of a prompt, which has no ones.
    """

    def sniff(self, document: Document) -> Match:
        """Its rows have these three keys."""
        keys = document.keys
        ours = {"prompt", "completion", "reward"} <= keys and not {"step", "advantage"} <= keys  # those are TRL's
        return Match.YES if ours else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row."""
        trials: Counter[str] = Counter()
        return trajectories(document, _decode, partial(_trajectory, _ids_are_tasks(document), trials))


def _ids_are_tasks(document: Document) -> bool:
    """Whether all rows of an id have one prompt: some versions numbered them wrongly."""
    prompts: dict[Any, bytes] = {}
    for record in document.records:
        if isinstance(record, ParseError):
            continue
        try:
            key, _ = decoded(document, record, _key)
        except ParseError:
            continue
        known = key.example_id if key.example_id is not None else key.id
        if isinstance(known, str | int) and prompts.setdefault(known, bytes(key.prompt)) != bytes(key.prompt):
            return False
    return True


def _trajectory(
    ids_are_tasks: bool, trials: Counter[str], document: Document, record: Record, row: Row, notes: list[Note]
) -> Trajectory:
    example = row.example_id if row.example_id is not None else row.id
    if example is None or not ids_are_tasks:
        task = f"prompt-{sha256(msgspec.json.encode(row.prompt)).hexdigest()[:12]}"
    else:
        task = str(example)
    if example is not None and not ids_are_tasks:
        notes = [*notes, Note("id-not-task", f"id {example} has rows with different prompts: {task} is the task")]
    trials[task] += 1
    labels = labels_of(row)
    labels.task_id, labels.trial = task, trials[task] - 1
    labels.trajectory_id = (
        f"{document.name if len(document.records) > 1 else document.name_of(record)}:{task}:{labels.trial}"
    )
    labels.truncated = row.is_truncated if row.is_truncated is not None else row.truncated
    if row.is_completed is not None and labels.terminated is None:
        labels.terminated = row.is_completed and not row.is_truncated
    if row.error:
        text = row.error if isinstance(row.error, str) else json_text(row.error)
        notes = [*notes, Note("run-error", f"the rollout ended in an error: {text[:500]}")]
    info = row.info if isinstance(row.info, Info) else Info()
    tools = (*tools_of(bytes(info.oai_tools)), *tools_of(bytes(row.tool_defs)))
    prompt = _entries(row.prompt, "user")
    entries = with_written_calls([*prompt, *_entries(row.completion, "assistant")], {tool.name for tool in tools})
    notes = [*notes, *_add_tokens(entries[len(prompt) :], row.trajectory)]
    _count(entries[len(prompt) :], row.token_usage)
    return of_entries(entries, labels, document, record, FORMAT, notes=notes, tools=tools)


def _entries(said: str | list[Said], kind: SpanKind) -> list[Entry]:
    if isinstance(said, str):
        return [Entry([Part(kind, said)], acts=kind == "assistant")] if said else []
    return [entry_of(message_of(message)) for message in said]


def message_of(message: Said) -> Message:
    """The message with its calls read; InputError names one that is no JSON."""
    calls: list[Call] = []
    for call in message.tool_calls or ():
        try:
            calls.append(_call(call) if isinstance(call, str) else call)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"tool_calls holds text that is no call: {error}") from error
    message.tool_calls = calls  # type: ignore[assignment]
    return message


def _add_tokens(entries: list[Entry], steps: list[Step] | None) -> list[Note]:
    """Steps are turns, one by one."""
    logged = [step.tokens for step in steps or ()]
    if not any(logged):
        return []
    turns = [entry for entry in entries if entry.acts]
    if len(turns) != len(logged):
        return [Note("lost-tokens", f"{len(logged)} steps have tokens, {len(turns)} messages are of the policy")]
    for entry, tokens in zip(turns, logged, strict=True):
        if tokens is not None:
            entry.tokens = TurnTokens(0, tokens.prompt_ids, tokens.completion_ids, tokens.completion_logprobs)
            entry.mask = _mask(tokens)
    return []


def _mask(tokens: Tokens) -> list[int] | None:
    """The logged mask, where it says other than that all is trained: what does not fit is for the token record."""
    ids, mask = tokens.completion_ids, tokens.completion_mask
    if ids is None or mask is None or mask == [1] * len(ids):
        return None
    return [int(own) for own in mask]


def _count(entries: list[Entry], usage: Any) -> None:
    """What the whole rollout used, on its first action."""
    first = next((entry for entry in entries if entry.acts and entry.parts), None)
    if first is not None:
        first.usage = usage_of(usage)
