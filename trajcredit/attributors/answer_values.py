"""The values of the known answer of a task, and which call's result first showed each of them.

Tokens, normal forms and bits are the graph's (`graph.values`): what it takes for one value is one here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec
import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.graph.values import Values, find_values
from trajcredit.kernels import scan, words
from trajcredit.model import Span, Trajectory

__all__ = ["Answers", "Finds", "finds_of"]

Answers: TypeAlias = Literal["logged", "siblings"]
CHUNK = 4_000_000
"""Characters looked through at once, whole groups at a time: bounds the memory of the token tables."""


@dataclass(frozen=True, slots=True, eq=False)
class Finds:
    """V values of the answers of some trajectories.

    trajectory  i64[V]  position in the batch
    finder      i64[V]  the call (a batch position) whose result first showed the value; -1 where none did
    share       f64[V]  its part of what there is to find of the answer; a trajectory's add up to 1
    text        V       the value as written
    known       the trajectories that have an answer with something to find
    weak        those whose answer is of small numbers and common words alone
    given       those whose answer stands in the request
    """

    trajectory: I64
    finder: I64
    share: F64
    text: tuple[str, ...]
    known: frozenset[int]
    weak: frozenset[int]
    given: frozenset[int]


@dataclass(slots=True)
class _Found:
    """Finds on their way."""

    trajectory: list[int] = field(default_factory=list)
    finder: list[int] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    weak: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)

    def add(self, batch: Batch, t: int, table: _Table, k: int, wanted: dict[int, float]) -> None:
        """The values of one answer (form -> weight), of the k-th trajectory of a table."""
        tellers = {form: table.teller(k, form) for form in wanted}
        sought = {form: weight for form, weight in wanted.items() if tellers[form] >= table.asked[k]}
        total = sum(sought.values())
        if not total:
            if wanted:
                self.given.add(t)
            return
        for form, weight in sought.items():
            call = table.call_of[tellers[form]] if tellers[form] < table.ends[k] else -1
            self.trajectory.append(t)
            self.finder.append(-1 if call < 0 else int(batch.span_offsets[t]) + call)
            self.share.append(weight / total)
            self.text.append(table.text(form))


def finds_of(batch: Batch, members: I64, answers: Answers) -> Finds:
    """Who first showed the values of the answers of `members` (whole groups, ascending).

    `logged`: the answer of the trajectory, else the one that the members of its group which have one agree on.
    `siblings`: what the best of its siblings, where outcomes of the group differ, wrote last and in the calls that
    changed something: a value counts as far as these agree on it. The trajectory itself is left out.

    Raises InputError where the batch has no transcripts.
    """
    if batch.graphs is None:
        raise InputError(
            "clues reads texts, and this batch was loaded from packed rows without them: "
            "score the logs themselves (`trajcredit score`)"
        )
    found = _Found()
    for some in _chunks(batch, batch.graphs, members):
        graphs = [batch.graphs[t] for t in some]
        if answers == "logged":
            told = _logged(batch, some, [graph.trajectory for graph in graphs])
            table = _tabled(graphs, told)
            for k, t in enumerate(some):
                wanted, weak = table.values_of(table.ends[k]) if told[k] is not None else ({}, False)
                found.add(batch, t, table, k, wanted)
                if weak:
                    found.weak.add(t)
        else:
            table = _tabled(graphs, [None] * len(graphs))
            for t, k, wanted in _of_siblings(batch, some, table):
                found.add(batch, t, table, k, wanted)
    return Finds(
        trajectory=np.array(found.trajectory, dtype=np.int64),
        finder=np.array(found.finder, dtype=np.int64),
        share=np.array(found.share, dtype=np.float64),
        text=tuple(found.text),
        known=frozenset(found.trajectory),
        weak=frozenset(found.weak & set(found.trajectory)),
        given=frozenset(found.given),
    )


def _chunks(batch: Batch, graphs: Sequence[SpanGraph], members: I64) -> Iterator[list[int]]:
    """The members in pieces of whole groups."""
    chunk: list[int] = []
    size = 0
    order = members[np.argsort(batch.group[members], kind="stable")]
    for some in np.split(order, np.flatnonzero(np.diff(batch.group[order])) + 1):
        spans = (span for t in some.tolist() for span in graphs[t].trajectory.spans)
        length = sum(len(span.text) + len(span.arguments_raw or "") for span in spans)
        if chunk and size + length > CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk += some.tolist()
        size += length
    if chunk:
        yield chunk


def _logged(batch: Batch, some: Sequence[int], trajectories: Sequence[Trajectory]) -> list[str | None]:
    """The answer of each trajectory: its own, else that of its group where those that have one agree."""
    own = [t.answer if t.answer is not None and t.answer.strip() else None for t in trajectories]
    agreed: dict[int, set[str]] = {}
    for t, answer in zip(some, own, strict=True):
        if answer is not None:
            agreed.setdefault(int(batch.group[t]), set()).add(answer)
    one = {group: next(iter(said)) for group, said in agreed.items() if len(said) == 1}
    return [own[k] if own[k] is not None else one.get(int(batch.group[t])) for k, t in enumerate(some)]


def _of_siblings(batch: Batch, some: Sequence[int], table: _Table) -> Iterator[tuple[int, int, dict[int, float]]]:
    """Trajectory, its place in the table, and form -> bits times the share of the best siblings that wrote it last."""
    chosen = decisions(batch)
    effects = batch.is_write & ~batch.is_error & batch.action_mask
    wrote: list[dict[int, float]] = []
    for k, t in enumerate(some):
        start, end = batch.span_offsets[t : t + 2].tolist()
        last = np.flatnonzero(chosen[start:end])[-1:]
        spans = np.union1d(np.flatnonzero(effects[start:end]), last)
        told = [table.values_of(table.starts[k] + int(i)) for i in spans]
        wrote.append({form: bits for values, weak in told if not weak for form, bits in values.items()})
    group = batch.group[some]
    for g in np.unique(group).tolist():
        rows = np.flatnonzero(group == g)
        outcome = batch.outcome[np.array(some)[rows]]
        scored = ~np.isnan(outcome)
        if not scored.any() or np.nanmin(outcome) == np.nanmax(outcome):
            continue
        best = rows[scored & (outcome == np.nanmax(outcome))].tolist()
        for k in rows.tolist():
            others = [b for b in best if b != k]
            wanted: dict[int, float] = {}
            for other in others:
                for form, bits in wrote[other].items():
                    wanted[form] = wanted.get(form, 0.0) + bits / len(others)
            yield some[k], k, wanted


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The tokens of some trajectories, span numbers counting through all of them.

    starts, ends  the first span of each, and where its own spans end (an appended answer stands there)
    asked         the first span after the request: after what was said before the first action
    call_of       of a result that did not fail, its call, counted in its trajectory; -1 of other spans
    keys          i64[F]  trajectory times `width` plus form, ascending, of all forms that a span of it holds
    first         i64[F]  the first span that does; failed results hold nothing
    token_of      i64[width]  a token of each form
    """

    values: Values
    starts: list[int]
    ends: list[int]
    asked: list[int]
    call_of: list[int]
    keys: I64
    first: I64
    token_of: I64

    def teller(self, k: int, form: int) -> int:
        """The first span of the k-th trajectory that holds a form; where none does, the end."""
        key = k * len(self.token_of) + form
        at = int(self.keys.searchsorted(key))
        return int(self.first[at]) if at < len(self.keys) and self.keys[at] == key else self.ends[k]

    def text(self, form: int) -> str:
        """A form as it is written somewhere."""
        return self.values.text_at(int(self.token_of[form]))

    def values_of(self, span: int) -> tuple[dict[int, float], bool]:
        """Form -> bits of the values of a span; whether there are none with bits, so that all its tokens count alike.

        Pieces of compounds and JSON keys are no values of their own.
        """
        text = int(self.values.text_of[span])
        rows = self.values.tokens[self.values.token_offsets[text] : self.values.token_offsets[text + 1]]
        rows = rows[(rows[:, scan.FORM] >= 0) & (rows[:, scan.FLAGS] & (words.KEY | words.PART) == 0)]
        forms, bits = rows[:, scan.FORM].tolist(), (rows[:, scan.BITS] / 100).tolist()
        worth = {form: bit for form, bit in zip(forms, bits, strict=True) if bit > 0}
        return (worth, False) if worth else (dict.fromkeys(forms, 1.0), True)


def _tabled(graphs: Sequence[SpanGraph], told: Sequence[str | None]) -> _Table:
    """Look through trajectories, each with its answer behind its last span where it has one."""
    runs = [_with(graph.trajectory, answer) for graph, answer in zip(graphs, told, strict=True)]
    n = sum(len(run.spans) for run in runs)
    nothing: BOOL = np.zeros(n, dtype=bool)
    values = find_values(runs, nothing, nothing)
    starts = values.span_offsets[:-1].tolist()
    ends = [start + len(graph.trajectory.spans) for start, graph in zip(starts, graphs, strict=True)]
    call_of, holds = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool)
    asked = []
    for start, end, graph in zip(starts, ends, graphs, strict=True):
        spans = graph.trajectory.spans
        acts = [i for i, span in enumerate(spans) if span.kind in ("assistant", "reasoning", "tool_call")]
        asked.append(start + (acts[0] if acts else len(spans)))
        failed = np.array([span.kind == "tool_result" for span in spans], dtype=bool) & graph.is_error
        holds[start:end] = ~failed
        call_of[start:end] = [-1 if span.result_of is None else span.result_of for span in spans]
    owner = np.repeat(np.arange(len(runs)), np.diff(values.span_offsets))
    span, token = _rows(values, np.flatnonzero(holds))
    forms = values.tokens[token, scan.FORM]
    told_there = (forms >= 0) & (values.tokens[token, scan.FLAGS] & words.KEY == 0)
    span, forms = span[told_there], forms[told_there].astype(np.int64)
    token_of = np.zeros(int(values.tokens[:, scan.FORM].max(initial=0)) + 1, dtype=np.int64)
    known = np.flatnonzero(values.tokens[:, scan.FORM] >= 0)
    token_of[values.tokens[known, scan.FORM]] = known
    keys, at = np.unique(owner[span] * len(token_of) + forms, return_index=True)
    return _Table(values, starts, ends, asked, call_of.tolist(), keys, span[at], token_of)


def _with(run: Trajectory, answer: str | None) -> Trajectory:
    if answer is None:
        return run
    turn = max((span.turn for span in run.spans), default=0)
    return msgspec.structs.replace(run, spans=[*run.spans, Span(kind="assistant", turn=max(turn, 0), text=answer)])


def _rows(values: Values, spans: I64) -> tuple[I64, I64]:
    """Span and token, one row a token of the spans, in their order."""
    text = values.text_of[spans]
    counts = values.token_offsets[text + 1] - values.token_offsets[text]
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(spans, counts), np.repeat(values.token_offsets[text], counts) + within
