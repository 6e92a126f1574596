"""Trajectories -> graphs: every rule in the order of docs/edges.md, one edge a pair, CSR."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain

import numpy as np

from trajcredit.arrays import BOOL, I64, offsets_of
from trajcredit.graph.calls import Call, CallLog, Resource, read_calls
from trajcredit.graph.control import context_edges, control_edges, turn_edges
from trajcredit.graph.days import day_edges
from trajcredit.graph.edges import EdgeList, Reason
from trajcredit.graph.evidence import EDGE_KINDS, RULES
from trajcredit.graph.failures import failed
from trajcredit.graph.folders import folder_edges
from trajcredit.graph.overrides import stated, with_overrides
from trajcredit.graph.retold import outdate_known, outdate_unseen, retold_edges
from trajcredit.graph.spangraph import SpanGraph
from trajcredit.graph.state import Texts, state_edges
from trajcredit.graph.value_edges import found_edges, value_edges
from trajcredit.graph.values import Values, find_values
from trajcredit.model import Note, Trajectory, check

__all__ = ["CHUNK", "build_graphs", "characters", "chunks"]

CHUNK = 4_000_000
"""Characters of text scanned at once: bounds the memory of the token tables."""
_KIND_OF_RULE = np.array([EDGE_KINDS.index(rule.kind) for rule in RULES], dtype=np.uint8)


def build_graphs(trajectories: Sequence[Trajectory], writes: Mapping[str, bool] | None = None) -> list[SpanGraph]:
    """One graph a trajectory, in order.

    `writes`: tool -> whether it changes state, where the project's settings say so. Raises InputError where spans,
    rewards or explicit edges refer to nothing or to the future.
    """
    for trajectory in trajectories:
        check(trajectory)
    with _collector_paused():
        return list(chain.from_iterable(_build(chunk, writes or {}) for chunk in chunks(trajectories)))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Graphs are made of many small lists that live on: looking through them for cycles would cost a fifth more."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def chunks(trajectories: Sequence[Trajectory], most: int = CHUNK) -> Iterator[list[Trajectory]]:
    """Consecutive trajectories of at most so many characters together; a longer one by itself."""
    chunk: list[Trajectory] = []
    size = 0
    for trajectory in trajectories:
        length = characters(trajectory)
        if chunk and size + length > most:
            yield chunk
            chunk, size = [], 0
        chunk.append(trajectory)
        size += length
    if chunk:
        yield chunk


def characters(trajectory: Trajectory) -> int:
    """Of its texts and arguments, which is what building costs."""
    return sum(len(s.text) + len(s.arguments_raw or "") for s in trajectory.spans)


def _build(trajectories: list[Trajectory], writes: Mapping[str, bool]) -> list[SpanGraph]:
    fails = [s.kind == "tool_result" and failed(s) for t in trajectories for s in t.spans]
    offsets = offsets_of(len(t.spans) for t in trajectories).tolist()
    logs = [read_calls(t, first, fails, writes) for t, first in zip(trajectories, offsets, strict=False)]
    values = find_values(trajectories, np.array(fails, dtype=bool), _stores(logs, offsets))
    named, found = values.resources(), found_edges(values)
    built: list[tuple[CallLog, EdgeList]] = []
    for t, (log, first) in enumerate(zip(logs, offsets, strict=False)):
        trajectory = log.trajectory
        for call in log.calls:
            call.names = [name for name in named.get(first + call.span, ()) if not _is_command(call, name, values)]
        edges = EdgeList(len(trajectory.spans))
        _logged_edges(trajectory, edges)
        turn_edges(log, edges)
        told = value_edges(log, first, found[t], values, edges)
        forms_of, telling_of = partial(values.forms_of, first), cache(partial(values.telling_of, first))
        day_edges(log, first, values, edges)
        state_edges(log, edges, Texts(forms_of, telling_of, values.text_at))
        outdate_unseen(log, edges)
        folder_edges(log, first, values, edges)
        outdate_unseen(log, edges)
        outdate_known(edges)
        control_edges(log, edges, forms_of)
        retold_edges(log, first, told, values, edges)
        context_edges(log, edges, forms_of)
        built.append((log, edges))
    return _assemble(built, values, fails)


def _is_command(call: Call, name: Resource, values: Values) -> bool:
    """Whether what a call names is the one word of its command, which says what it does: str_replace."""
    return name.whole and call.word != "" and values.text_at(name.token).lower() == call.word


def _stores(logs: list[CallLog], offsets: list[int]) -> BOOL:
    """bool[S]: calls that store what their arguments say."""
    stores = np.zeros(offsets[-1], dtype=bool)
    for log, first in zip(logs, offsets, strict=False):
        stores[[first + call.span for call in log.calls if call.stores]] = True
    return stores


def _logged_edges(trajectory: Trajectory, edges: EdgeList) -> None:
    """What the log says: results on their calls, explicit edges. Overrides come after every rule.

    An orphan result hangs on the text that it came after (code in a message was run), else on what replaced its call.
    """
    summary = said = None
    for i, span in enumerate(trajectory.spans):
        if span.result_of is not None:
            edges.add(span.result_of, i, "call")
        elif span.kind == "tool_result" and said is not None:
            edges.add(said, i, "output")
        elif span.kind == "tool_result" and summary is not None:
            edges.add(summary, i, "compaction")
        elif span.kind in ("system", "user", "meta"):
            summary, said = i, None
        elif span.kind == "assistant":
            said = i
    for edge in trajectory.edges:
        if edge.kind != "override":
            edges.state(edge.parent, edge.child, edge.kind, edge.weight, detail=edge.evidence or "")


def _assemble(built: list[tuple[CallLog, EdgeList]], values: Values, fails: list[bool]) -> list[SpanGraph]:
    """All edges of the chunk as arrays, then one view of them a trajectory."""
    parents: list[int] = []
    reasons: list[Reason] = []
    tokens: list[int] = []
    details: list[dict[int, str]] = []
    sizes: list[int] = []
    for _, edges in built:
        start = len(parents)
        told: dict[int, str] = {}
        sizes += map(len, edges.into)
        for into in edges.into:
            for parent in sorted(into) if len(into) > 1 else into:
                reason = into[parent]
                if reason.detail:
                    told[len(parents) - start] = reason.detail
                if reason.matches:
                    tokens += reason.matches
                parents.append(parent)
                reasons.append(reason)
        details.append(told)
    edge_offsets = offsets_of(sizes)
    ends = edge_offsets[values.span_offsets].tolist()
    rule_column = np.array([reason.rule for reason in reasons], dtype=np.uint8)
    weight_column = np.array([reason.weight for reason in reasons], dtype=np.float64)
    kind_column, parent_column = _KIND_OF_RULE[rule_column], np.array(parents, dtype=np.int64)
    found = np.array([len(reason.matches) // 2 for reason in reasons], dtype=np.int64)
    match_offsets = offsets_of(found)
    ranges = values.ranges(_matches(values, edge_offsets, parent_column, found, tokens))
    is_write, basis, is_error = _effects((log for log, _ in built), fails)
    graphs = []
    for t, (log, _) in enumerate(built):
        a, b = ends[t], ends[t + 1]
        first, last = int(values.span_offsets[t]), int(values.span_offsets[t + 1])
        m = match_offsets[a : b + 1]
        graphs.append(
            SpanGraph(
                trajectory=log.trajectory,
                parent_offsets=edge_offsets[first : last + 1] - a,
                parents=parent_column[a:b],
                weight=weight_column[a:b],
                kind=kind_column[a:b],
                rule=rule_column[a:b],
                match_offsets=m - m[0],
                matches=ranges[m[0] : m[-1]],
                details=details[t],
                is_write=is_write[first:last],
                write_basis=tuple(basis[first:last]),
                is_error=is_error[first:last],
                notes=_notes(int(values.ignored[t]), sum(values.withheld[first:last])),
            )
        )
    return [with_overrides(graph, stated(graph.trajectory.edges)) for graph in graphs]


def _matches(values: Values, edge_offsets: I64, parents: I64, found: I64, tokens: list[int]) -> I64:
    """i64[M, 4]: child span, child token, parent span, parent token; `found[e]` of them at edge e, in order."""
    child = np.repeat(np.arange(len(edge_offsets) - 1), np.diff(edge_offsets))
    first = np.repeat(values.span_offsets[:-1], np.diff(values.span_offsets))
    pairs = np.array(tokens, dtype=np.int64).reshape(-1, 2)
    ends = np.stack([child, parents + first[child]], axis=1).repeat(found, axis=0)
    return np.stack([ends[:, 0], pairs[:, 0], ends[:, 1], pairs[:, 1]], axis=1)


def _notes(ignored: int, withheld: int) -> tuple[Note, ...]:
    found = []
    if ignored:
        uses = "1 use" if ignored == 1 else f"{ignored:,} uses"
        text = f"{uses} of values that most observations hold: too common to prove anything"
        found.append(Note("common-values", text))
    if withheld:
        spans = "1 span is" if withheld == 1 else f"{withheld:,} spans are"
        found.append(Note("withheld", f"{spans} withheld in the log: nothing was looked for there"))
    return tuple(found)


def _effects(logs: Iterable[CallLog], fails: list[bool]) -> tuple[BOOL, list[str], BOOL]:
    """Which calls change state and what told so; which results failed, with the calls they answer."""
    is_write, is_error, basis = [False] * len(fails), fails.copy(), [""] * len(fails)
    first = 0
    for log in logs:
        for call in log.calls:
            at = first + call.span
            is_write[at] = call.act.does in ("effect", "setter")
            is_error[at] = call.failed
            basis[at] = call.act.basis
        first += len(log.trajectory.spans)
    return np.array(is_write, dtype=bool), basis, np.array(is_error, dtype=bool)
