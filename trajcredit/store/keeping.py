"""What is worked out of trajectories before the transaction that stores them: hashes, blocks, rows, counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from typing import Any, TypeAlias

import msgspec
import numpy as np
from msgspec import structs

from trajcredit.arrays import BOOL, I64
from trajcredit.batching import Columns, columns_of, group_key, group_names
from trajcredit.graph import EDGE_KINDS, RULES, SpanGraph
from trajcredit.model import KIND_CODES, Reward, Trajectory, body, encode
from trajcredit.store import logs
from trajcredit.store.border import clean, cut, misfit, project_name, sanitised
from trajcredit.store.evidence import packed_evidence
from trajcredit.store.outcomes import action_mask, outcomes
from trajcredit.store.packing import packed_columns, tools_of

__all__ = ["ROW", "Kept", "content_digest", "group_digest", "keep"]

GROUP_NAME_LENGTH = 200
"""Characters of a group's readable name that are kept: some logs call a task by its whole prompt."""

Column: TypeAlias = Sequence[Any]

_KINDS = list(KIND_CODES)
_RESULT = KIND_CODES["tool_result"]
_RULES = [rule.name for rule in RULES]
_json = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Kept:
    """One trajectory ready to be stored; or why it cannot be (`problem`), and then nothing else of it."""

    external_id: str
    problem: str | None = None
    content_sha256: str = ""
    dataset: str | None = None
    row: tuple[Any, ...] = ()
    """Of the table of trajectories, by ROW."""
    line: bytes = b""
    tools: str = ""
    columns: bytes = b""
    evidence: bytes = b""
    spans: tuple[Column, ...] = ()
    """Columns of its rows, not its rows: span, kind, turn, tool, is_action, is_write, is_error, size."""
    edges: tuple[Column, ...] = ()
    """child, parent, kind, weight, rule."""
    tool_use: tuple[tuple[str, int, int], ...] = ()
    """Tool, its calls, those of them that failed."""
    rewards: tuple[Reward, ...] = ()


HEAD = (
    "project",
    "raw_sha256",
    "record",
    "dataset",
    "task",
    "role",
    "own_group",
    "group_key",
    "group_name",
    "trial",
    "step",
    "policy_version",
    "terminated",
    "truncated",
    "bootstrap",
    "answer",
    "parent_trajectory",
    "parent_span",
    "report",
    "source",
    "model",
)
COUNTS = ("n_spans", "n_actions", "n_errors", "n_edges", "n_tokens")
ROW = (*HEAD, *COUNTS, "outcome", "outcome_source")


def keep(project: str, graphs: Sequence[SpanGraph], raw: str | None = None) -> list[Kept]:
    """What there is to store of each graph and its trajectory, in order. `raw`: hash of the log they were read from."""
    project_name(project)
    texts: list[_Texts] = []
    problems: list[str | None] = []
    for graph in graphs:
        problem = _wrong(project, graph.trajectory)
        if problem is None:
            try:
                texts.append(_texts(graph))
            except RecursionError:
                problem = "its arguments or parameters nest too deep"
        problems.append(problem)
    ready = iter(_kept(texts, raw))
    return [
        next(ready) if problem is None else Kept(clean(graph.trajectory.id), problem)
        for graph, problem in zip(graphs, problems, strict=True)
    ]


def content_digest(line: bytes, dataset: str | None) -> str:
    """What tells the content of a document from another's: its hash, without the data set.

    A log that names none is its own data set, so the same rollout sent in two batches has two: that is no conflict.
    """
    if dataset is not None:  # behind the id, before all that nests; and quotes inside text are escaped
        line = line.replace(b',"dataset":' + _json.encode(dataset), b"", 1)
    return sha256(line).hexdigest()


def group_digest(key: Sequence[object]) -> str:
    """A short name for a group's key: equal keys, equal names."""
    return blake2b(_json.encode(key), digest_size=16).hexdigest()


def _wrong(project: str, trajectory: Trajectory) -> str | None:
    if trajectory.project != project:
        return f"it names project {trajectory.project!r} and was sent to {project!r}"
    return misfit(trajectory)


@dataclass(frozen=True, slots=True)
class _Texts:
    """A graph with clean texts, its document, and apart from it, for they are not content, what was noted and where."""

    graph: SpanGraph
    line: bytes
    report: str
    source: str | None


def _texts(graph: SpanGraph) -> _Texts:
    try:
        found = _encoded(graph)
        if b"\\u0000" not in found.line:
            return found
    except UnicodeEncodeError:
        pass  # half a surrogate pair
    details = {edge: clean(detail) for edge, detail in graph.details.items()}
    return _encoded(dataclasses.replace(graph, trajectory=sanitised(graph.trajectory), details=details))


def _encoded(graph: SpanGraph) -> _Texts:
    trajectory = graph.trajectory
    source = None if trajectory.source is None else _json.encode(trajectory.source).decode()
    new = [note for note in graph.notes if note not in trajectory.report]
    report = _json.encode([*trajectory.report, *new]).decode()
    return _Texts(graph, encode(structs.replace(trajectory, source=None, report=[])), report, source)


def _kept(texts: Sequence[_Texts], raw: str | None) -> Iterator[Kept]:
    graphs = [text.graph for text in texts]
    columns = columns_of(graphs)
    given = [graph.trajectory.rewards for graph in graphs]
    spans, edges = _span_columns(columns, graphs), _edge_columns(columns, graphs)
    span_ends = columns.span_offsets.tolist()
    edge_ends = columns.parent_offsets[columns.span_offsets].tolist()
    figures = zip(_counts(columns), outcomes(given, columns), strict=True)
    packs = zip(logs.compress([text.line for text in texts]), tools_of(columns), packed_columns(columns), strict=True)
    for t, (text, counts_outcome, (line, tools, block)) in enumerate(zip(texts, figures, packs, strict=True)):
        trajectory = text.graph.trajectory
        yield Kept(
            external_id=trajectory.id,
            content_sha256=content_digest(text.line, trajectory.dataset),
            dataset=trajectory.dataset,
            row=(*_head(text, raw), *counts_outcome[0], counts_outcome[1].value, counts_outcome[1].source),
            line=line,
            tools=_json.encode(tools).decode(),
            columns=block,
            evidence=packed_evidence(text.graph),
            spans=tuple(column[span_ends[t] : span_ends[t + 1]] for column in spans),
            edges=tuple(column[edge_ends[t] : edge_ends[t + 1]] for column in edges),
            tool_use=_tool_use(text.graph),
            rewards=tuple(trajectory.rewards),
        )


def _head(text: _Texts, raw: str | None) -> tuple[Any, ...]:
    """By HEAD."""
    t = text.graph.trajectory
    key = group_key(t)
    return (
        t.project,
        raw,
        t.source.line if t.source is not None and raw is not None else None,
        t.dataset,
        t.task,
        t.role,
        t.group,
        group_digest(key),
        group_names([key])[key][:GROUP_NAME_LENGTH],
        t.trial,
        t.step,
        t.policy_version,
        t.terminated,
        t.truncated,
        t.bootstrap,
        t.answer,
        t.parent.trajectory if t.parent is not None else None,
        t.parent.span if t.parent is not None else None,
        text.report,
        text.source,
        t.model,
    )


def _counts(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """By COUNTS."""
    known = columns.n_tokens >= 0
    failed = columns.is_error & (columns.kind == _RESULT)
    edges = np.diff(columns.parent_offsets[columns.span_offsets])
    tokens = zip(_sums(columns, known), _sums(columns, np.where(known, columns.n_tokens, 0)), strict=True)
    return zip(
        np.diff(columns.span_offsets).tolist(),
        _sums(columns, action_mask(columns)),
        _sums(columns, failed),
        edges.tolist(),
        (total if some else None for some, total in tokens),
        strict=True,
    )


def _sums(columns: Columns, values: I64 | BOOL) -> list[int]:
    """The sum of each trajectory's spans; those that fit 64 bits are right even where the running sum wraps."""
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    sums: list[int] = np.diff(running[columns.span_offsets]).tolist()
    return sums


def _tool_use(graph: SpanGraph) -> tuple[tuple[str, int, int], ...]:
    """The tools a trajectory called, in order of first use."""
    failed = graph.is_error.tolist()
    found: dict[str, list[int]] = {}
    for i, span in enumerate(graph.trajectory.spans):
        if span.kind == "tool_call" and span.name is not None:
            use = found.setdefault(cut(span.name) or "", [0, 0])
            use[0] += 1
            use[1] += failed[i]
    return tuple((tool, calls, errors) for tool, (calls, errors) in found.items())


def _span_columns(columns: Columns, graphs: Sequence[SpanGraph]) -> tuple[Column, ...]:
    offsets = columns.span_offsets
    names: list[str | None] = [*map(cut, columns.tool_names), None]  # the code -1 is the last
    return (
        (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))).tolist(),
        [_KINDS[code] for code in columns.kind.tolist()],
        columns.turn.tolist(),
        [names[code] for code in columns.tool.tolist()],
        action_mask(columns).view(np.uint8).tolist(),
        columns.is_write.view(np.uint8).tolist(),
        columns.is_error.view(np.uint8).tolist(),
        [len(body(span)) for graph in graphs for span in graph.trajectory.spans],
    )


def _edge_columns(columns: Columns, graphs: Sequence[SpanGraph]) -> tuple[Column, ...]:
    offsets = columns.span_offsets
    children = np.repeat(np.arange(offsets[-1]), np.diff(columns.parent_offsets))
    first = np.repeat(offsets[:-1], np.diff(columns.parent_offsets[offsets]))
    return (
        (children - first).tolist(),
        (columns.parents - first).tolist(),
        [EDGE_KINDS[code] for code in columns.parent_kind.tolist()],
        columns.parent_weight.tolist(),
        [_RULES[code] for graph in graphs for code in graph.rule.tolist()],
    )
