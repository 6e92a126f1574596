"""Hypothesis strategies for laws: what may be thrown at kernels, attributors, graphs and readers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.build import run
from trajcredit.arrays import BOOL, F64, I64, offsets_of
from trajcredit.model import (
    ACTION_KINDS,
    KIND_CODES,
    LARGEST_NUMBER,
    REWARD_SOURCES,
    Edge,
    Note,
    Origin,
    Reward,
    Span,
    SpanTokens,
    SpawnedBy,
    Tool,
    Trajectory,
    TurnTokens,
)

# ================================================================ arrays and batches (kernels, attributors)

unit = st.floats(0, 1)
"""A discount or a mixing."""
halves = st.sampled_from([0.0, 0.25, 0.5, 1.0])
"""Factors whose products floats hold exactly, so that equal paths compare equal."""
reward = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.7]), st.floats(-100, 100, allow_subnormal=False))
outcome = st.one_of(st.just(np.nan), reward)
"""NaN = unscored."""


@dataclass(frozen=True)
class Columns:
    """The columns a kernel takes, of a few trajectories, some of them empty."""

    rewards: F64
    values: F64
    action_mask: BOOL
    turn: I64
    bootstrap: F64
    offsets: I64


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    """A few trajectories: actions and observations in any order, turns that never go back."""
    step = st.tuples(reward, reward, st.booleans(), st.booleans())
    trajectories = draw(st.lists(st.lists(step, max_size=8), max_size=4))
    steps = [step for steps in trajectories for step in steps]
    turns = [np.cumsum([0, *(new for _, _, _, new in steps[1:])])[: len(steps)] for steps in trajectories]
    return Columns(
        rewards=np.array([r for r, _, _, _ in steps], dtype=float),
        values=np.array([v for _, v, _, _ in steps], dtype=float),
        action_mask=np.array([acts for _, _, acts, _ in steps], dtype=bool),
        turn=np.concatenate([*turns, np.zeros(0)]).astype(np.int64),
        bootstrap=np.array([draw(reward) for _ in trajectories], dtype=float),
        offsets=offsets_of(map(len, trajectories)),
    )


@st.composite
def grouped(draw: st.DrawFn) -> tuple[F64, I64]:
    """Outcomes and the groups they belong to, interleaved."""
    rows = draw(st.lists(st.tuples(outcome, st.integers(0, 3)), max_size=12))
    return np.array([r for r, _ in rows], dtype=float), np.array([g for _, g in rows], dtype=np.int64)


@dataclass(frozen=True)
class Dag:
    """A small dependency graph: edges in order of their child, a factor each."""

    sinks: BOOL
    action_mask: BOOL
    edges: list[tuple[int, int, float]]

    @property
    def parent_offsets(self) -> I64:
        """i64[N+1]."""
        children = [child for _, child, _ in self.edges]
        return offsets_of(children.count(i) for i in range(len(self.sinks)))

    @property
    def parents(self) -> I64:
        """i64[M]."""
        return np.array([parent for parent, _, _ in self.edges], dtype=np.int64)

    @property
    def gain(self) -> F64:
        """f64[M]."""
        return np.array([gain for _, _, gain in self.edges], dtype=float)


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    """Up to eight spans; every edge runs from an earlier span to a later one."""
    n = draw(st.integers(0, 8))
    pairs = [(parent, child) for child in range(n) for parent in range(child)]
    chosen = sorted(draw(st.sets(st.sampled_from(pairs))), key=lambda p: (p[1], p[0])) if pairs else []
    masks = st.lists(st.booleans(), min_size=n, max_size=n)
    return Dag(
        sinks=np.array(draw(masks), dtype=bool),
        action_mask=np.array(draw(masks), dtype=bool),
        edges=[(parent, child, draw(halves)) for parent, child in chosen],
    )


@st.composite
def rollouts(draw: st.DrawFn) -> list[Trajectory]:
    """A few scored, unscored and actionless runs of up to three tasks, interleaved; with values and explicit edges."""
    runs = []
    for i in range(draw(st.integers(1, 6))):
        spans = draw(st.sampled_from(["a", "uca", "ucra", "uccrra", "ucrcrua", "su", "ucr"]))
        pairs = [(parent, child) for child in range(len(spans)) for parent in range(child)]
        edges = draw(st.sets(st.sampled_from(pairs), max_size=4)) if pairs else set()
        scored, stepped = draw(st.booleans()), draw(st.booleans())
        truncated = draw(st.booleans())
        runs.append(
            run(
                spans,
                draw(reward) if scored and not stepped else None,
                name=f"t{i}",
                group=draw(st.sampled_from(["x", "y", "z"])),
                rewards={j: draw(reward) for j in range(1, len(spans))} if scored and stepped else None,
                values=[draw(reward) for _ in spans] if draw(st.integers(0, 4)) else None,
                edges=[(parent, child, draw(st.sampled_from([0.2, 0.5, 1.0]))) for parent, child in sorted(edges)],
                truncated=truncated,
                bootstrap=draw(reward) if truncated and draw(st.booleans()) else None,
            )
        )
    return runs


# ================================================================ end of arrays and batches


# ================================================================ trajectories and logs (readers)

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
"""Any text that a log keeps as it is: half surrogate pairs and NUL are replaced."""
number = st.floats(-LARGEST_NUMBER, LARGEST_NUMBER)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
maybe_text = st.none() | text
maybe_number = st.none() | number
times = st.none() | st.datetimes(timezones=st.none() | st.timezones()).map(datetime.isoformat)
maybe_flag = st.none() | st.booleans()
small = st.integers(0, 9)
ids = st.lists(st.integers(0, 2**40), max_size=3)
tokens = st.builds(
    SpanTokens, st.none() | ids, st.none() | st.lists(number, max_size=3), st.none() | ids, st.none() | small
)


@st.composite
def spans_of_any_kind(draw: st.DrawFn) -> list[Span]:
    """Spans with every field in use: turns never go back, results answer an earlier call or none."""
    spans: list[Span] = []
    turn = -1
    for kind in draw(st.lists(st.sampled_from(list(KIND_CODES)), max_size=6)):
        turn = max(turn + draw(st.integers(0, 1)), 0 if kind in ACTION_KINDS else -1)
        calls = [i for i, span in enumerate(spans) if span.kind == "tool_call"]
        spans.append(
            Span(
                kind=kind,  # type: ignore[arg-type]  # the keys of KIND_CODES are the kinds
                turn=turn,
                text=draw(text),
                message_index=draw(st.none() | small),
                agent=draw(maybe_text),
                call_id=draw(maybe_text),
                name=draw(maybe_text),
                arguments=draw(json_values) if kind == "tool_call" else None,
                arguments_raw=draw(maybe_text),
                result_of=draw(st.none() | st.sampled_from(calls)) if kind == "tool_result" and calls else None,
                error=draw(maybe_flag),
                inferred=draw(st.booleans()),
                value=draw(maybe_number),
                tokens=draw(st.none() | tokens),
                started_at=draw(maybe_text),
                ended_at=draw(maybe_text),
                usage=draw(st.none() | st.dictionaries(text, small | number, max_size=2)),
            )
        )
    return spans


@st.composite
def any_trajectory(draw: st.DrawFn) -> Trajectory:
    """A trajectory with every field in use, as any reader might make it."""
    spans = draw(spans_of_any_kind())
    pairs = [(parent, child) for child in range(len(spans)) for parent in range(child)]
    span = st.none() | st.sampled_from(range(len(spans))) if spans else st.none()
    reward = st.builds(Reward, number, st.sampled_from(REWARD_SOURCES), span, maybe_text, times)
    edge = st.builds(
        lambda pair, kind, weight, evidence: Edge(pair[0], pair[1], kind, weight, evidence),
        st.sampled_from(pairs or [(0, 0)]),
        st.sampled_from(["explicit", "override"]),
        st.floats(0.01, 1),
        maybe_text,
    )
    return Trajectory(
        id=draw(text),
        project=draw(text),
        dataset=draw(maybe_text),
        task=draw(maybe_text),
        role=draw(maybe_text),
        group=draw(maybe_text),
        trial=draw(maybe_text),
        step=draw(st.none() | small),
        policy_version=draw(maybe_text),
        model=draw(maybe_text),
        parent=draw(st.none() | st.builds(SpawnedBy, text, st.none() | small)),
        terminated=draw(maybe_flag),
        truncated=draw(maybe_flag),
        bootstrap=draw(maybe_number),
        answer=draw(maybe_text),
        rewards=draw(st.lists(reward, max_size=3)),
        tools=draw(st.lists(st.builds(Tool, text, maybe_text, json_values, maybe_flag), max_size=2)),
        spans=spans,
        edges=draw(st.lists(edge, max_size=2)) if pairs else [],
        turns=draw(st.lists(st.builds(TurnTokens, small, st.none() | ids, st.none() | ids), max_size=2)),
        report=draw(st.lists(st.builds(Note, text, text, st.none() | small, maybe_text, maybe_text), max_size=2)),
        source=draw(st.none() | st.builds(Origin, text, maybe_text, st.none() | small, maybe_text)),
    )


roles = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "exit"])
call_ids = st.sampled_from(["a", "b", "", None, 7])
tool_names = st.sampled_from(["look", "book", None])
calls = st.fixed_dictionaries(
    {"id": call_ids},
    optional={
        "type": st.sampled_from(["function", "custom"]),
        "function": st.fixed_dictionaries(
            {"name": tool_names, "arguments": json_values | st.sampled_from(["{}", "{", ""])}
        ),
        "custom": st.fixed_dictionaries({"name": tool_names, "input": json_values}),
    },
)
messages = st.fixed_dictionaries(
    {"role": roles},
    optional={
        "content": json_values
        | text
        | st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "x"]), "text": text})),
        "tool_calls": st.lists(calls, max_size=3),
        "tool_call_id": call_ids,
        "name": tool_names,
        "function_call": st.fixed_dictionaries({"name": tool_names, "arguments": json_values}),
        "reasoning_content": text,
        "error": json_values,
    },
)
"""Chat messages as careless writers log them: ids reused, absent or empty, arguments of any kind."""
chat_rows = st.fixed_dictionaries(
    {"messages": st.lists(messages, max_size=8)},
    optional={
        "id": call_ids,
        "reward": json_values,
        "rewards": st.lists(st.none() | st.booleans() | number, max_size=8),
        "tools": json_values,
        "answer": json_values,
        "step": json_values,
    },
)

# ================================================================ end of trajectories and logs
