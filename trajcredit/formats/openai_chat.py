"""OpenAI chat logs: rows around `messages`, bare lists of messages, and JSONL with one message a line.

Beside `messages` stand the keys of `labels`, and

| key | is |
| --- | --- |
| `rewards` | one a message, each on the last span of its message; null is none; from whom `reward_source` says |
| `instance_id` | what was attempted, where there is no `task_id` or `task` |
| `tools`, else `functions` | the declared tools, as a list or its JSON text |

| note | says |
| --- | --- |
| `lost-message` | a message could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import (
    Message,
    add_message,
    finish,
    other_form,
    rewards_of,
    transcript_of,
)
from trajcredit.formats.document import Document, Match, decoded, trajectories
from trajcredit.formats.labels import Id, Labels, labelled
from trajcredit.formats.parts import tools_of
from trajcredit.formats.split import Record
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Tool, Trajectory
from trajcredit.registry import formats

__all__ = ["OpenAIChat"]

FORMAT = "openai_chat"
NULL = msgspec.Raw(b"null")


class Row(Labels, gc=False):
    """`messages` and what logs write beside them."""

    messages: list[Message]
    rewards: list[float | bool | None] | None = None
    instance_id: Id = None
    tools: msgspec.Raw = NULL
    functions: msgspec.Raw = NULL
    system: msgspec.Raw = NULL
    max_tokens: msgspec.Raw = NULL
    """These two beside `messages` are Anthropic's."""


decode_row = msgspec.json.Decoder(Row | list[Message]).decode
_message = msgspec.json.Decoder(Message)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """OpenAI chat messages, with rewards, groups and tools where the log has them; what most trainers write.

    Left out: keys of rows and messages that are not named here; pictures and sound, for which a marker stands.
    """

    def sniff(self, document: Document) -> Match:
        """`messages`, or messages themselves: the fallback for every log of this family."""
        keys = document.keys
        is_message = "role" in keys and not keys.isdisjoint(("content", "tool_calls", "function_call"))
        return Match.FALLBACK if "messages" in keys or is_message else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row or a list; where the records are messages, one of them all."""
        return _one_of_all(document) if _are_messages(document) else trajectories(document, decode_row, _trajectory)


def _are_messages(document: Document) -> bool:
    """Whether most of the first records are messages, not rows or lists of them."""
    messages = [not seen.is_list and "role" in seen.fields and "messages" not in seen.fields for seen in document.head]
    return 2 * sum(messages) > len(messages)


def _trajectory(document: Document, record: Record, row: Row | list[Message], notes: list[Note]) -> Trajectory:
    if isinstance(row, list):
        row = Row(messages=row)
    if row.system != NULL and row.max_tokens != NULL:
        raise other_form("anthropic", "`system` and `max_tokens` stand beside the messages")
    tools: tuple[Tool, ...] = ()
    if row.tools is not NULL or row.functions is not NULL:
        tools = (*tools_of(bytes(row.tools)), *tools_of(bytes(row.functions)))
    transcript = transcript_of(row.messages, {tool.name for tool in tools})
    source, at = row.reward_source, row.reward_at
    rewards = rewards_of(row.rewards, len(row.messages), transcript, source, at)
    if row.instance_id is not None and row.task_id is None and row.task is None:
        row.task = row.instance_id
    return labelled(row, document, record, FORMAT, transcript, notes=notes, rewards=rewards, tools=tools)


def _one_of_all(document: Document) -> Iterator[Trajectory | ParseError]:
    """One trajectory whose messages are the records; a broken one is reported and left out."""
    messages: list[tuple[int, Message]] = []
    notes: list[Note] = []
    for index, record in enumerate(document.records):
        try:
            if isinstance(record, ParseError):
                raise record
            message, mended = decoded(document, record, _message.decode)
            messages.append((index, message))
            notes += mended
        except ParseError as error:
            notes.append(Note("lost-message", f"{error.reason}: left out"))
            yield error
    if not messages:
        return
    transcript = Transcript()
    try:
        for index, message in messages:
            add_message(transcript, message, index)
        finish(transcript)
    except InputError as error:
        yield document.error(str(error))
        return
    yield Trajectory(
        id=document.name_of(None),
        dataset=document.dataset_of(None),
        spans=transcript.spans,
        report=notes + transcript.notes,
        source=document.origin_of(FORMAT, None),
    )
