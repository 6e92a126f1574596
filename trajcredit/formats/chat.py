"""Chat messages in the OpenAI form, which many logs hold in a place of their own -> spans.

Anthropic, Gemini and group chats look alike and are refused by name: read as this form they would lose their calls.

| note | says |
| --- | --- |
| `unknown-role` | a message whose role no chat has stands without credit |
| `reward-moved` | a message that gave no span had a reward: it is on the last span before it |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.entries import Entry, Part, write, write_all
from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of, thought_and_text
from trajcredit.formats.transcript import Transcript
from trajcredit.formats.written import holds_written_calls, with_written_calls
from trajcredit.model import ACTION_KINDS, LARGEST_NUMBER, Reward, RewardSource, SpanKind
from trajcredit.registry import formats

__all__ = [
    "Message",
    "add_message",
    "entry_of",
    "finish",
    "finite",
    "logged_id",
    "other_form",
    "outcome_of",
    "rewards_of",
    "transcript_of",
]

OTHER_FORMS = {"anthropic": "an Anthropic log", "gemini": "a Gemini log", "who_and_when": "a group chat"}
"""Name of the format that reads it, once there is one -> what to call it."""
RESULTS = ("tool", "function", "ipython")
"""Roles of what tools returned; Llama's chats have the last one."""
ANTHROPIC_PARTS = ("thinking", "redacted_thinking")
ANTHROPIC_ENDS = ("tool_use", "tool_result")
"""Types of a content block, and ends of such types: `server_tool_use`, `web_search_tool_result`."""


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
    parts: Any = None


def transcript_of(messages: Sequence[Message], tools: Collection[str] = ()) -> Transcript:
    """The spans of a whole list of messages; `tools` are those declared, by name."""
    transcript = Transcript()
    if _may_call_in_text(messages):
        for index, message in enumerate(messages):
            if message.parts is not None:
                raise other_form("gemini", f"messages[{index}] has `parts`")
        write_all(transcript, with_written_calls([entry_of(message) for message in messages], tools))
        finish(transcript)
        return transcript
    for index, message in enumerate(messages):
        _ADD.get(message.role, _add_stranger)(transcript, message, index)
    finish(transcript)
    return transcript


def _may_call_in_text(messages: Sequence[Message]) -> bool:
    """Whether there are no calls but such as the model wrote as text."""
    said: list[Any] = []
    for message in messages:
        if message.tool_calls or message.function_call is not None:
            return False
        if message.role == "assistant":
            said.append(message.content)
    return holds_written_calls([text if isinstance(text, str) else text_of(text)[0] for text in said])


def add_message(transcript: Transcript, message: Message, index: int) -> None:
    """The spans of one message."""
    _ADD.get(message.role, _add_stranger)(transcript, message, index)


def finish(transcript: Transcript) -> None:
    """Settle what only the whole chat can tell; InputError where several agents talk to each other."""
    transcript.finish()
    several = len(transcript.speakers) > 1
    if several and not any(span.kind in ("tool_call", "tool_result") for span in transcript.spans):
        raise other_form("who_and_when", f"{', '.join(sorted(transcript.speakers))} speak, and none calls a tool")
    strangers = [note for note in transcript.notes if note.code == "unknown-role"] if transcript.notes else []
    if strangers and not any(span.kind in ACTION_KINDS for span in transcript.spans):
        stranger = strangers[0]
        place = transcript.spans[stranger.span or 0].message_index
        raise other_form("who_and_when", f"messages[{place}]: {stranger.message}; known: {', '.join(_ADD)}")


def entry_of(message: Message) -> Entry:
    """The same for logs that repeat their history; a role that no chat has is kept, without credit."""
    text, opaque = text_of(message.content)
    if message.role in RESULTS:
        error = _failed(message)
        part = Part("tool_result", text, logged_id(message.tool_call_id), message.name, None, error, opaque or None)
        return Entry([part])
    if message.role != "assistant":
        kind: SpanKind | None = _PROMPTS.get(message.role)
        note = None if kind else ("unknown-role", f"no chat has a role {message.role!r}: kept without credit")
        return Entry([Part(kind or "meta", text, opaque=opaque or None)], agent=message.name, note=note)
    thought = apart = _thought(message)
    if text and not thought:
        thought, text = thought_and_text(text)
    if not text and isinstance(message.refusal, str):
        text = message.refusal
    parts = [Part("reasoning", thought, inferred=not apart)] if thought else []
    parts += [Part("assistant", text, opaque=opaque or None)] if text and not text.isspace() else []
    for call in message.tool_calls or ():
        name, arguments = _called(call)
        parts.append(Part("tool_call", call_id=logged_id(call.id), name=name, arguments=arguments))
    if message.function_call is not None:
        called = message.function_call
        parts.append(Part("tool_call", name=called.name, arguments=arguments_of(called.arguments)))
    return Entry(parts, acts=True, agent=message.name)


def other_form(format: str, found: str) -> InputError:
    """Chat messages of another form: which one, how it is told, and what to do."""
    todo = f"read it with format={format}" if format in formats.items() else "there is no reader for it yet"
    return InputError(f"{OTHER_FORMS[format]}: {found}; {todo}")


def logged_id(value: str | int | None) -> str | None:
    """An id as text; empty ones are none."""
    return None if value is None or value == "" else str(value)


def _add_answer(transcript: Transcript, message: Message, index: int) -> None:
    """Reasoning, then text, then calls: one turn, also where it is empty."""
    transcript.begin_turn()
    content, agent = message.content, message.name
    text, opaque = (content, None) if isinstance(content, str) else text_of(content)
    thought = _thought(message) if message.reasoning_content or message.reasoning or message.thinking else ""
    apart = thought
    if text and not thought:
        thought, text = thought_and_text(text)
    if thought:
        transcript.add("reasoning", thought, index, agent)
        if not apart:
            transcript.mark(len(transcript.spans) - 1, inferred=True)
    if not text and isinstance(message.refusal, str):
        text = message.refusal
    if text and not text.isspace():
        transcript.add("assistant", text, index, agent)
    if opaque or message.parts is not None:
        _opaque(transcript, message, index, opaque)
    for call in message.tool_calls or ():
        name, arguments = _called(call)
        transcript.call(name, logged_id(call.id), arguments, index, agent)
    if message.function_call is not None:
        function = message.function_call
        transcript.call(function.name, None, arguments_of(function.arguments), index, agent)


def _add_result(transcript: Transcript, message: Message, index: int) -> None:
    content = message.content
    text, opaque = (content, None) if isinstance(content, str) else text_of(content)
    error = None if message.is_error is None and message.error is None else _failed(message)
    transcript.result(text, logged_id(message.tool_call_id), message.name, error, index)
    if opaque or message.parts is not None:
        _opaque(transcript, message, index, opaque)


def _add_prompt(transcript: Transcript, message: Message, index: int) -> None:
    content = message.content
    text, opaque = (content, None) if isinstance(content, str) else text_of(content)
    transcript.add("user" if message.role == "user" else "system", text, index, message.name)
    if opaque or message.parts is not None:
        _opaque(transcript, message, index, opaque)


def _opaque(transcript: Transcript, message: Message, index: int, kinds: Sequence[str] | None) -> None:
    """Say that the last span has parts that are no text, unless they show that this is no chat of this form."""
    if message.parts is not None:
        raise other_form("gemini", f"messages[{index}] has `parts`")
    for kind in kinds or ():
        if kind in ANTHROPIC_PARTS or kind.endswith(ANTHROPIC_ENDS):
            raise other_form("anthropic", f"messages[{index}] holds a `{kind}` block")
    transcript.opaque(kinds or ())


def _add_stranger(transcript: Transcript, message: Message, index: int) -> None:
    """A role that is none: of Gemini (`model`), of nobody, or the name of somebody in a group."""
    if message.parts is not None:
        raise other_form("gemini", f"messages[{index}] has `parts`")
    write(transcript, entry_of(message), index)


_ADD = {
    "system": _add_prompt,
    "developer": _add_prompt,
    "user": _add_prompt,
    "assistant": _add_answer,
    **dict.fromkeys(RESULTS, _add_result),
}


_PROMPTS: dict[str, SpanKind] = {"user": "user", "system": "system", "developer": "system"}


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


def outcome_of(reward: float | bool | None, source: RewardSource | None = None, at: str | None = None) -> list[Reward]:
    """The verdict on the whole trajectory, if there is one; from the verifier where the log does not say."""
    if reward is None:
        return []
    return [Reward(finite(float(reward), "reward"), source or "verifier", at=at)]


def rewards_of(
    rewards: Sequence[float | bool | None] | None,
    n_messages: int,
    transcript: Transcript,
    source: RewardSource | None = None,
    at: str | None = None,
) -> list[Reward]:
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
            target = before if span is None else span
            placed[target] = finite(placed.get(target, 0.0) + reward, f"rewards[{index}]")
        before = before if span is None else span
    if placed and not transcript.spans:
        raise InputError("rewards: no message gives a span that could carry one")
    return [Reward(value, source or "verifier", span, at=at) for span, value in sorted(placed.items())]


def finite(value: float, field: str) -> float:
    """The number of a reward; InputError where it is out of range."""
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise InputError(f"{field} {value} is not a number from {-LARGEST_NUMBER:.0f} to {LARGEST_NUMBER:.0f}")
    return value
