"""Group chats: Who&When files, Magentic-One logs, and messages in which several agents speak.

| in the log | is |
| --- | --- |
| a message of an agent | an action of that agent, whatever its role; of the human, a user turn |
| `name`, else the role up to a bracket: `Orchestrator (thought)` | the agent |
| `Computer_terminal` and other executors | output: an observation without credit |
| `is_correct`, `is_corrected` | the verdict on the answer |
| `mistake_agent`, `mistake_step`, `mistake_reason` | a person's word on the culprit: a note there, no reward |
| a file of AgentRx labels beside the log | the same, for each failing step |
| `ground_truth`, `question_ID` | the right answer, the task |

| note | says |
| --- | --- |
| `failure-label` | who made the decisive mistake, where and why, as the log has it |
| `lost-message` | a message could not be read: the trajectory goes on without it |
| `label-mismatch` | another agent than the one named speaks at that step |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, Match, Seen, decoded, trajectories
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.failure_labels import with_failures
from trajcredit.formats.labels import Labels, labels_of, of_entries
from trajcredit.formats.parts import text_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["WhoAndWhen"]

FORMAT = "who_and_when"
CHAT_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TOOL_ROLES = ("tool_call", "tool_response", "function_call", "observation", "model", "ipython", "gpt")
"""Roles of other forms of logs."""
KNOWN = frozenset((*CHAT_ROLES, *TOOL_ROLES))
_ROLE = re.compile(rb'"role"\s{0,9}:\s{0,9}"([ -!#-\[\]-~]{1,60})"')
HUMANS = ("human", "user", "user_proxy")
EXECUTORS = ("computer_terminal", "computerterminal", "code_executor", "executor")


class Said(msgspec.Struct, gc=False):
    """One message."""

    role: str
    content: Any = None
    name: str | None = None


class Row(Labels, gc=False):
    """One chat and what is known of it."""

    history: list[Said] | None = None
    messages: list[Said] | None = None
    question_ID: str | int | None = None  # noqa: N815 - as logged
    ground_truth: Any = None
    is_correct: bool | None = None
    is_corrected: bool | None = None
    mistake_agent: str | None = None
    mistake_step: str | int | None = None
    mistake_reason: str | None = None
    system_prompt: dict[str, Any] | str | None = None


_decode = msgspec.json.Decoder(Row | list[Said]).decode
_message = msgspec.json.Decoder(Said).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class WhoAndWhen:
    """Group chats of several agents: Who&When files with failure labels, Magentic-One logs; one trajectory each.

    Left out: the level of a task, and whom a message was addressed to.
    """

    def sniff(self, document: Document) -> Match:
        """Labels of a mistake, or messages of somebody who has no role in a chat with a model."""
        keys = document.keys
        if {"mistake_agent", "mistake_step"} <= keys and not keys.isdisjoint(("history", "messages")):
            return Match.YES
        if "messages" in keys:
            return Match.LIKELY if any(map(_is_group, document.head)) else Match.NO
        said = [seen.fields for seen in document.head if _is_message(seen)]
        if len(said) < len(document.head):
            return Match.NO
        if any(_is_stranger(fields["role"]) for fields in said):
            is_chat = any(bytes(fields["role"]) == b'"assistant"' and "name" not in fields for fields in said)
            return Match.NO if is_chat else Match.YES
        names = {bytes(fields["name"]) for fields in said if "name" in fields and _speaks(fields["role"])}
        calls = b'"tool' in document.data or b'"function' in document.data
        return Match.YES if len(names - {b"null"}) > 1 and not calls else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a chat; where the records are messages, one of them all."""
        if document.head and all(map(_is_message, document.head)):
            return _one_of_all(document)
        return trajectories(document, _decode, _trajectory)


class _Look(msgspec.Struct, gc=False):
    role: Any = None
    name: Any = None
    content: Any = None
    parts: Any = None
    tool_calls: Any = None


_looks = msgspec.json.Decoder(list[_Look]).decode


def _is_message(seen: Seen) -> bool:
    return {"role", "content"} <= seen.fields.keys() and not seen.is_list and "parts" not in seen.fields


def _is_stranger(role: msgspec.Raw) -> bool:
    try:
        name = msgspec.json.decode(role)
    except msgspec.DecodeError:
        return False
    return isinstance(name, str) and name not in KNOWN and bool(name)


def _speaks(role: msgspec.Raw) -> bool:
    return bytes(role) in (b'"user"', b'"assistant"')


def _is_group(seen: Seen) -> bool:
    raw = bytes(seen.fields["messages"]) if "messages" in seen.fields else b""
    if b'"name"' not in raw and all(role.decode() in KNOWN for role in set(_ROLE.findall(raw))):
        return False
    try:
        messages = _looks(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if any(m.role == "tool" or m.tool_calls or m.parts is not None for m in messages):
        return False
    if any(isinstance(m.role, str) and m.role not in KNOWN for m in messages):
        return not any(m.role == "assistant" and m.name is None for m in messages)
    return len({m.name for m in messages if isinstance(m.name, str) and m.role in ("user", "assistant")}) > 1


def _trajectory(document: Document, record: Record, row: Row | list[Said], notes: list[Note]) -> Trajectory:
    if isinstance(row, list):
        row = Row(messages=row)
    messages = row.history if row.history is not None else row.messages
    if messages is None:
        raise InputError("neither `history` nor `messages`: no group chat")
    labels = labels_of(row)
    labels.task = labels.task if labels.task is not None else row.question_ID
    labels.answer = labels.answer if labels.answer is not None else row.ground_truth
    verdict = row.is_correct if row.is_correct is not None else row.is_corrected
    labels.reward = labels.reward if labels.reward is not None else verdict
    entries = [_entry(message) for message in messages]
    _label(entries, row)
    system = _system(row.system_prompt)
    return of_entries(entries, labels, document, record, FORMAT, system=system, notes=notes)


def _one_of_all(document: Document) -> Iterator[Trajectory | ParseError]:
    entries: list[Entry] = []
    notes: list[Note] = []
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            message, mended = decoded(document, record, _message)
            entries.append(_entry(message))
            notes += mended
        except ParseError as error:
            notes.append(Note("lost-message", f"{error.reason}: left out"))
            entries.append(Entry([]))
            yield error
    try:
        yield with_failures(document, of_entries(entries, Labels(), document, None, FORMAT, notes=notes))
    except InputError as error:
        yield document.error(str(error))


def _entry(message: Said) -> Entry:
    text, opaque = text_of(message.content)
    agent = message.name or message.role.partition(" (")[0]
    known = agent.casefold()
    if known in EXECUTORS or message.role in ("tool", "function"):
        return Entry([Part("tool_result", text, opaque=opaque or None)], agent=agent)
    if message.role == "system":
        return Entry([Part("system", text, opaque=opaque or None)], agent=message.name)
    if known in HUMANS:
        return Entry([Part("user", text, opaque=opaque or None)])
    return Entry([Part("assistant", text, opaque=opaque or None)], acts=True, agent=agent)


def _system(prompt: dict[str, Any] | str | None) -> list[Entry]:
    prompts = prompt if isinstance(prompt, dict) else {"": prompt} if prompt else {}
    said = ((agent or None, text_of(text)[0]) for agent, text in prompts.items())
    return [Entry([Part("system", text)], agent=agent) for agent, text in said if text]


def _label(entries: list[Entry], row: Row) -> None:
    """Say at the message what a person found there."""
    if row.mistake_agent is None or row.mistake_step is None:
        return
    step = str(row.mistake_step)
    if not step.isdecimal() or len(step) > 9 or int(step) >= len(entries):
        raise InputError(f"mistake_step {row.mistake_step!r} is no position from 0 to {len(entries) - 1}")
    entry = entries[int(step)]
    reason = f": {row.mistake_reason}" if row.mistake_reason else ""
    text = f"{row.mistake_agent} made the decisive mistake at message {step}{reason}"
    agent = entry.agent or "the human"
    if agent.casefold() != row.mistake_agent.casefold():
        entry.note = ("label-mismatch", f"{text}; it is {agent} who speaks there")
    else:
        entry.note = ("failure-label", text)
