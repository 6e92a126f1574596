"""The canonical trajectory: what every reader makes and every later stage takes.

One JSON object a line (`encode`, `decode`) holds all of it and comes back equal. The nouns are frozen msgspec structs:
they behave as frozen dataclasses do, are made fifteen times faster, and decode straight from canonical JSON, naming the
key that does not belong.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from trajcredit.errors import GraphError, InputError, ParseError

__all__ = [
    "ACTION_KINDS",
    "KIND_CODES",
    "REWARD_SOURCES",
    "SCHEMA",
    "Edge",
    "Note",
    "Origin",
    "Reward",
    "RewardSource",
    "Span",
    "SpanKind",
    "SpanTokens",
    "SpawnedBy",
    "Tool",
    "Trajectory",
    "TurnTokens",
    "body",
    "check",
    "decode",
    "encode",
    "instant",
]

SCHEMA = "trajcredit.trajectory/1"

SpanKind: TypeAlias = Literal["system", "user", "assistant", "reasoning", "tool_call", "tool_result", "meta"]
KIND_CODES: dict[str, int] = {kind: code for code, kind in enumerate(get_args(SpanKind))}
ACTION_KINDS = frozenset({"assistant", "reasoning", "tool_call"})
"""Kinds the policy generates: only these carry credit."""

RewardSource: TypeAlias = Literal["verifier", "human", "reward_model", "judge"]
REWARD_SOURCES: tuple[RewardSource, ...] = get_args(RewardSource)
"""In the order a run prefers them when it names none."""


LARGEST_NUMBER = 2.0**53 - 1
"""Rewards and forecasts beyond this are refused: whole numbers in a log would lose digits without a word."""
LARGEST_INTEGER = 2**53
"""What every reader of JSON and every database holds exactly."""
LARGEST_TURN = 2**31 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class _Noun(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Frozen; absent in JSON means null; an unknown key is an error that names it.

    They hold what JSON can hold, which has no cycles: the garbage collector need not look at them.
    """


class Note(_Noun, frozen=True):
    """One thing a reader or a batch guessed, repaired or left out: a code for programs, a sentence for people."""

    code: str
    message: str
    span: int | None = None
    trajectory: str | None = None
    group: str | None = None


class Reward(_Noun, frozen=True):
    """A number from one source, on a span or (span null) on the whole trajectory. Never 0 for 'nobody said'."""

    value: float
    source: RewardSource = "verifier"
    span: int | None = None
    name: str | None = None
    at: str | None = None
    """When it was given, ISO 8601; later ones of the same source replace earlier ones."""


class Tool(_Noun, frozen=True):
    """One declared tool. `writes`: whether the declaration says that it changes state (null: it does not say)."""

    name: str
    description: str | None = None
    parameters: Any = None
    writes: bool | None = None


class SpanTokens(_Noun, frozen=True):
    """What the engine recorded for a span: ids, log-probs and mask run in parallel; `n` alone where only a count is."""

    ids: list[int] | None = None
    logprobs: list[float] | None = None
    mask: list[int] | None = None
    n: int | None = None
    ref_logprobs: list[float] | None = None
    """What the reference policy gives the same tokens: how far training has moved is measured against it."""


class Span(_Noun, frozen=True):
    """The unit that gets credit: one message, reasoning block, tool call or tool result."""

    kind: SpanKind
    turn: int
    """Policy invocation, from 0; an observation has the turn before it, -1 before the first."""
    text: str = ""
    message_index: int | None = None
    """Position of the record the span came from, in the log's own order."""
    agent: str | None = None
    call_id: str | None = None
    """As logged, on a call and on its result; unique only among the calls still open."""
    name: str | None = None
    """The tool of a call or result."""
    arguments: Any = None
    """Of a call, decoded; null where the logged text is not JSON."""
    arguments_raw: str | None = None
    """Of a call, the text as logged; null where the log held an object."""
    result_of: int | None = None
    """The span index of the call this result answers; null for an orphan."""
    error: bool | None = None
    """Of a result: what the log says, null where it does not say."""
    inferred: bool = False
    """A call or thinking that was written into the text of an answer, and recognised by a reader."""
    value: float | None = None
    """A critic's logged forecast of the return, before this span."""
    tokens: SpanTokens | None = None
    started_at: str | None = None
    ended_at: str | None = None
    usage: dict[str, int | float] | None = None


class Edge(_Noun, frozen=True):
    """A dependency the log states (`explicit`) or a person set (`override`); inferred ones live in the SpanGraph.

    An override of weight 0 says that there is none: what is inferred of its pair is not used.
    """

    parent: int
    child: int
    kind: Literal["explicit", "override"]
    weight: float = 1.0
    evidence: str | None = None


class TurnTokens(_Noun, frozen=True):
    """Token ids of one policy invocation; each span's ids are slices of them."""

    turn: int
    prompt_ids: list[int] | None = None
    sampled_ids: list[int] | None = None
    logprobs: list[float] | None = None
    policy_version: str | None = None


class SpawnedBy(_Noun, frozen=True):
    """The call of another trajectory that started this one (a sub-agent); of a branch the last span they share."""

    trajectory: str
    span: int | None = None


class Origin(_Noun, frozen=True):
    """Where a trajectory was read from: format, file, line or record (1-based), hash of the record's bytes."""

    format: str
    file: str | None = None
    line: int | None = None
    sha256: str | None = None


class Trajectory(_Noun, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """One episode: its spans in causal order, its rewards, its group."""

    id: str
    project: str = "default"
    dataset: str | None = None
    task: str | None = None
    role: str | None = None
    group: str | None = None
    """The log's own group id; where null, the group is computed from project, dataset, task, role and step."""
    trial: str | None = None
    step: int | None = None
    policy_version: str | None = None
    """Which state of the policy sampled it (a checkpoint, a training step), where the log says so."""
    model: str | None = None
    """The name of the model that answered, where the log names one and no other; it says nothing about staleness."""
    parent: SpawnedBy | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    bootstrap: float | None = None
    """A critic's logged forecast after the last span of a truncated run."""
    answer: str | None = None
    """The known right answer, where the log has it."""
    rewards: list[Reward] = []
    tools: list[Tool] = []
    spans: list[Span]
    edges: list[Edge] = []
    turns: list[TurnTokens] = []
    report: list[Note] = []
    source: Origin | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Trajectory)


def encode(trajectory: Trajectory) -> bytes:
    """One line of canonical JSON, without the line feed. `decode` gives an equal trajectory back."""
    return _encoder.encode(trajectory)


def decode(line: bytes | str) -> Trajectory:
    """The trajectory of one canonical line; ParseError names the key or value that does not belong."""
    try:
        trajectory = _decoder.decode(line)
        check(trajectory)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ParseError(f"not a canonical trajectory: {error}") from error
    except GraphError:
        raise
    except InputError as error:
        raise ParseError(str(error)) from error
    return trajectory


def body(span: Span) -> str:
    """The text edge evidence points into: a call's arguments as logged (as JSON where an object was), else the text."""
    if span.kind != "tool_call":
        return span.text
    if span.arguments_raw is not None:
        return span.arguments_raw
    return "" if span.arguments is None else _encoder.encode(span.arguments).decode()


@lru_cache(maxsize=65536)
def instant(at: str | None) -> int:
    """When that was, in microseconds since 1970 in UTC; before all times where there is none. No offset means UTC.

    InputError where it is no time as ISO 8601 has them.
    """
    if at is None:
        return -(1 << 62)
    try:
        found = datetime.fromisoformat(at)
        return ((found if found.tzinfo is not None else found.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"a reward is of {at[:40]!r}: expected a time as ISO 8601, e.g. 2026-04-14T18:40:12Z"
        ) from error


def check(trajectory: Trajectory) -> None:
    """Raise InputError where spans, rewards or edges refer to nothing or to the future, or a number is out of range."""
    spans = trajectory.spans
    _check_spans(spans)
    _check_number("step", trajectory.step, LARGEST_INTEGER)
    _check_number("bootstrap", trajectory.bootstrap, LARGEST_NUMBER)
    for reward in trajectory.rewards:
        if reward.span is not None and not 0 <= reward.span < len(spans):
            raise InputError(f"a reward names span {reward.span}; the trajectory has {len(spans)} spans")
        _check_number("reward", reward.value, LARGEST_NUMBER)
        instant(reward.at)
    for edge in trajectory.edges:
        name = f"edge {edge.parent} -> {edge.child}"
        if not (0 <= edge.parent < len(spans) and 0 <= edge.child < len(spans)):
            raise GraphError(f"{name}: the trajectory has {len(spans)} spans")
        if edge.parent >= edge.child:
            raise GraphError(f"{name}: a parent must be an earlier span than its child")
        if edge.kind == "override" and edge.weight == 0:
            continue
        if not 0 < edge.weight <= 1:
            raise GraphError(f"{name}: weight {edge.weight} is not in (0, 1]")


def _check_number(name: str, value: Any, most: float) -> None:
    """`value` is whatever a caller from Python put there: structs are checked when they are decoded, not when made."""
    if value is None:
        return
    if not isinstance(value, int | float) or not -most <= value <= most:  # NaN is in no range
        raise InputError(f"{name} {value!r} is not a number from {-most:g} to {most:g}")


def _check_spans(spans: list[Span]) -> None:
    turn = -1
    for index, span in enumerate(spans):
        if span.turn < turn:
            raise InputError(f"span {index} has turn {span.turn} after turn {turn}: turns never go back")
        turn = span.turn
        if span.value is not None:
            _check_number(f"value of span {index}", span.value, LARGEST_NUMBER)
        if span.tokens is not None and span.tokens.n is not None:
            _check_number(f"tokens.n of span {index}", span.tokens.n, LARGEST_INTEGER)
        if span.kind in ACTION_KINDS and turn < 0:
            raise InputError(f"span {index} is an action and needs a turn of 0 or more, not {turn}")
        call = span.result_of
        if call is None:
            continue
        if span.kind != "tool_result":
            raise InputError(f"span {index} is a {span.kind} and cannot be the result of span {call}")
        if not (0 <= call < index and spans[call].kind == "tool_call"):
            raise InputError(f"span {index} says it is the result of span {call}, which is no earlier call")
    if turn > LARGEST_TURN:
        raise InputError(f"turn {turn} is more than {LARGEST_TURN}: turns count policy invocations")
