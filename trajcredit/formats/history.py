"""Requests that repeat what was said before, and their answers -> one trajectory a conversation.

A request that goes on where a conversation stopped adds only what is new. What came before is known by comparing
whole prefixes, message by message from the first one, never by looking for equal messages.

| note | says |
| --- | --- |
| `branched` | the log goes on differently from what the trajectory has that it names, with the last span they share |
| `unknown-history` | a request names an earlier answer that the log does not hold |
| `run-error` | a request failed: its error stands as a span |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.entries import MOST_COPIED, Entry, Part, bounded, said
from trajcredit.formats.forks import nth_name
from trajcredit.formats.labels import Labels, of_entries
from trajcredit.formats.parts import json_text, tools_of
from trajcredit.formats.split import Bytes, Record
from trajcredit.model import Note, Trajectory

__all__ = ["NULL", "Exchange", "Taken", "conversations", "each", "failure"]

NULL = msgspec.Raw(b"null")


class Exchange(msgspec.Struct):
    """One request and what came back, as far as the log has them; an answer alone has no request."""

    labels: Labels
    system: list[Entry] = []
    """What is said before the messages, in no list of the log."""
    messages: list[Entry] | None = None
    answers: list[list[Entry]] = []
    """Several where several were asked for."""
    tools: msgspec.Raw = NULL
    model: str | None = None
    answer_id: str | None = None
    previous_id: str | None = None
    """The answer that this request goes on from, where it holds only what is new."""
    cut: bool = False
    """The answer was cut off at the most tokens it might have."""
    goes_on: bool = False
    """It is one message of the conversation that the whole log is."""
    alone: bool = False
    """It is a whole conversation: nothing goes on from it."""


class Taken(NamedTuple):
    """An exchange, the record it begins with, and what was mended in it."""

    record: Record
    exchange: Exchange
    notes: list[Note]


class _Thread:
    """A conversation so far."""

    def __init__(self, record: Record, exchange: Exchange) -> None:
        self.record = record
        self.labels = exchange.labels
        self.tools = exchange.tools
        self.system = exchange.system
        self.taken = 0
        self.entries: list[Entry] = []
        self.models: set[str] = set()
        self.cut = False
        self.notes: list[Note] = []
        self.choice: tuple[int, Record] | None = None
        """Which of several answers it took, and to the request of which record."""
        self.branch: _Branch | None = None


class _Branch(NamedTuple):
    """Where a conversation parts from another."""

    left: _Thread
    repeated: int
    """Messages that the request repeats."""
    shared: int | None
    """Entries that both begin with; null where they are not the same ones."""


class _Node:
    """A place in the tree of everything that was said, message by message."""

    __slots__ = ("end", "next", "stops", "through")

    def __init__(self, through: _Thread) -> None:
        self.next: dict[Hashable, _Node] = {}
        self.stops: dict[_Thread, None] = {}
        """The conversations that have come this far."""
        self.through = through
        """The first that came by."""
        self.end = len(through.entries)
        """How many entries that one had here."""


def failure(error: Any) -> Entry:
    """The error that came back in place of an answer."""
    message = error.get("message") if isinstance(error, dict) else error
    said = "a request failed: the log has this error in place of an answer"
    return Entry([Part("meta", message if isinstance(message, str) else json_text(error))], note=("run-error", said))


def each(
    document: Document, decode: Callable[[Bytes], Any], exchange_of: Callable[[Any], Exchange]
) -> Iterator[Taken | ParseError]:
    """Every record as an exchange; a broken one is an error in its place."""
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            value, mended = decoded(document, record, decode)
            yield Taken(record, exchange_of(value), mended)
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error), record if isinstance(record, Record) else None)


def conversations(
    document: Document, format: str, found: Iterable[Taken | ParseError]
) -> Iterator[Trajectory | ParseError]:
    """The exchanges of a log, joined to conversations."""
    log = _Log()
    for item in found:
        if isinstance(item, ParseError):
            yield item
        else:
            log.take(item.exchange, item.record, item.notes)
    names: dict[_Thread, str] = {}
    asked = Counter[str]()
    for thread in log.threads:
        record = None if thread.taken == len(document.records) else thread.record
        try:
            made = _trajectory(document, format, thread, record, names)
        except InputError as error:
            yield document.error(str(error), record)
            continue
        asked[made.id] += 1
        names[thread] = nth_name(made.id, asked[made.id])
        yield made


class _Log:
    """The conversations of one document, and the tree that finds them."""

    def __init__(self) -> None:
        self.threads: list[_Thread] = []
        self._roots: dict[Hashable, _Node] = {}
        self._by_answer: dict[str, tuple[_Thread, _Node | None, int]] = {}
        """Answer -> its conversation, with its place and how many entries it had then."""
        self._copied = 0
        self._waiting: tuple[_Thread, _Node | None] | None = None
        """A request without its answer, which the next record may hold."""

    def take(self, exchange: Exchange, record: Record, mended: list[Note]) -> None:
        """Add what is new in one exchange."""
        if exchange.messages and not exchange.answers and exchange.messages[-1].acts:
            exchange.alone = True  # no request ends in an answer: this is a whole conversation
        if exchange.goes_on and self.threads:
            thread, node = self.threads[-1], None
        elif exchange.messages is None and self._waiting is not None:
            thread, node = self._waiting
        elif exchange.previous_id is not None and self._is_known(exchange.previous_id):
            thread, node = self._after(exchange.previous_id, exchange, record)
            node = self._add(thread, node, exchange.messages or [])
        else:
            thread, node = self._begun(exchange, record)
        thread.taken += 1
        thread.notes += mended
        self._waiting = None if exchange.answers else (thread, node)
        _relabel(thread, exchange)
        self._answer(thread, node, exchange, record)

    def _answer(self, thread: _Thread, node: _Node | None, exchange: Exchange, record: Record) -> None:
        if exchange.model:
            thread.models.add(exchange.model)
        if exchange.answers:
            thread.cut = exchange.cut
        several = len(exchange.answers) > 1
        bounded(len(exchange.answers), len(thread.entries), "answers to one request")
        before = list(thread.entries) if several else []
        first = thread
        for choice, answer in enumerate(exchange.answers):
            if choice:
                thread = self._forked(first, before, record)
            thread.choice = (choice, record) if several else thread.choice
            end = self._add(thread, node, answer)
            if exchange.answer_id and not choice:
                self._by_answer[exchange.answer_id] = thread, end, len(thread.entries)

    def _begun(self, exchange: Exchange, record: Record) -> tuple[_Thread, _Node | None]:
        """The conversation whose end this request goes on from, else a new one."""
        history = exchange.messages or []
        start = () if exchange.alone else (exchange.labels.trajectory_id, *map(said, exchange.system))
        node = None if exchange.alone else self._roots.get(start)
        known: tuple[_Thread, _Node, int] | None = None
        shared = 0
        last = node
        for place, entry in enumerate(history):
            if node is None:
                break
            key = said(entry)
            if key is None:
                continue
            node = node.next.get(key)
            if node is None:
                break
            last, shared = node, place + 1
            if node.stops:
                known = next(iter(node.stops)), node, place + 1
        if known is not None:
            thread, node, place = known
            return thread, self._add(thread, node, history[place:])
        thread = _Thread(record, exchange)
        self.threads.append(thread)
        root = None if exchange.alone else self._roots.setdefault(start, _Node(thread))
        if last is not None and any(entry.acts for entry in history[:shared]):
            common = last.through.entries[: last.end]
            exactly = last.end <= shared or self._may_copy(last.end - shared)
            thread.branch = _Branch(last.through, shared, last.end if exactly else None)
            if exactly:
                thread.entries, history, root = _repeated(common), history[shared:], last
        if exchange.previous_id is not None:
            text = f"goes on from answer {exchange.previous_id!r}, which is not in this log"
            thread.notes.append(Note("unknown-history", text))
        return thread, self._add(thread, root, history)

    def _is_known(self, answer: str) -> bool:
        """Whether a request that names this answer alone can be joined to it."""
        if answer not in self._by_answer:
            return False
        thread, _, end = self._by_answer[answer]
        return len(thread.entries) == end or self._may_copy(end)

    def _after(self, answer: str, exchange: Exchange, record: Record) -> tuple[_Thread, _Node | None]:
        """The conversation that ends in this answer; a new one where it has gone on already."""
        left, node, end = self._by_answer[answer]
        if len(left.entries) == end:
            return left, node
        thread = _Thread(record, exchange)
        self.threads.append(thread)
        thread.entries = _repeated(left.entries[:end])
        thread.branch = _Branch(left, end, end)
        return thread, node

    def _may_copy(self, entries: int) -> bool:
        """Whether so many entries more than the log repeats may be copied: a small file must not fill the memory."""
        self._copied += entries
        return self._copied <= MOST_COPIED

    def _add(self, thread: _Thread, node: _Node | None, entries: list[Entry]) -> _Node | None:
        """More of a conversation, and the place in the tree where it stops now."""
        if node is not None and entries:
            node.stops.pop(thread, None)
        for entry in entries:
            thread.entries.append(entry)
            key = said(entry) if node is not None else None
            if node is not None and key is not None:
                known = node.next.get(key)
                if known is None:
                    node.next[key] = known = _Node(thread)
                node = known
        if node is not None and thread.entries:
            node.stops[thread] = None
        return node

    def _forked(self, thread: _Thread, before: list[Entry], record: Record) -> _Thread:
        """Another answer to the same request: a conversation of its own, in one group with the first."""
        other = _Thread(record, Exchange(thread.labels, thread.system, tools=thread.tools))
        other.entries = list(before)
        other.models = thread.models
        if any(entry.acts for entry in before):
            other.branch = _Branch(thread, len(before), len(before))
        self.threads.append(other)
        return other


def _repeated(entries: list[Entry]) -> list[Entry]:
    """What was said before, with the tokens that were sampled then; it was paid for once."""
    return [entry if entry.usage is None else msgspec.structs.replace(entry, usage=None) for entry in entries]


def _relabel(thread: _Thread, exchange: Exchange) -> None:
    """Later exchanges know the reward and how it ended."""
    later = exchange.labels
    for name in ("reward", "reward_source", "reward_at", "terminated", "truncated"):
        value = getattr(later, name)
        if value is not None:
            setattr(thread.labels, name, value)
    if thread.tools == NULL:
        thread.tools = exchange.tools


def _trajectory(
    document: Document, format: str, thread: _Thread, record: Record | None, names: dict[_Thread, str]
) -> Trajectory:
    labels = thread.labels
    if thread.choice is not None:
        choice, asked = thread.choice
        request = labels.trajectory_id or labels.id or document.name_of(asked)
        group = labels.group_id or labels.group or str(request)
        labels = msgspec.structs.replace(labels, trajectory_id=f"{request}:choice-{choice}", group_id=group)
    model = next(iter(thread.models)) if len(thread.models) == 1 else None
    if labels.truncated is None and thread.cut and thread.choice is None:
        labels = msgspec.structs.replace(labels, truncated=True)
    tools = tools_of(bytes(thread.tools))
    found = of_entries(
        thread.entries,
        labels,
        document,
        record,
        format,
        system=thread.system,
        notes=thread.notes,
        tools=tools,
        model=model,
    )
    if thread.branch is None:
        return found
    note = _branched(found, thread.branch, names.get(thread.branch.left))
    return msgspec.structs.replace(found, report=[*thread.notes, note, *found.report[len(thread.notes) :]])


def _branched(trajectory: Trajectory, branch: _Branch, left: str | None) -> Note:
    """What a trajectory shares and with which: the first `branch.shared` messages are the same ones."""
    first = f"the one that begins with record {branch.left.record.number}"
    text = f"repeats {branch.repeated} messages of {first}, then goes on differently"
    common = [
        index
        for index, span in enumerate(trajectory.spans)
        if branch.shared is not None and span.message_index is not None and span.message_index < branch.shared
    ]
    known = left is not None and bool(common)
    return Note("branched", text, span=common[-1] if known else None, trajectory=left if known else None)
