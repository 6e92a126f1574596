"""Columns of many trajectories <-> one block of raw little-endian arrays each, without a loop over trajectories.

A block of n spans and m edges, every piece starting at a multiple of 8 bytes:

    eight arrays of n words   turn, result_of, tool, n_tokens (i64), values (f64), call_key, state_key (u64),
                              number of parents (i64)
    two arrays of m words     parents (i64), parent_weight (f64)
    three arrays of n bytes   kind, is_write, is_error; then m bytes parent_kind; then zeros up to the next word

Positions (result_of, parents) and tools count from the trajectory's own first span and first tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from trajcredit.arrays import I64
from trajcredit.batching import Columns
from trajcredit.errors import StoreError

__all__ = ["Tools", "packed_columns", "tools_from", "tools_of", "unpacked_columns"]

SPAN_WORDS = ("turn", "result_of", "tool", "n_tokens", "values", "call_key", "state_key", "degree")
EDGE_WORDS = ("parents", "parent_weight")
SPAN_BYTES = ("kind", "is_write", "is_error")
EDGE_BYTES = ("parent_kind",)
PIECE = 1 << 16
"""Words unpacked at a time: what fits a cache; whole, a million spans cost more in fresh memory than in reading."""

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Fetch: TypeAlias = Callable[[int], Sequence[Sequence[Any]]]
"""A number of rows -> so many of them, each with tools as JSON and a block."""

_DTYPES = {"values": np.float64, "parent_weight": np.float64, "call_key": np.uint64, "state_key": np.uint64}
_BOOL = {"is_write": np.bool_, "is_error": np.bool_}


class Tools(msgspec.Struct, frozen=True, gc=False):
    """The tools of one trajectory: names that its codes count through, and the set it could or did use."""

    names: tuple[str, ...]
    offered: tuple[str, ...]
    declared: bool


tools_from = msgspec.json.Decoder(Tools).decode
"""What is kept of them as JSON -> the tools of a trajectory."""


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """Lengths and places of T trajectories: n[t] spans, m[t] edges, a block of sizes[t] words."""

    n: I64
    m: I64
    sizes: I64

    @classmethod
    def of(cls, n: I64, m: I64) -> _Shape:
        """The size follows from the layout."""
        size = len(SPAN_WORDS) * n + len(EDGE_WORDS) * m + (len(SPAN_BYTES) * n + len(EDGE_BYTES) * m + 7) // 8
        return cls(n, m, size)

    def __getitem__(self, some: slice) -> _Shape:
        return _Shape(self.n[some], self.m[some], self.sizes[some])

    def words(self) -> Iterator[tuple[str, I64]]:
        """Name and positions of every column of words in blocks that follow each other."""
        starts = np.cumsum(self.sizes) - self.sizes
        yield from zip(SPAN_WORDS, _columns(starts, self.n, len(SPAN_WORDS)), strict=True)
        yield from zip(EDGE_WORDS, _columns(starts + len(SPAN_WORDS) * self.n, self.m, len(EDGE_WORDS)), strict=True)

    def bytes(self) -> Iterator[tuple[str, I64]]:
        """The same of the columns of bytes."""
        starts = np.cumsum(self.sizes) - self.sizes
        starts = 8 * (starts + len(SPAN_WORDS) * self.n + len(EDGE_WORDS) * self.m)
        yield from zip(SPAN_BYTES, _columns(starts, self.n, len(SPAN_BYTES)), strict=True)
        yield from zip(EDGE_BYTES, _columns(starts + len(SPAN_BYTES) * self.n, self.m, len(EDGE_BYTES)), strict=True)


def packed_columns(columns: Columns) -> list[bytes]:
    """One block a trajectory. `unpacked_columns` gives equal columns back."""
    shape = _Shape.of(np.diff(columns.span_offsets), np.diff(columns.parent_offsets[columns.span_offsets]))
    first = columns.span_offsets[:-1]
    own_tool, _ = _own_tools(columns)
    own = {
        "tool": own_tool,
        "result_of": np.where(columns.result_of < 0, -1, columns.result_of - np.repeat(first, shape.n)),
        "degree": np.diff(columns.parent_offsets),
        "parents": columns.parents - np.repeat(first, shape.m),
    }
    words = np.zeros(int(shape.sizes.sum()), dtype="<u8")
    for name, at in shape.words():
        column = own[name] if name in own else getattr(columns, name)
        words[at] = column.view(words.dtype)
    block = words.view(np.uint8)
    for name, at in shape.bytes():
        block[at] = getattr(columns, name).view(np.uint8)
    data, ends = words.tobytes(), [0, *(8 * np.cumsum(shape.sizes)).tolist()]
    return [data[start:end] for start, end in pairwise(ends)]


def tools_of(columns: Columns) -> list[Tools]:
    """The tools of each trajectory, its names in the order that its codes count."""
    _, used = _own_tools(columns)
    return [
        Tools(tuple(columns.tool_names[code] for code in codes), tuple(sorted(offered)), declared)
        for codes, offered, declared in zip(used, columns.tool_sets, columns.declared.tolist(), strict=True)
    ]


def unpacked_columns(n: I64, m: I64, fetch: Fetch) -> Columns:
    """The columns of T trajectories of n[t] spans and m[t] edges; `fetch` gives the next so many rows."""
    shape = _Shape.of(n, m)
    arrays = _empty(int(n.sum()), int(m.sum()))
    kinds: dict[str, int] = {}
    which: list[int] = []
    span = edge = 0
    for start, stop in _pieces(shape.sizes):
        some = fetch(stop - start)
        piece = shape[start:stop]
        words = _joined([row[1] for row in some], piece.sizes)
        which += [kinds.setdefault(row[0], len(kinds)) for row in some]
        spans, edges = slice(span, span + int(piece.n.sum())), slice(edge, edge + int(piece.m.sum()))
        for source, places in ((words, piece.words()), (words.view(np.uint8), piece.bytes())):
            for name, at in places:
                own = arrays[name][edges if name.startswith("parent") else spans]
                np.take(source, at, out=own.view(source.dtype), mode="clip")  # all are inside; clip saves a copy
        span, edge = spans.stop, edges.stop
    return _shared(arrays, n, m, [tools_from(text) for text in kinds], np.array(which, dtype=np.int64))


def _shared(arrays: Arrays, n: I64, m: I64, kinds: Sequence[Tools], which: I64) -> Columns:
    """Positions and tools as the whole batch counts them, instead of each trajectory for itself."""
    offsets = _ends(n)
    arrays["parents"] += np.repeat(offsets[:-1], m)
    answers = arrays["result_of"]
    answers += np.where(answers < 0, 0, np.repeat(offsets[:-1], n))
    arrays["tool"], tool_names = _shared_tools(arrays["tool"], np.repeat(which, n), kinds)
    sets = [frozenset(own.offered) for own in kinds]
    return Columns(
        span_offsets=offsets,
        parent_offsets=_ends(arrays.pop("degree")),
        tool_names=tool_names,
        tool_sets=tuple(sets[kind] for kind in which.tolist()),
        declared=np.array([own.declared for own in kinds], dtype=bool)[which],
        **arrays,
    )


def _columns(starts: I64, lengths: I64, count: int) -> Iterator[I64]:
    """Positions of `count` columns that follow each other from starts[t] on, lengths[t] long, over all t."""
    step = np.repeat(lengths, lengths)
    at = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(step))
    for column in range(count):
        if column:
            at += step
        yield at


def _pieces(sizes: I64) -> Iterator[tuple[int, int]]:
    """Consecutive trajectories of about PIECE words together, at least one."""
    ends, start = np.cumsum(sizes), 0
    while start < len(sizes):
        reached = ends[start] - sizes[start] + PIECE
        stop = max(start + 1, int(np.searchsorted(ends, reached, side="right")))
        yield start, stop
        start = stop


def _joined(blocks: Sequence[bytes], sizes: I64) -> npt.NDArray[np.uint64]:
    found = np.fromiter(map(len, blocks), np.int64, len(blocks))
    if len(found) != len(sizes) or (found != 8 * sizes).any():
        raise StoreError("a packed row is missing or not as long as its spans and edges make it: run db check")
    return np.frombuffer(b"".join(blocks), dtype="<u8").astype(np.uint64, copy=False)


def _empty(n: int, m: int) -> Arrays:
    words = {name: np.empty(n, dtype=_DTYPES.get(name, np.int64)) for name in SPAN_WORDS}
    edge_words = {name: np.empty(m, dtype=_DTYPES.get(name, np.int64)) for name in EDGE_WORDS}
    small = {name: np.empty(n, dtype=_BOOL.get(name, np.uint8)) for name in SPAN_BYTES}
    return words | edge_words | small | {name: np.empty(m, dtype=np.uint8) for name in EDGE_BYTES}


def _ends(lengths: I64) -> I64:
    """Offsets of pieces whose lengths are an array already."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _own_tools(columns: Columns) -> tuple[I64, list[list[int]]]:
    """Tools as each trajectory counts them, in order of first use; and which tools of the batch those are."""
    offsets, tool = columns.span_offsets.tolist(), columns.tool.tolist()
    own: list[int] = []
    used: list[list[int]] = []
    for first, last in pairwise(offsets):
        number: dict[int, int] = {}
        own += [-1 if code < 0 else number.setdefault(code, len(number)) for code in tool[first:last]]
        used.append(list(number))
    return np.array(own, dtype=np.int64), used


def _shared_tools(tool: I64, kind: I64, kinds: Sequence[Tools]) -> tuple[I64, tuple[str, ...]]:
    """Tools as the whole batch counts them, in order of first use, and their names; `kind`: whose codes a span has."""
    number: dict[str, int] = {}
    table = [number.setdefault(name, len(number)) for own in kinds for name in own.names]
    starts = _ends(np.array([len(own.names) for own in kinds], dtype=np.int64))
    codes = np.array([*table, -1], dtype=np.int64)  # the last is what the places of spans without a tool say
    return codes[np.where(tool < 0, -1, tool + starts[kind])], tuple(number)
