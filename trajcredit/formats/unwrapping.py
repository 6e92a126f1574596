"""Requests to a model that are logged inside each other, as nested instrumentations do: one where they say the same.

| note | says |
| --- | --- |
| `nested-request` | what only one of two requests was asked, answered or failed of: kept beside the other |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from trajcredit.formats.said import Message, Piece
from trajcredit.formats.steps import Step
from trajcredit.model import Note

__all__ = ["unwrapped"]

Item: TypeAlias = tuple[Hashable, ...]
Items: TypeAlias = dict[Item, str]
"""What messages say, however they are cut into pieces: a text of one kind without its blanks, a call; how it reads."""


def unwrapped(steps: Sequence[Step]) -> tuple[list[Step], list[Note]]:
    """The steps with one request where several inside each other say the same, and what is to be said.

    A request whose answer says more stays with what is its own; it answers when those inside of it have, so it stands
    behind them.
    """
    inside: dict[str, _Inside] = {}
    late: set[str] = set()
    notes: list[Note] = []
    for step in reversed(steps):  # what happens in a step comes behind it
        if step.kind != "llm":
            continue
        around = _around(step)
        mine = inside.pop(step.id, None)
        if mine is None:
            if around is None:
                continue  # as most are
            mine = _Inside()
            mine.add(step)
        else:
            late |= {step.id} if mine.settle(step, notes) else set()
        if around is not None:
            inside.setdefault(around.id, _Inside()).join(mine)
    return (_behind(steps, late) if late else list(steps)), notes[::-1]


@dataclass(slots=True)
class _Inside:
    """The requests inside of one, the last first, and what all of them say."""

    requests: list[Step] = field(default_factory=list)
    asked: Items = field(default_factory=dict)
    answered: Items = field(default_factory=dict)

    def add(self, step: Step) -> None:
        self.requests.append(step)
        self.asked |= _items(step.asked)
        self.answered |= _items(step.answered)

    def join(self, other: _Inside) -> None:
        """Take in those of an earlier part of the same request."""
        self.requests += other.requests
        self.asked |= other.asked
        self.answered |= other.answered

    def settle(self, step: Step, notes: list[Note]) -> bool:
        """Which of a request and those inside of it count from now on; whether all of them do."""
        asked, answered = _items(step.asked), _items(step.answered)
        own = answered.keys() - self.answered.keys()
        first, last = self.requests[-1], self.requests[0]
        if own and (not self.answered or (first is last and self._is_within(asked, answered))):
            self._outer_counts(step, asked, notes)
            return False
        if own and all(item[0] == "reasoning" for item in own):
            last.answered = [*_only(step.answered, own), *last.answered]
            own = set()
        if not own:
            first.beside = [*first.beside, *(text for item, text in asked.items() if item not in self.asked)]
            _merge(last, step, notes)
            return False
        said = f"request {step.id} answers otherwise than those inside of it: it stands behind {last.id}"
        notes.append(Note("nested-request", said))
        step.answered = _only(step.answered, own)
        self.requests.insert(0, step)
        self.asked |= asked
        self.answered |= answered
        return True

    def _is_within(self, asked: Items, answered: Items) -> bool:
        return self.asked.keys() <= asked.keys() and self.answered.keys() <= answered.keys()

    def _outer_counts(self, step: Step, asked: Items, notes: list[Note]) -> None:
        """Only the outer one has an answer, or it says all that the inner one says."""
        more = self.asked.keys() - asked.keys()
        if more and asked.keys() <= _items(self.requests[0].asked).keys():
            step.asked = self.requests[0].asked  # the last one inside has the whole prompt
            more -= _items(step.asked).keys()
        step.beside = [*step.beside, *(text for item, text in self.asked.items() if item in more)]
        for one in self.requests:
            _merge(step, one, notes)
        self.requests.clear()
        self.add(step)


def _merge(kept: Step, left: Step, notes: list[Note]) -> None:
    """Take over what the request that is left out knows, and the one that counts does not."""
    left.kind = "other"
    kept.usage = kept.usage or left.usage
    kept.tools = kept.tools or left.tools
    kept.rewards = [*kept.rewards, *left.rewards]
    kept.agent = kept.agent or left.agent
    kept.model = kept.model or left.model
    kept.ids = kept.ids or left.ids
    kept.beside = [*left.beside, *kept.beside]
    if left.failed and not kept.failed and kept.answered:
        said = f"request {left.id} failed: {left.why or 'no reason'}; {kept.id}, which says the same, did not"
        notes.append(Note("nested-request", said))


def _behind(steps: Sequence[Step], late: set[str]) -> list[Step]:
    """The steps, each of the late ones behind all that happened in it."""
    ordered: list[Step] = []
    open_: list[Step] = []
    around: dict[str, str | None] = {}  # a step -> the nearest late one that it is or is in
    for step in steps:
        above = around.get(step.parent) if step.parent is not None else None
        while open_ and open_[-1].id != above:
            ordered.append(open_.pop())
        around[step.id] = step.id if step.id in late else above
        (open_ if step.id in late else ordered).append(step)
    return [*ordered, *reversed(open_)]


def _items(messages: Iterable[Message]) -> Items:
    """What messages say, and how each of it reads."""
    return {item: _text(pieces) for message in messages for item, pieces in _by_item(message)}


def _only(messages: Iterable[Message], wanted: set[Item]) -> list[Message]:
    """Of messages what says one of these things."""
    kept = [tuple(piece for item, pieces in _by_item(m) if item in wanted for piece in pieces) for m in messages]
    return [message for message in kept if message]


def _by_item(message: Message) -> Iterator[tuple[Item, list[Piece]]]:
    """What a message says, and in which pieces: its texts of one kind together, each call by itself."""
    texts: dict[str, list[Piece]] = {}
    calls: list[Piece] = []
    for piece in message:
        (calls if piece.kind == "tool_call" else texts.setdefault(piece.kind, [])).append(piece)
    for kind, pieces in texts.items():
        if bare := "".join(_text(pieces).split()):
            yield (kind, bare), pieces
    yield from ((piece.key or ("tool_call", piece.name), [piece]) for piece in calls)


def _text(pieces: Iterable[Piece]) -> str:
    """How pieces read; of a call its tool and arguments."""
    return "\n".join(f"{p.name}({(p.key or ('',))[-1]})" if p.kind == "tool_call" else p.text for p in pieces)


def _around(step: Step) -> Step | None:
    """The request around this one, with no agent and no tool between them."""
    here = step.around
    while here is not None and here.kind != "llm":
        here = here.around
    return here
