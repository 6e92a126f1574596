"""OpenAI chat logs: rows around `messages`, bare lists of messages, and JSONL with one message a line.

| note | says |
| --- | --- |
| `lost-message` | a message could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import Message, add_message, logged_id, outcome_of, rewards_of, transcript_of
from trajcredit.formats.document import Document, Match, Record, decoded, trajectories
from trajcredit.formats.parts import json_text, tools_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["OpenAIChat"]

FORMAT = "openai_chat"


class Row(msgspec.Struct, gc=False):
    """`messages` and what logs write beside them."""

    messages: list[Message]
    trajectory_id: str | int | None = None
    id: str | int | None = None
    group_id: str | int | None = None
    group: str | int | None = None
    task_id: str | int | None = None
    task: str | int | None = None
    reward: float | bool | None = None
    rewards: list[float | bool | None] | None = None
    policy_version: str | int | float | None = None
    trial: str | int | None = None
    step: int | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    answer: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    functions: msgspec.Raw = msgspec.Raw(b"null")


decode_row = msgspec.json.Decoder(Row | list[Message]).decode
_messages = msgspec.json.Decoder(Message)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """OpenAI chat messages, with rewards, groups and tools where the log has them; what most trainers write."""

    def sniff(self, document: Document) -> Match:
        """`messages`, or messages themselves: the fallback for every log of this family."""
        keys = document.keys
        is_message = "role" in keys and not keys.isdisjoint(("content", "tool_calls", "function_call"))
        return Match.FALLBACK if "messages" in keys or is_message else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row or a list; where the records are messages, one of them all."""
        if "messages" not in document.keys and not _holds_lists(document):
            return _one_of_all(document)
        return trajectories(document, decode_row, _trajectory)


def _holds_lists(document: Document) -> bool:
    """Whether the first record is a list (of messages) itself."""
    raw = next((record.raw for record in document.records if isinstance(record, Record)), b"")
    return bytes(memoryview(raw)[:64]).lstrip().startswith(b"[")


def _trajectory(document: Document, record: Record, row: Row | list[Message], notes: list[Note]) -> Trajectory:
    if isinstance(row, list):
        row = Row(row)
    transcript = transcript_of(row.messages)
    rewards = [*outcome_of(row.reward), *rewards_of(row.rewards, len(row.messages), transcript)]
    return Trajectory(
        id=logged_id(row.trajectory_id) or logged_id(row.id) or document.name_of(record),
        dataset=document.dataset_of(record),
        task=logged_id(row.task_id) or logged_id(row.task),
        group=logged_id(row.group_id) or logged_id(row.group),
        trial=logged_id(row.trial),
        step=row.step,
        policy_version=None if row.policy_version is None else str(row.policy_version),
        terminated=row.terminated,
        truncated=row.truncated,
        answer=row.answer if row.answer is None or isinstance(row.answer, str) else json_text(row.answer),
        rewards=rewards,
        tools=[*tools_of(bytes(row.tools)), *tools_of(bytes(row.functions))],
        spans=transcript.spans,
        report=notes + transcript.notes,
        source=document.origin_of(FORMAT, record),
    )


def _one_of_all(document: Document) -> Iterator[Trajectory | ParseError]:
    """One trajectory whose messages are the records; a broken one is reported and left out."""
    transcript = Transcript()
    notes: list[Note] = []
    for index, record in enumerate(document.records):
        try:
            if isinstance(record, ParseError):
                raise record
            message, mended = decoded(document, record, _messages.decode)
        except ParseError as error:
            notes.append(Note("lost-message", f"{error.reason}: left out"))
            yield error
            continue
        notes += mended
        try:
            add_message(transcript, message, index)
        except InputError as error:
            yield document.error(str(error))
            return
    if len(notes) < len(document.records):
        transcript.finish()
        yield Trajectory(
            id=document.name_of(None),
            dataset=document.dataset_of(None),
            spans=transcript.spans,
            report=notes + transcript.notes,
            source=document.origin_of(FORMAT, None),
        )
