"""Preference pairs: what a passing and a failing rollout of one group did from where they first differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

import msgspec

from trajcredit.model import Trajectory
from trajcredit.tokens.messages import ChatMessage, chat_tools

__all__ = ["Pair", "Told", "pair_row", "parted", "told"]

Piece: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A rollout as it is compared: each message as pieces that are equal where the same was said or done.

    Texts are compared to the letter; calls by tool and arguments, whatever the order of their keys or the spacing;
    results by their text and by which call of the message they answer. Ids are not compared: every rollout has its own.
    """

    trajectory: Trajectory
    messages: tuple[ChatMessage, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    tools: bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rollouts by position, and how many first messages they share."""

    chosen: int
    rejected: int
    shared: int


def told(trajectory: Trajectory, messages: Sequence[ChatMessage], call_keys: Sequence[int]) -> Told:
    """The rollout's messages, made comparable; `call_keys` are those of its spans (batch column `call_key`)."""
    order: dict[str | None, int] = {}
    pieces: list[tuple[Piece, ...]] = []
    for message in messages:
        pieces.append(
            (
                (message.role, message.name, order.get(message.call_id)),
                ("reasoning", message.reasoning),
                ("content", message.content),
                *(
                    ("call", call.name, call_keys[span])
                    for call, span in zip(message.calls, _calls(message), strict=True)
                ),
            )
        )
        order.update({call.id: n for n, call in enumerate(message.calls)})
    tools = msgspec.json.encode(chat_tools(trajectory), order="deterministic")
    return Told(trajectory, tuple(messages), tuple(pieces), tools)


def parted(chosen: Told, rejected: Told) -> int | str:
    """How many first messages are the same, where the next is the assistant's in both; else a code of PAIR_REASONS.

    A preference is one between things that the policy chose: where the same words and calls met another observation,
    there is none.
    """
    if chosen.tools != rejected.tools:
        return "other-tools"
    shared = 0
    for mine, other in zip(chosen.pieces, rejected.pieces, strict=False):
        if mine != other:
            break
        shared += 1
    if shared == min(len(chosen.messages), len(rejected.messages)):
        return "one-ends"
    if chosen.messages[shared].role == rejected.messages[shared].role == "assistant":
        return shared
    acted = any(message.role == "assistant" for message in chosen.messages[:shared])
    return "other-observations" if acted else "other-prompts"


def pair_row(chosen: Told, rejected: Told, shared: int) -> dict[str, Any]:
    """One row as TRL's DPOTrainer takes it, and where it comes from.

    `chosen_span` and `rejected_span` are where the two first differ (null: that one says no more in this message),
    `chosen_call` and `rejected_call` the first calls that differ (null: that one makes no more).
    """
    prompt = [message.as_dict() for message in chosen.messages[:shared]]
    chosen_span, rejected_span = _first_difference(chosen, rejected, shared)
    chosen_call, rejected_call = _first_call(chosen, rejected, shared)
    return {
        "prompt": prompt,
        "chosen": [message.as_dict() for message in chosen.messages[shared:]],
        "rejected": [message.as_dict() for message in _renamed(rejected.messages[shared:], _ids(chosen, shared))],
        "tools": chat_tools(chosen.trajectory),
        "chosen_id": chosen.trajectory.id,
        "rejected_id": rejected.trajectory.id,
        "chosen_span": chosen_span,
        "rejected_span": rejected_span,
        "chosen_call": chosen_call,
        "rejected_call": rejected_call,
    }


def _calls(message: ChatMessage) -> list[int]:
    """The spans of its calls, parallel to `calls`."""
    return [part.span for part in message.parts if part.field == "call"]


def _first_difference(chosen: Told, rejected: Told, at: int) -> tuple[int | None, int | None]:
    """The spans where message `at` of the two first differs: reasoning, then content, then calls."""
    mine, other = chosen.messages[at], rejected.messages[at]
    if mine.reasoning != other.reasoning:
        return _owners(mine, other, "reasoning", mine.reasoning or "", other.reasoning or "")
    if mine.content != other.content:
        return _owners(mine, other, "content", mine.content or "", other.content or "")
    return _first_call(chosen, rejected, at)


def _owners(
    mine: ChatMessage, other: ChatMessage, field: str, text: str, another: str
) -> tuple[int | None, int | None]:
    """The spans that own the first character that differs."""
    same = next(
        (n for n, (a, b) in enumerate(zip(text, another, strict=False)) if a != b), min(len(text), len(another))
    )
    first, second = (
        next((part.span for part in message.parts if part.field == field and part.end > same), None)
        for message in (mine, other)
    )
    return first, second


def _first_call(chosen: Told, rejected: Told, start: int) -> tuple[int | None, int | None]:
    """The spans of the first calls from message `start` on that are not the same."""
    for mine, other in zip_longest(_calls_from(chosen, start), _calls_from(rejected, start)):
        if mine is None or other is None or mine[0] != other[0]:
            return mine[1] if mine is not None else None, other[1] if other is not None else None
    return None, None


def _calls_from(told: Told, start: int) -> Iterator[tuple[Piece, int]]:
    for message, pieces in zip(told.messages[start:], told.pieces[start:], strict=True):
        yield from zip((piece for piece in pieces if piece[0] == "call"), _calls(message), strict=True)


def _ids(told: Told, shared: int) -> set[str]:
    return {call.id for message in told.messages[:shared] for call in message.calls}


def _renamed(messages: Sequence[ChatMessage], taken: set[str]) -> list[ChatMessage]:
    """The messages of one rollout behind a prompt of another: an id that the prompt uses gets a new name."""
    known = taken | {call.id for message in messages for call in message.calls}
    names: dict[str, str] = {}
    for call_id in [call.id for message in messages for call in message.calls if call.id in taken]:
        name = call_id
        while name in known:
            name += "_"
        known.add(name)
        names[call_id] = name
    return [
        replace(
            message,
            calls=tuple(replace(call, id=names.get(call.id, call.id)) for call in message.calls),
            call_id=names.get(message.call_id, message.call_id) if message.call_id is not None else None,
        )
        for message in messages
    ]
