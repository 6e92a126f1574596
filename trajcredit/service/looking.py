"""One trajectory as it is looked at: its skeleton first, then text by the window."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from trajcredit.errors import InputError
from trajcredit.model import KIND_CODES, Edge, Note, Span, body, encode
from trajcredit.store import Store, documents, groups, ids, overrides, remarks, shown
from trajcredit.store.remarks import GivenReward

__all__ = ["MOST_SPANS", "Skeleton", "SpanText", "raw_line", "skeleton", "text_of", "texts"]

MOST_SPANS = 200
"""Spans of one window of text."""
MOST_CHARACTERS = 1_000_000
"""Characters of one span in a window; more of it is asked for by range."""
_KINDS = tuple(KIND_CODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """Everything about a trajectory but text and credit. Columns have one entry a span."""

    id: str
    external_id: str
    project: str
    group: str
    group_id: str
    group_size: int
    group_scored: int
    group_mean: float | None
    dataset: str | None
    task: str | None
    role: str | None
    trial: str | None
    step: int | None
    policy_version: str | None
    model: str | None
    terminated: bool | None
    truncated: bool | None
    format: str
    file: str | None
    """What the client called the log."""
    line: int | None
    n_tokens: int | None
    outcome: float | None
    outcome_source: str | None
    rewards: tuple[GivenReward, ...]
    report: tuple[Note, ...]
    kind: tuple[str, ...]
    turn: tuple[int, ...]
    name: tuple[str | None, ...]
    """The tool of a call or a result."""
    agent: tuple[str | None, ...] | None
    result_of: tuple[int | None, ...]
    is_action: tuple[bool, ...]
    is_write: tuple[bool, ...]
    write_basis: tuple[str, ...]
    is_error: tuple[bool, ...]
    size: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpanText:
    """The text of one span, of a call its arguments; a long one is cut in the middle into `head` and `tail`."""

    span: int
    head: str
    tail: str
    size: int
    """Characters of the whole text."""
    call_id: str | None


def skeleton(store: Store, project: str, ref: str) -> Skeleton:
    """The trajectory of our id, or of `ext:` and the client's."""
    with store.read() as conn:
        head = documents.head(conn, project, ref)
        one = head.listed
        facts = shown.facts(conn, project, one.id)
        tally = groups.tallies(conn, project, [one.group_key])[one.group_key]
        rewards = remarks.rewards_given(conn, project, one.id)
    columns, source = facts.columns, head.source
    tools: tuple[str | None, ...] = (*columns.tool_names, None)  # the code -1 is the last
    return Skeleton(
        id=one.id,
        external_id=one.external_id,
        project=one.project,
        group=one.group_name,
        group_id=one.group_key,
        group_size=tally.size,
        group_scored=tally.scored,
        group_mean=tally.mean,
        dataset=one.dataset,
        task=one.task,
        role=one.role,
        trial=one.trial,
        step=one.step,
        policy_version=one.policy_version,
        model=one.model,
        terminated=head.terminated,
        truncated=head.truncated,
        format="" if source is None else source.format,
        file=None if source is None else source.file,
        line=None if source is None else source.line,
        n_tokens=one.n_tokens,
        outcome=one.outcome,
        outcome_source=one.outcome_source,
        rewards=tuple(rewards),
        report=head.report,
        kind=tuple(_KINDS[code] for code in columns.kind.tolist()),
        turn=tuple(columns.turn.tolist()),
        name=tuple(tools[code] for code in columns.tool.tolist()),
        agent=facts.agents,
        result_of=tuple(None if call < 0 else call for call in columns.result_of.tolist()),
        is_action=tuple(facts.is_action.tolist()),
        is_write=tuple(columns.is_write.tolist()),
        write_basis=facts.write_basis,
        is_error=tuple(columns.is_error.tolist()),
        size=facts.sizes,
    )


def texts(store: Store, project: str, ref: str, first: int, last: int, most: int = 20_000) -> tuple[SpanText, ...]:
    """The texts of spans first to last, without it; a window may reach beyond the end. `most`: characters a span."""
    if last - first > MOST_SPANS:
        raise InputError(f"spans {first} to {last}: at most {MOST_SPANS} at once")
    if not 1 <= most <= MOST_CHARACTERS:
        raise InputError(f"most {most}: from 1 to {MOST_CHARACTERS:,} characters a span")
    with store.read() as conn:
        found = shown.some_spans(conn, project, ref, first, last)
    return tuple(_cut(first + n, span, most) for n, span in enumerate(found))


def text_of(store: Store, project: str, ref: str, span: int, start: int = 0, stop: int | None = None) -> str:
    """Characters start to stop of the text of one span; a range may reach beyond the end."""
    with store.read() as conn:
        text = body(shown.own_span(conn, project, ref, span))
    if not 0 <= start <= len(text) or (stop is not None and stop < start):
        end = "the end" if stop is None else stop
        raise InputError(f"characters {start} to {end}: span {span} has {len(text):,} characters, counted from 0")
    return text[start:stop]


def raw_line(store: Store, project: str, ref: str) -> bytes:
    """The trajectory as one line of canonical JSON, without the line feed: reading it gives an equal one.

    Overrides in force are among its edges, of weight 0 where an edge was removed, so that its graph is the same too.
    """
    with store.read() as conn:
        found = documents.document(conn, project, ref)
        one = ids.find(conn, project, ref)
        edited = overrides.in_force(conn, project, [(one.key, one.id)]).get(0, [])
    pairs = {(edge.parent, edge.child) for edge in edited}
    kept = [edge for edge in found.edges if edge.kind != "override" or (edge.parent, edge.child) not in pairs]
    said = [Edge(one.parent, one.child, "override", one.weight, one.reason) for one in edited]
    return encode(replace(found, edges=kept + said))


def _cut(index: int, span: Span, most: int) -> SpanText:
    text = body(span)
    if len(text) <= most:
        return SpanText(index, text, "", len(text), span.call_id)
    tail = most // 2
    return SpanText(index, text[: most - tail], text[len(text) - tail :], len(text), span.call_id)
