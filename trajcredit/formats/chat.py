"""Chat messages in the OpenAI form, which many logs hold in a place of their own -> spans.

| note | says |
| --- | --- |
| `reward-moved` | a message that gave no span had a reward: it is on the last span before it |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of, thought_and_text
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Reward

__all__ = ["Message", "add_message", "logged_id", "outcome_of", "rewards_of", "transcript_of"]

LARGEST = 1.7e308
"""What the canonical form takes for a finite number."""


class Function(msgspec.Struct, gc=False):
    """What a call calls; `input` is the plain text that a custom tool takes."""

    name: str | None = None
    arguments: Any = None
    input: Any = None


class Call(msgspec.Struct, gc=False):
    """One entry of `tool_calls`; some writers leave the `function` wrapper out."""

    id: str | int | None = None
    function: Function | None = None
    custom: Function | None = None
    name: str | None = None
    arguments: Any = None


class Message(msgspec.Struct, gc=False):
    """One message with the keys that servers and trainers add to it."""

    role: str
    content: Any = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | int | None = None
    name: str | None = None
    function_call: Function | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    refusal: Any = None
    is_error: Any = None
    error: Any = None


def transcript_of(messages: Iterable[Message]) -> Transcript:
    """The spans of a whole list of messages."""
    transcript = Transcript()
    for index, message in enumerate(messages):
        _ADD.get(message.role, _refuse)(transcript, message, index)
    transcript.finish()
    return transcript


def add_message(transcript: Transcript, message: Message, index: int) -> None:
    """The spans of one message; InputError names a role that no chat has."""
    _ADD.get(message.role, _refuse)(transcript, message, index)


def logged_id(value: str | int | None) -> str | None:
    """An id as text; empty ones are none."""
    return None if value is None or value == "" else str(value)


def _add_answer(transcript: Transcript, message: Message, index: int) -> None:
    """Reasoning, then text, then calls: one turn, also where it is empty."""
    transcript.begin_turn()
    content, agent = message.content, message.name
    text, opaque = (content, None) if isinstance(content, str) else text_of(content)
    thought = _thought(message) if message.reasoning_content or message.reasoning or message.thinking else ""
    if text and not thought:
        thought, text = thought_and_text(text)
    if thought:
        transcript.add("reasoning", thought, index, agent)
    if not text and isinstance(message.refusal, str):
        text = message.refusal
    if text and not text.isspace():
        transcript.add("assistant", text, index, agent)
    if opaque:
        transcript.opaque(opaque)
    for call in message.tool_calls or ():
        name, arguments = _called(call)
        transcript.call(name, logged_id(call.id), arguments, index, agent)
    if message.function_call is not None:
        function = message.function_call
        transcript.call(function.name, None, arguments_of(function.arguments), index, agent)


def _add_result(transcript: Transcript, message: Message, index: int) -> None:
    text, opaque = text_of(message.content)
    error = None if message.is_error is None and message.error is None else _failed(message)
    transcript.result(text, logged_id(message.tool_call_id), message.name, error, index)
    if opaque:
        transcript.opaque(opaque)


def _add_prompt(transcript: Transcript, message: Message, index: int) -> None:
    text, opaque = text_of(message.content)
    transcript.add("user" if message.role == "user" else "system", text, index, message.name)
    if opaque:
        transcript.opaque(opaque)


def _refuse(transcript: Transcript, message: Message, index: int) -> None:
    raise InputError(f"messages[{index}].role is {message.role!r}; known: {', '.join(_ADD)}")


_ADD = {
    "system": _add_prompt,
    "developer": _add_prompt,
    "user": _add_prompt,
    "assistant": _add_answer,
    "tool": _add_result,
    "function": _add_result,
}


def _thought(message: Message) -> str:
    for text in (message.reasoning_content, message.reasoning, message.thinking):
        if text and isinstance(text, str):
            return text
    return ""


def _called(call: Call) -> tuple[str | None, Arguments]:
    if call.function is not None:
        return call.function.name, arguments_of(call.function.arguments)
    if call.custom is not None:
        plain = call.custom.input
        return call.custom.name, Arguments(None, plain if isinstance(plain, str) else json_text(plain))
    return call.name, arguments_of(call.arguments)


def _failed(message: Message) -> bool | None:
    """What the log says about a result: null where it says nothing."""
    for flag in (message.is_error, message.error):
        if isinstance(flag, bool):
            return flag
        if flag:  # an error object or its text
            return True
    return None


# ---------------------------------------------------------------- rewards


def outcome_of(reward: float | bool | None) -> list[Reward]:
    """The verdict on the whole trajectory, if there is one."""
    return [] if reward is None else [Reward(_finite(float(reward), "reward"))]


def rewards_of(rewards: Sequence[float | bool | None] | None, n_messages: int, transcript: Transcript) -> list[Reward]:
    """One reward a message, each on the last span of its message; zeros are opinions and stay, null is none."""
    if rewards is None:
        return []
    if len(rewards) != n_messages:
        raise InputError(f"rewards holds {len(rewards)} numbers for {n_messages} messages: one a message is expected")
    last = {span.message_index: index for index, span in enumerate(transcript.spans)}
    placed: dict[int, float] = {}
    before = 0
    for index, reward in enumerate(rewards):
        span = last.get(index)
        if span is None and reward:
            transcript.note("reward-moved", f"reward {reward} of message {index}, which gave no span", before)
        if reward is not None and (reward or span is not None):
            at = before if span is None else span
            placed[at] = _finite(placed.get(at, 0.0) + reward, f"rewards[{index}]")
        before = before if span is None else span
    if placed and not transcript.spans:
        raise InputError("rewards: no message gives a span that could carry one")
    return [Reward(value, span=span) for span, value in sorted(placed.items())]


def _finite(value: float, field: str) -> float:
    if not -LARGEST < value < LARGEST:
        raise InputError(f"{field} {value} is not a finite number")
    return value
