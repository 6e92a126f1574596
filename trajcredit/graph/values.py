"""The values of many transcripts, in one pass of the kernels: value edges, resources, and the tokens behind them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from trajcredit.arrays import BOOL, I32, I64, U8, offsets_of
from trajcredit.graph.calls import Resource
from trajcredit.graph.text import TextBuffer, collect, is_withheld
from trajcredit.kernels import carriers, forms, match, resources, scan, walk, words
from trajcredit.model import Trajectory, body

__all__ = ["RULE_NAMES", "Values", "find_values"]

RULE_NAMES = ("value", "echo", "neighbour", "whole_result", "field_sum", "minted_id", "shown_again")
"""evidence.RULES of the rule numbers that kernels.match writes."""
ROLES = {
    "system": carriers.SYSTEM,
    "user": carriers.USER,
    "tool_result": carriers.RESULT,
    "tool_call": carriers.CALLS,
    "assistant": carriers.SAYS,
    "reasoning": carriers.REASONS,
    "meta": carriers.SYSTEM,
}
ACTIONS = (carriers.CALLS, carriers.SAYS, carriers.REASONS)


@dataclass(frozen=True, slots=True)
class Picked:
    """Some tokens of every text, in order: found for all texts at once, looked up text by text."""

    tokens: list[int]
    bounds: list[int]

    def of(self, text: int) -> list[int]:
        """Those of one text."""
        return self.tokens[self.bounds[text] : self.bounds[text + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What the kernels found in S spans of T trajectories.

    span_offsets    i64[T+1]  spans of trajectory t; every other span number here counts through all T
    edges           i32[E, 7] match.CHILD, PARENT, RULE, WORTH (in hundredths), MATCH_LO, MATCH_HI, SINCE; by child
    edge_offsets    i64[S+1]  edges into span i
    matches         i32[M, 2] child token, parent token
    ignored         i64[T]    uses of values that are too common to prove anything
    resource_offsets i64[S+1]; named i32[R, 3]  token, resources.MENTIONED and so on, file
    tokens          i32[K, 7] scan's columns; token_offsets i64[texts+1]; text_of i64[S]: the text of each span
    """

    span_offsets: I64
    edges: I32
    edge_offsets: I64
    matches: I32
    ignored: I64
    resource_offsets: I64
    named: I32
    tokens: I32
    token_offsets: I64
    text_of: I64
    texts: TextBuffer
    withheld: list[bool]
    """Spans whose whole body is withheld."""
    form_of: list[int]
    """Normal form of every token."""
    path_tokens: Picked
    """Whole paths; no JSON keys."""
    file_tokens: Picked
    """Paths and their ends; no JSON keys."""
    date_tokens: Picked
    """Dates; no JSON keys."""
    forms: I32
    """i32[K] the same."""
    keyless: BOOL
    """bool[K] tokens that are no JSON keys."""
    marks: BOOL
    """bool[forms + 1]: scratch, false between calls; -1 is the last."""

    def ranges(self, matches: I64) -> I64:
        """Matches i64[M, 4] (child span, child token, parent span, parent token) as character ranges of the bodies."""
        out = np.empty_like(matches)
        for span, token, at in ((0, 1, 0), (2, 3, 2)):
            text = self.text_of[matches[:, span]]
            bounds = self.tokens[matches[:, token]][:, [scan.START, scan.END]] - self.texts.offsets[text][:, None]
            for row in np.flatnonzero(np.isin(text, list(self.texts.moved))).tolist():
                bounds[row] = self.texts.moved[int(text[row])][bounds[row]]
            out[:, at : at + 2] = bounds
        return out

    def resources(self) -> dict[int, list[Resource]]:
        """What every span names that names anything."""
        forms_of, tokens, how = self.tokens[self.named[:, 0], scan.FORM], self.named[:, 0], self.named[:, 1]
        wholes, arguments, files = how == resources.WHOLE, how != resources.MENTIONED, self.named[:, 2] != 0
        columns = (forms_of, tokens, wholes, arguments, files)
        found = list(map(Resource, *(column.tolist() for column in columns)))
        bounds = self.resource_offsets.tolist()
        stems = self._stems(tokens)
        naming = np.flatnonzero(np.diff(self.resource_offsets)).tolist()
        return {span: [found[k] for k in range(bounds[span], bounds[span + 1]) if not stems[k]] for span in naming}

    def _stems(self, tokens: I32) -> BOOL:
        """Which tokens are paths without their suffix: what is imported so is found, but App.css is not App.tsx."""
        ends = np.minimum(self.tokens[tokens, scan.END], len(self.texts.data) - 1)
        cut = self.tokens[tokens, scan.FLAGS] & words.PART != 0
        out: BOOL = cut & (self.texts.data[ends] == ord("."))
        return out

    def text_at(self, token: int) -> str:
        """A token as its normal text."""
        start, end = self.tokens[token, scan.START : scan.END + 1].tolist()
        return self.texts.data[start:end].tobytes().decode("utf-8", "replace").replace("\x01", "")

    def places(self, span: int, forms_: Collection[int]) -> dict[int, int]:
        """Of these normal forms those that stand in a span, and the first token of each; no JSON keys."""
        text = self.text_of[span]
        lo, hi = self.token_offsets[text : text + 2].tolist()
        wanted = list(forms_)
        self.marks[wanted] = True
        found = self.marks[self.forms[lo:hi]].nonzero()[0]
        self.marks[wanted] = False
        if not len(found):
            return {}
        at = found[self.keyless[lo:hi][found]][::-1] + lo
        return dict(zip(self.forms[at].tolist(), at.tolist(), strict=True))

    def paths(self, span: int, lines: bool = False) -> list[str]:
        """Paths in a span, whole, as normal text; no JSON keys. `lines`: only in first lines, after any "cd X &&"."""
        tokens = self.path_tokens.of(int(self.text_of[span]))
        if lines:
            tokens = [token for token in tokens if self.tokens[token, scan.FLAGS] & words.COMMAND]
        return list(map(self.text_at, tokens))

    def files(self, span: int) -> set[int]:
        """Normal forms of the paths in a span and of their ends; no JSON keys."""
        return {self.form_of[token] for token in self.file_tokens.of(int(self.text_of[span]))} - {-1}

    def dates(self, span: int) -> list[tuple[int, int]]:
        """Normal form and token of every date in a span; no JSON keys."""
        return [(self.form_of[token], token) for token in self.date_tokens.of(int(self.text_of[span]))]

    def telling_of(self, first: int, span: int, quoted: bool = False) -> frozenset[int]:
        """Normal forms in a span that are more than words of the language, or stand in quotes; no JSON keys."""
        text = int(self.text_of[first + span])
        rows = self.tokens[self.token_offsets[text] : self.token_offsets[text + 1]]
        telling = (rows[:, scan.BITS] > 0) | (quoted & (rows[:, scan.FLAGS] & words.SHOWN != 0))
        telling &= (rows[:, scan.FLAGS] & words.KEY == 0) & (rows[:, scan.FORM] >= 0)
        return frozenset(rows[telling, scan.FORM].tolist())

    def forms_of(self, first: int, span: int) -> list[int]:
        """Normal forms in a span, counted from `first`; no JSON keys."""
        text = int(self.text_of[first + span])
        rows = self.tokens[self.token_offsets[text] : self.token_offsets[text + 1]]
        telling = (rows[:, scan.FLAGS] & words.KEY == 0) & (rows[:, scan.FORM] >= 0)
        forms_: list[int] = rows[telling, scan.FORM].tolist()
        return forms_


def find_values(trajectories: Sequence[Trajectory], failed: BOOL, stores: BOOL) -> Values:
    """Scan every distinct text once, then walk the transcripts.

    failed  bool[S]  results that report a failure
    stores  bool[S]  calls that store what their arguments say
    """
    spans = [span for t in trajectories for span in t.spans]
    span_offsets = offsets_of(len(t.spans) for t in trajectories)
    number: dict[str, int] = {}
    withheld = [is_withheld(span) for span in spans]
    said = ("" if hidden else body(span) for span, hidden in zip(spans, withheld, strict=True))
    text_of = np.array([number.setdefault(text, len(number)) for text in said], dtype=np.int64)
    declared = np.array([_declarations(t, number) for t in trajectories], dtype=np.int64)
    texts = collect(list(number))
    tokens, token_offsets, table = _scan(texts)
    table_of_spans = _span_matrix(trajectories, text_of, failed, stores, span_offsets)
    edges, matches, ignored = _walk(texts.data, span_offsets, declared, table_of_spans, tokens, token_offsets, table)
    resource_offsets, named = _resources(texts.data, table_of_spans, tokens, token_offsets)
    flags = tokens[:, scan.FLAGS]
    paths, keys = flags & words.PATH != 0, flags & words.KEY != 0
    return Values(
        span_offsets=span_offsets,
        edges=edges,
        edge_offsets=np.searchsorted(edges[:, match.CHILD], np.arange(len(spans) + 1)),
        matches=matches,
        ignored=ignored,
        resource_offsets=resource_offsets,
        named=named,
        tokens=tokens,
        token_offsets=token_offsets,
        text_of=text_of,
        texts=texts,
        withheld=withheld,
        form_of=tokens[:, scan.FORM].tolist(),
        forms=np.ascontiguousarray(tokens[:, scan.FORM]),
        keyless=~keys,
        path_tokens=_picked(paths & ~keys & (flags & words.PART == 0), token_offsets),
        file_tokens=_picked(paths & ~keys, token_offsets),
        date_tokens=_picked((flags & words.DATE != 0) & ~keys, token_offsets),
        marks=np.zeros(len(table[1]) + 1, dtype=bool),
    )


def _picked(chosen: BOOL, token_offsets: I64) -> Picked:
    at = np.flatnonzero(chosen)
    return Picked(at.tolist(), np.searchsorted(at, token_offsets).tolist())


def _declarations(trajectory: Trajectory, number: dict[str, int]) -> int:
    """The text number of a trajectory's tool declarations; -1 where it has none."""
    if not trajectory.tools:
        return -1
    return number.setdefault(msgspec.json.encode(trajectory.tools).decode(), len(number))


def _scan(texts: TextBuffer) -> tuple[I32, I64, tuple[I32, I64, U8]]:
    """Tokens of every text, interned; the table is kept, since a derived number is looked up in it later."""
    token_offsets = np.zeros(len(texts.offsets), dtype=np.int64)
    tokens, n_tokens = _table(scan.COLUMNS, 0), (len(texts.data) + len(texts.offsets)) // 2
    while n_tokens > len(tokens):
        tokens = _table(scan.COLUMNS, n_tokens)
        n_tokens = scan.scan(texts.data, texts.offsets, tokens, token_offsets)
    tokens = tokens[:n_tokens]
    most = 1024 + n_tokens // 16
    while True:
        slots = np.zeros(1 << (2 * most).bit_length(), dtype=np.int32)
        table = np.zeros((most, 3), dtype=np.int64)
        arena = np.empty(4 * len(texts.data) + most, dtype=np.uint8)
        n_forms = forms.intern(texts.data, tokens, n_tokens, slots, table, arena)
        if n_forms >= 0:
            return tokens, token_offsets, (slots, table[:n_forms], arena)
        most *= 4


def _table(columns: int, rows: int) -> I32:
    return np.empty((rows, columns), dtype=np.int32)


def _span_matrix(
    trajectories: Sequence[Trajectory], text_of: I64, failed: BOOL, stores: BOOL, span_offsets: I64
) -> I32:
    """The span columns the kernels read (carriers.ROLE and so on)."""
    spans = [span for t in trajectories for span in t.spans]
    first = np.repeat(span_offsets[:-1], np.diff(span_offsets))
    call = np.array([-1 if span.result_of is None else span.result_of for span in spans], dtype=np.int64)
    answers = call >= 0
    call[answers] += first[answers]
    tools: dict[str | None, int] = {}
    tool = np.array([tools.setdefault(span.name, len(tools)) for span in spans], dtype=np.int64)
    tool[answers] = tool[call[answers]]
    role = np.array([ROLES[span.kind] for span in spans], dtype=np.int64)
    asked = np.concatenate([[0], np.cumsum(role == carriers.USER)])
    at = np.arange(len(spans))
    relays = np.array([span.kind == "meta" for span in spans], dtype=bool)
    acted = np.concatenate([[0], np.cumsum(np.isin(role, ACTIONS))])
    relays &= acted[at] > acted[first]  # before anything was done there is nothing to sum up
    role[relays] = carriers.RELAYS
    latest = np.maximum.accumulate(np.concatenate([[-1], np.where(relays, at, -1)]))[:-1] if len(spans) else at
    matrix = np.empty((len(spans), carriers.N_SPAN_COLUMNS), dtype=np.int32)
    matrix[:, carriers.ROLE] = role
    matrix[:, carriers.TEXT] = text_of
    matrix[:, carriers.TURN] = [span.turn for span in spans]
    matrix[:, carriers.FAILED] = failed
    matrix[:, carriers.CALL] = call
    matrix[:, carriers.WRITES] = stores
    matrix[:, carriers.TOOL] = tool
    matrix[:, carriers.ROUND] = asked[1:] - asked[first]
    matrix[:, carriers.SINCE] = np.where(latest >= first, latest, -1)
    return matrix


def _walk(
    text: U8, span_offsets: I64, declared: I64, spans: I32, tokens: I32, token_offsets: I64, table: tuple[I32, I64, U8]
) -> tuple[I32, I32, I64]:
    """Value edges ordered by child, their matches, and per trajectory the uses of values too common to count."""
    per_text = np.diff(token_offsets)
    acts = np.isin(spans[:, carriers.ROLE], (*ACTIONS, carriers.RELAYS))
    most_tokens = int(per_text[spans[acts, carriers.TEXT]].max(initial=0))
    ignored = np.zeros(len(span_offsets) - 1, dtype=np.int64)
    edges, matches = _table(match.N_EDGE_COLUMNS, 0), _table(2, 0)
    n_edges, n_matches = 4 * len(spans) + 1024, 16 * len(spans) + 1024
    while n_edges > len(edges) or n_matches > len(matches):
        edges = _table(match.N_EDGE_COLUMNS, max(n_edges, len(edges)))
        matches = _table(2, max(n_matches, len(matches)))
        n_edges, n_matches = walk.walk(
            text, span_offsets, declared, spans, tokens, token_offsets, *table, most_tokens, edges, matches, ignored
        )
    edges = edges[:n_edges]
    return edges[np.argsort(edges[:, match.CHILD], kind="stable")], matches[:n_matches], ignored


def _resources(text: U8, spans: I32, tokens: I32, token_offsets: I64) -> tuple[I64, I32]:
    """Resources of every call: offsets by span, and (token, how, file) rows."""
    offsets = np.zeros(len(spans) + 1, dtype=np.int64)
    found, n = _table(3, 0), 4 * len(spans) + 1024
    while n > len(found):
        found = _table(3, n)
        n = resources.resources(text, spans, tokens, token_offsets, offsets, found)
    return offsets, found[:n]
