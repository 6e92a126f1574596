"""Traces of verifiers v1: messages as a graph, with token ids, masks and log-probs of every one.

| in a trace | is |
| --- | --- |
| a path from a root to a leaf of `nodes` | a trajectory; the longest is the run, others have a role of their own |
| a node of several paths | where they part: `parent` is the first path that has it, with the last span they share |
| `sampled` | the policy wrote it; an assistant message that it did not write stands without credit |
| `token_ids`, `mask`, `logprobs` | the tokens of the message, those sampled (others: context), log-probs of these |
| `rewards` | the sum of score times weight |
| `task.key`, else `hash`; `agent.name` | the task; the role |
| `calls[].usage`, `time` | what an answer cost, and when |

| note | says |
| --- | --- |
| `branched` | it shares its first messages with the trajectory that is its parent |
| `not-sampled` | an assistant message that the policy did not write: it gets no credit |
| `lost-tokens` | ids, mask and log-probs of a message do not fit each other: they are left out |
| `run-error` | the trace has errors |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import entry_of, finite
from trajcredit.formats.document import Document, Match
from trajcredit.formats.entries import Entry, bounded
from trajcredit.formats.history import NULL
from trajcredit.formats.labels import Labels, of_entries, several
from trajcredit.formats.parts import json_text, time_of, tools_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.formats.verifiers import Said, message_of
from trajcredit.model import Note, Reward, SpanTokens, SpawnedBy, Trajectory, TurnTokens
from trajcredit.registry import formats

__all__ = ["VerifiersTraces"]

FORMAT = "verifiers_traces"
NOT_SAMPLED = ("not-sampled", "an assistant message that the policy did not write: it gets no credit")
CUT = ("max_tokens", "max_turns", "length", "truncated", "timeout", "context_length")


class Node(msgspec.Struct, gc=False):
    """One message and its tokens."""

    message: Said
    parent: int | None = None
    sampled: bool | None = None
    timestamp: Any = None
    token_ids: list[int] | None = None
    mask: list[bool | int] | None = None
    logprobs: list[float] | None = None


class Time(msgspec.Struct, gc=False):
    """When a call began and ended."""

    start: Any = None
    end: Any = None


class ModelCall(msgspec.Struct, gc=False):
    """One policy invocation."""

    node: int | None = None
    model: str | None = None
    usage: Any = None
    time: Time | None = None


class Scored(msgspec.Struct, gc=False):
    """One reward function's word."""

    score: float | None = None
    weight: float | None = None


class Task(msgspec.Struct, gc=False):
    """What was attempted."""

    key: str | int | None = None
    hash: str | int | None = None
    data: Any = None


class Agent(msgspec.Struct, gc=False):
    """Who attempted it."""

    name: str | None = None


class Trace(msgspec.Struct, gc=False):
    """One run of one agent."""

    nodes: list[Node]
    id: str | int | None = None
    task: Task | None = None
    agent: Agent | None = None
    tools: msgspec.Raw = NULL
    calls: list[ModelCall] = []
    rewards: dict[str, Scored | float] = {}
    is_completed: bool | None = None
    stop_condition: str | None = None
    errors: list[Any] | None = None


class Episode(msgspec.Struct, gc=False):
    """A line: the traces of one episode."""

    traces: list[Trace]
    id: str | int | None = None
    task: Task | None = None


_trace = msgspec.json.Decoder(Trace).decode
_episode = msgspec.json.Decoder(Episode).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class VerifiersTraces:
    """verifiers v1 traces: message graphs with token ids, masks, log-probs and weighted rewards.

    Left out: logged advantages, log-probs of a reference, weights of the loss, metrics.
    """

    def sniff(self, document: Document) -> Match:
        """Nodes with rewards, in a line or in the traces of an episode."""
        first = document.first
        if first is None:
            return Match.NO
        if {"nodes", "rewards", "task"} <= first.fields.keys():
            return Match.YES
        traces = bytes(first.fields.get("traces", b""))
        return Match.YES if b'"nodes"' in traces and b'"rewards"' in traces else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a branch of a trace."""
        decode: Any = _episode if "traces" in document.keys else _trace
        return several(document, decode, _of_line)


def _of_line(document: Document, record: Record, line: Trace | Episode, notes: list[Note]) -> Iterator[Trajectory]:
    if isinstance(line, Trace):
        yield from _branches(document, record, line, document.name_of(record), notes)
        return
    for number, trace in enumerate(line.traces):
        trace.task = trace.task or line.task
        yield from _branches(document, record, trace, f"{line.id or document.name_of(record)}:{number}", notes)


def _branches(document: Document, record: Record, trace: Trace, name: str, notes: list[Note]) -> Iterator[Trajectory]:
    paths = _paths(trace.nodes)
    if not paths:
        raise InputError("nodes is empty: there is no message")
    run = max(range(len(paths)), key=lambda place: (len(paths[place]), place))
    first: dict[int, SpawnedBy] = {}
    base = str(trace.id) if trace.id is not None else name
    agent = trace.agent.name if trace.agent else None
    tools = tools_of(bytes(trace.tools))
    models = {call.model for call in trace.calls if call.model}
    model = models.pop() if len(models) == 1 else None
    for place in sorted(range(len(paths)), key=lambda place: place != run):
        path, is_run = paths[place], place == run
        entries, lost = _entries(trace, path)
        shared = [first[node] for node in path if node in first]
        left = None if is_run else shared[-1] if shared else SpawnedBy(base)
        branch = []
        if left is not None and left.span is not None:
            branch.append(Note("branched", f"shares its first {len(shared)} messages with {left.trajectory!r}"))
        found = of_entries(
            entries,
            _labels(trace, base if is_run else f"{base}:branch-{place}"),
            document,
            record,
            FORMAT,
            notes=[*notes, *_errors(trace), *branch, *lost],
            rewards=_rewards(trace),
            tools=tools,
            model=model,
        )
        role = agent if is_run else f"{agent or 'agent'}:branch"
        found = msgspec.structs.replace(found, role=role, parent=left)
        _remember(first, path, found)
        yield found


def _remember(first: dict[int, SpawnedBy], path: list[int], branch: Trajectory) -> None:
    """Note for each node of a branch that no earlier one has where it stands: the last span up to it."""
    last: dict[int, int] = {}
    for index, span in enumerate(branch.spans):
        if span.message_index is not None:
            last[span.message_index] = index
    at: int | None = None
    for depth, node in enumerate(path):
        at = last.get(depth, at)
        first.setdefault(node, SpawnedBy(branch.id, at))


def _labels(trace: Trace, name: str) -> Labels:
    task = trace.task or Task()
    return Labels(
        trajectory_id=name,
        task=task.key if task.key is not None else task.hash,
        terminated=trace.is_completed,
        truncated=None if trace.stop_condition is None else any(word in trace.stop_condition for word in CUT),
    )


def _paths(nodes: list[Node]) -> list[list[int]]:
    """The nodes from a root to each leaf, leaves in the order of the log; InputError where a parent is not before."""
    inner: set[int] = set()
    for place, node in enumerate(nodes):
        if node.parent is not None:
            if not 0 <= node.parent < place:
                raise InputError(f"nodes[{place}].parent is {node.parent}: an earlier node is expected")
            inner.add(node.parent)
    paths: list[list[int]] = []
    longest = 0
    for leaf in range(len(nodes)):
        if leaf in inner:
            continue
        path: list[int] = []
        at: int | None = leaf
        while at is not None:
            path.append(at)
            at = nodes[at].parent
        longest = max(longest, len(path))
        bounded(len(paths), longest, "branches")
        paths.append(path[::-1])
    return paths


def _entries(trace: Trace, path: list[int]) -> tuple[list[Entry], list[Note]]:
    calls = {call.node: call for call in trace.calls if call.node is not None}
    entries: list[Entry] = []
    lost: list[Note] = []
    before: list[int] | None = []
    for place in path:
        node = trace.nodes[place]
        entry = entry_of(message_of(node.message))
        entry.started_at = time_of(node.timestamp)
        if entry.acts and node.sampled is False:
            entry.acts, entry.note = False, NOT_SAMPLED
            entry.parts = [
                msgspec.structs.replace(part, kind="meta") for part in entry.parts if part.kind != "tool_call"
            ]
        call = calls.get(place)
        if call is not None:
            entry.usage = usage_of(call.usage)
            if call.time is not None:
                entry.started_at, entry.ended_at = time_of(call.time.start), time_of(call.time.end)
        if (why := _add_tokens(entry, node, before)) is not None:
            told = ("lost-tokens", f"nodes[{place}]: {why}: left out")
            if entry.note is None:
                entry.note = told
            else:  # an entry has room for one note
                lost.append(Note(*told))
        before = None if before is None or node.token_ids is None else before + node.token_ids
        entries.append(entry)
    return entries, lost


def _add_tokens(entry: Entry, node: Node, before: list[int] | None) -> str | None:
    """The tokens of an answer from the first to the last that was sampled, with a mask where others are between.

    All tokens of an observation, and of an answer of which the mask says that nothing was sampled: it is context.
    Else why they do not fit.
    """
    ids, mask = node.token_ids, node.mask
    if not ids:
        return None
    if mask is not None and len(mask) != len(ids):
        return f"the mask has {len(mask)} entries, and there are {len(ids)} token ids"
    if not entry.acts:
        if len(entry.parts) == 1:
            entry.parts[0].tokens = SpanTokens(ids, None, [0] * len(ids))
        return None
    own = [1] * len(ids) if mask is None else [int(bool(entry)) for entry in mask]
    if node.logprobs is not None and len(node.logprobs) != sum(own):
        return f"{len(node.logprobs)} log-probs are logged, and {sum(own)} ids were sampled"
    # what stands before the first sampled token is prompt; what stands behind the last is in the prompt of the next
    start, end = (own.index(1), len(own) - own[::-1].index(1)) if any(own) else (0, len(own))
    own = own[start:end]
    prompt = None if before is None else before + ids[:start]
    entry.tokens = TurnTokens(0, prompt, ids[start:end], _spread(node.logprobs, own))
    entry.mask = None if all(own) else own
    return None


def _spread(logprobs: list[float] | None, mask: list[int]) -> list[float] | None:
    """Log-probs of the tokens whose mask is 1, with 0 on the others; null where nothing was sampled."""
    if logprobs is None or not any(mask):
        return None
    given = iter(logprobs)
    return [next(given) if own else 0.0 for own in mask]


def _rewards(trace: Trace) -> list[Reward]:
    """One figure: what the scores add up to by their weights; unscored is none."""
    total, names = 0.0, []
    for name, said in trace.rewards.items():
        score, weight = (said.score, said.weight) if isinstance(said, Scored) else (said, None)
        if score is not None:
            total += score * (1.0 if weight is None else weight)
            names.append(name)
    return [Reward(finite(total, "rewards"), name="+".join(names))] if names else []


def _errors(trace: Trace) -> list[Note]:
    texts = [error if isinstance(error, str) else json_text(error) for error in trace.errors or ()]
    return [Note("run-error", f"the trace reports: {text[:500]}") for text in texts]
