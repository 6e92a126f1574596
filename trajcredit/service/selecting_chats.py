"""A rollout as the chat messages that fine-tuning takes: it ends with the last thing the policy did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, Trajectory
from trajcredit.tokens.messages import ChatMessage, chat_messages, chat_tools

__all__ = ["NOTES", "Chat", "chat_of", "sft_row"]

NOTES = {
    "cut-tail": "what came after the last message of the assistant is left out: nothing in it is trained",
    "odd-arguments": "arguments of a call are no JSON, and stand as logged",
    "told-by-program": "summaries and notices of the program stand as user messages; after a compaction the policy saw"
    " less than the row holds",
    "several-agents": "several agents take turns: their messages have a name",
}
"""What is true of some rows, and should be known before they are trained on."""


@dataclass(frozen=True, slots=True)
class Chat:
    """Messages up to and including the last of the assistant; the codes of NOTES that are true of them."""

    messages: tuple[ChatMessage, ...]
    notes: tuple[str, ...]


def chat_of(trajectory: Trajectory) -> Chat:
    """The rollout as messages; InputError names the span that a trainer would refuse.

    Beside what `chat_messages` refuses, that is a call without a result that is not in the last message: chat APIs and
    many templates want every call answered before the chat goes on.
    """
    messages = chat_messages(trajectory)
    last = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=-1)
    if last < 0:
        raise InputError("the assistant says and does nothing: there is nothing to train")
    kept = messages[: last + 1]
    _check_answered(trajectory, kept)
    return Chat(tuple(kept), tuple(_notes(trajectory, kept, len(messages))))


def sft_row(trajectory: Trajectory, group_id: str, outcome: float) -> dict[str, Any]:
    """One row as TRL's SFTTrainer and OpenAI's fine-tuning take it, and where it comes from."""
    return {
        "messages": [message.as_dict() for message in chat_of(trajectory).messages],
        "tools": chat_tools(trajectory),
        "trajectory_id": trajectory.id,
        "group_id": group_id,
        "outcome": outcome,
    }


def _check_answered(trajectory: Trajectory, messages: Sequence[ChatMessage]) -> None:
    answered = {message.call_id for message in messages if message.role == "tool"}
    for message in messages[:-1]:
        spans = [part.span for part in message.parts if part.field == "call"]
        for span, call in zip(spans, message.calls, strict=True):
            if call.id not in answered:
                name = trajectory.spans[span].name
                raise InputError(f"span {span} calls {name!r} without a result, and the chat goes on")


def _notes(trajectory: Trajectory, messages: Sequence[ChatMessage], length: int) -> Iterator[str]:
    spans = trajectory.spans
    if length > len(messages):
        yield "cut-tail"
    if any(not _is_json(call.arguments) for message in messages for call in message.calls):
        yield "odd-arguments"
    if any(spans[span].kind == "meta" for message in messages for span in message.spans):
        yield "told-by-program"
    if len({span.agent for span in spans if span.kind in ACTION_KINDS and span.agent is not None}) > 1:
        yield "several-agents"


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
