"""Spans in the order they were logged -> spans in causal order, every result tied to its call.

| note | says |
| --- | --- |
| `paired-by-name` | a result without a usable id answers the open call of that tool |
| `paired-by-position` | a result without a usable id answers the next open call |
| `duplicate-call-id` | two calls of one turn share an id: their results are taken in order |
| `paired-by-rewritten-id` | a result has an id that no call has: it answers the call of its tool that got no other |
| `result-before-call` | a result was logged before its call: it stands behind it now |
| `orphan-result` | no call in the log belongs to this result: it stays an observation |
| `unanswered-call` | the log has no result of this call |
| `unnamed-call` | a call names no tool |
| `broken-arguments`, `deep-arguments` | the arguments are no JSON, or nest too deep: kept as the text they are |
| `sanitised` | half a surrogate pair or a NUL in the arguments was replaced |
| `opaque-part` | content that is no text stands as a marker, or as JSON |
| `no-action` | the log has no action: nothing can get credit |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain
from typing import Any

from msgspec.structs import replace

from trajcredit.formats.parts import Arguments
from trajcredit.model import ACTION_KINDS, Note, Span, SpanKind

__all__ = ["Transcript"]

RULES = {"paired-by-name": "by the tool's name", "paired-by-position": "by its place"}


class Transcript:
    """Collects the spans of one trajectory; `finish` settles what only the whole log can tell."""

    __slots__ = (
        "_by_id",
        "_early",
        "_first_sibling",
        "_open",
        "_siblings",
        "_turn_of_calls",
        "_twins",
        "moved",
        "notes",
        "spans",
        "speakers",
        "turn",
    )

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.notes: list[Note] = []
        self.turn = -1
        self.speakers: set[str] = set()
        """Who said something, by name; the names in system prompts are those of examples."""
        self.moved: dict[int, int] | None = None
        """Where each span stands after `finish`, where that moved any."""
        self._open: dict[int, None] = {}
        self._by_id: dict[str, list[int]] = {}  # calls of an id, one a turn, the latest last
        self._twins: dict[int, deque[int]] = {}  # further calls of that turn and id
        self._turn_of_calls = -1  # the last turn that has any
        self._first_sibling = 0  # its first call
        self._siblings: dict[str | None, deque[int]] | None = None  # its calls by tool, null: all; made when asked for
        self._early: dict[int, str] = {}  # results whose id no call has had yet

    def note(self, code: str, message: str, span: int | None = None) -> None:
        """Say what was guessed or left out, by default about the last span, of the whole where there is none yet."""
        last = len(self.spans) - 1 if self.spans else None
        self.notes.append(Note(code, message, last if span is None else span))

    def opaque(self, kinds: Iterable[str]) -> None:
        """The last span has parts that are no text."""
        self.note("opaque-part", f"holds {', '.join(kinds)}: not text, kept as a marker or as JSON")

    def mark(self, first: int, **fields: Any) -> None:
        """Give the spans from `first` on these fields: times, tokens, whatever the log has beside their text."""
        if known := {name: value for name, value in fields.items() if value is not None}:
            self.spans[first:] = [replace(span, **known) for span in self.spans[first:]]

    def count(self, usage: dict[str, int | float] | None, first: int) -> None:
        """What a turn cost, on the first action from `first` on, so that sums count it once."""
        at = next((i for i in range(first, len(self.spans)) if self.spans[i].kind in ACTION_KINDS), None)
        if usage and at is not None:
            self.spans[at] = replace(self.spans[at], usage=usage)

    def begin_turn(self) -> None:
        """The policy is invoked: what it produces until the next call of this method is one turn."""
        self.turn += 1

    def add(self, kind: SpanKind, text: str, message: int | None, agent: str | None = None) -> None:
        """One span of text: a message, or a block of reasoning."""
        if agent is not None and kind != "system":
            self.speakers.add(agent)
        self.spans.append(Span(kind, self.turn, text, message, agent))

    def call(
        self, name: str | None, call_id: str | None, arguments: Arguments, message: int | None, agent: str | None = None
    ) -> None:
        """One tool call of the current turn."""
        spans, turn = self.spans, self.turn
        index = len(spans)
        spans.append(Span("tool_call", turn, "", message, agent, call_id, name, arguments.value, arguments.raw))
        self._open[index] = None
        if turn != self._turn_of_calls:
            self._turn_of_calls, self._first_sibling = turn, index
        self._siblings = None
        if call_id:
            known = self._by_id.get(call_id)
            if not known:
                self._by_id[call_id] = [index]
            elif spans[known[-1]].turn != turn:
                known.append(index)
            else:
                self._twins.setdefault(known[-1], deque()).append(index)
                self.note("duplicate-call-id", f"another call of this turn has the id {call_id!r}: answered in order")
        if arguments.problem is not None:
            code, sentence = arguments.problem
            self.note(code, f"call {name} ({call_id or 'no id'}): {sentence}")
        if name is None:
            self.note("unnamed-call", f"call {call_id or 'without id'} names no tool")

    def result(
        self,
        text: str,
        call_id: str | None,
        name: str | None,
        error: bool | None,
        message: int | None,
        agent: str | None = None,
    ) -> None:
        """One tool result; it answers the latest open call of its id, else by tool name, else by position."""
        index = len(self.spans)
        call = self._call_of(call_id) if call_id else None
        rule = None
        if call is None:
            call, rule = self._guess(call_id, name)
        if call is None:
            self._early[index] = call_id or ""
        else:
            del self._open[call]
            name = name if name is not None else self.spans[call].name
        self.spans.append(Span("tool_result", self.turn, text, message, agent, call_id, name, None, None, call, error))
        if rule is not None:
            why = f"no call has the id {call_id!r} open" if call_id else "the result has no call id"
            self.note(rule, f"{why}: it is taken for that of {name or 'the call'} {RULES[rule]}")

    def answer(self, call: int, text: str, error: bool | None, message: int | None, agent: str | None = None) -> None:
        """The result of a call whose span is known from elsewhere than its id; a second one belongs to no call."""
        asked, index = self.spans[call], len(self.spans)
        known = self._open.pop(call, 0) is None
        if not known:
            self._early[index] = ""
        result_of = call if known else None
        self.spans.append(
            Span(
                "tool_result", self.turn, text, message, agent, asked.call_id, asked.name, None, None, result_of, error
            )
        )

    def finish(self) -> None:
        """Settle results that were logged before their calls, and say what stayed open."""
        answers = self._late_calls() if self._early else {}
        rewritten = self._rewritten(answers) if len(answers) < len(self._early) else {}
        for result in self._early:
            if result not in answers and result not in rewritten:
                self.note("orphan-result", "no call in the log belongs to this result", result)
        for call in self._open:
            self.note("unanswered-call", f"call {self.spans[call].name} has no result in the log", call)
        for span in self.spans:
            if span.kind in ACTION_KINDS:
                break
        else:
            self.notes.append(Note("no-action", "no action in the log: nothing can get credit"))
        if answers:
            self._reorder(answers)

    def _call_of(self, call_id: str) -> int | None:
        """The open call of an id: the first of the latest turn that has one."""
        calls = self._by_id.get(call_id)
        while calls:
            call = calls.pop()
            if call in self._twins:
                twins = self._twins.pop(call)
                calls.append(twins.popleft())
                if twins:
                    self._twins[calls[-1]] = twins
            if call in self._open:
                return call
        return None

    def _guess(self, call_id: str | None, name: str | None) -> tuple[int | None, str | None]:
        """The open call that a result answers though their ids do not say so, and by which rule."""
        if self._siblings is None:
            self._siblings = self._calls_by_tool()
        call, rule = self._first_open(self._siblings.get(name)), "paired-by-name"
        if call is None or name is None:
            call, rule = self._first_open(self._siblings[None]), "paired-by-position"
        if call is None and len(self._open) == 1:
            call = next(iter(self._open))
        if call is None or (call_id and self.spans[call].call_id):  # two ids that differ are no pair
            return None, None
        return call, rule

    def _calls_by_tool(self) -> dict[str | None, deque[int]]:
        """The calls of the last turn that has any, by tool; under null all of them."""
        calls: dict[str | None, deque[int]] = {None: deque()}
        for index in range(self._first_sibling, len(self.spans)):
            span = self.spans[index]
            if span.kind == "tool_call":
                calls[None].append(index)
                if span.name is not None:
                    calls.setdefault(span.name, deque()).append(index)
        return calls

    def _first_open(self, queue: deque[int] | None) -> int | None:
        while queue and queue[0] not in self._open:
            queue.popleft()
        return queue[0] if queue else None

    def _late_calls(self) -> dict[int, int]:
        """Result -> call, for results that were logged before the call of their id."""
        answers: dict[int, int] = {}
        open_calls = {call_id: iter(self._open_calls(call_id)) for call_id in set(self._early.values())}
        for result, call_id in self._early.items():
            call = next(open_calls[call_id], None)
            if call is not None:
                answers[result] = call
                del self._open[call]
                self.note("result-before-call", f"logged before its call {call_id!r}: moved behind it", result)
        return answers

    def _rewritten(self, late: dict[int, int]) -> dict[int, int]:
        """Result -> call where something rewrote ids on the way: what no id ties goes by tool, in order.

        Only where all results of a tool that were left over after a turn have a call of that turn that is left over
        too: else nobody knows which one it is that has no partner.
        """
        turns: dict[tuple[int, str | None], list[int]] = {}
        for result in self._early:
            if result not in late and self.spans[result].call_id not in self._by_id:
                turns.setdefault((self.spans[result].turn, self.spans[result].name), []).append(result)
        calls: dict[tuple[int, str | None], list[int]] = {}
        for call in self._open:
            calls.setdefault((self.spans[call].turn, self.spans[call].name), []).append(call)
        found: dict[int, int] = {}
        for place, results in turns.items():
            left = calls.get(place, [])
            if place[1] is not None and len(left) == len(results) and left[-1] < results[0]:
                found.update(zip(results, left, strict=True))
        for result, call in found.items():
            span = self.spans[result]
            self.spans[result] = replace(span, result_of=call)
            del self._open[call]
            why = f"no call has the id {span.call_id!r}, and the call of {span.name} no other result"
            self.note("paired-by-rewritten-id", f"{why}: taken for its own", result)
        return found

    def _open_calls(self, call_id: str) -> list[int]:
        calls = chain.from_iterable((call, *self._twins.get(call, ())) for call in self._by_id.get(call_id, ()))
        return [call for call in calls if call in self._open]

    def _reorder(self, answers: dict[int, int]) -> None:
        """Move results behind the turn of their calls; every index follows."""
        ends = {span.turn: index for index, span in enumerate(self.spans) if span.kind in ACTION_KINDS}
        behind: dict[int, list[int]] = {}
        for result, call in answers.items():
            behind.setdefault(ends[self.spans[call].turn], []).append(result)
        order: list[int] = []
        for index in range(len(self.spans)):
            if index not in answers:
                order += (index, *behind.get(index, ()))
        self.moved = place = {old: new for new, old in enumerate(order)}
        self.notes = [n if n.span is None else replace(n, span=place[n.span]) for n in self.notes]
        self.spans = [self._moved(old, answers.get(old), place) for old in order]

    def _moved(self, old: int, late_call: int | None, place: dict[int, int]) -> Span:
        span = self.spans[old]
        if late_call is not None:
            call = self.spans[late_call]
            return replace(span, turn=call.turn, name=span.name or call.name, result_of=place[late_call])
        return span if span.result_of is None else replace(span, result_of=place[span.result_of])
