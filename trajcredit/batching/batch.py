"""The batch: many trajectories as flat columns with offsets. Kernels and attributors see nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from trajcredit.arrays import BOOL, F64, I64, U8, U64
from trajcredit.batching.findings import Finding
from trajcredit.graph import SpanGraph
from trajcredit.model import Note, RewardSource

__all__ = ["Batch"]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """T trajectories of N spans and M edges in G groups. Not scored, not logged: NaN (integers: -1), never 0.

    trajectory_ids, group_ids    T and G names; group_ids[group[t]] is the group of trajectory t
    span_offsets    i64[T+1]     trajectory t owns spans span_offsets[t]:span_offsets[t+1]
    parent_offsets  i64[N+1]     span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]       positions in the batch, all smaller than their child
    parent_weight   f64[M]       confidence in (0, 1]
    parent_kind     u8[M]        index into graph.EDGE_KINDS
    kind            u8[N]        model.KIND_CODES
    action_mask     bool[N]      spans the policy chose
    turn            i64[N]       policy invocation within its trajectory; -1 before the first
    tool            i64[N]       index into tool_names, of calls and results; -1 elsewhere
    is_write        bool[N]      calls that change state
    is_error        bool[N]      results that failed, and the calls they answer
    n_tokens        i64[N]       logged token count; -1 unknown
    rewards         f64[N]       r_k: on action spans only, 0 where none; NaN throughout an unscored trajectory
    outcome         f64[T]       sum of the trajectory's rewards; NaN = none yet
    group, pool     i64[T]       rollouts of one task; tasks that share tools
    terminated      bool[T]      ended by itself (unknown ends count so)
    truncated       bool[T]      cut off by a limit
    policy_version  i64[T]       index into policy_versions; -1 not logged
    values          f64[N]       V before the span
    q_values        f64[N]       Q after the choice, before its result
    advantage_forecast f64[N]    a critic's advantage of the choice
    bootstrap       f64[T]       V after the last span of a truncated run; 0 where terminated
    scores          f64[N]       a judge's score of how things stand after the action, or its running total of credit
    score_start     f64[T]       that before the first action; NaN where no judge said
    segment         i64[N]       segment of a judge; -1 none
    info            f64[N]       log-prob of the known answer, where logged
    call_key        u64[N]       hash of tool and normalised arguments; 0 on other spans
    state_key       u64[N]       hash of what the agent knows before the span, whatever order it learnt it in
    graphs                       host side, for text and evidence; None when loaded from packed rows
    reward_source                the one source this batch reads; None when no trajectory has a reward
    notes                        what was guessed or left out, by trajectory or group
    findings                     host side, why `scores` are what they are, by span; none until a judge was asked
    """

    trajectory_ids: tuple[str, ...]
    group_ids: tuple[str, ...]
    span_offsets: I64
    parent_offsets: I64
    parents: I64
    parent_weight: F64
    parent_kind: U8
    kind: U8
    action_mask: BOOL
    turn: I64
    tool: I64
    is_write: BOOL
    is_error: BOOL
    n_tokens: I64
    rewards: F64
    outcome: F64
    group: I64
    pool: I64
    terminated: BOOL
    truncated: BOOL
    policy_version: I64
    values: F64
    q_values: F64
    advantage_forecast: F64
    bootstrap: F64
    scores: F64
    score_start: F64
    segment: I64
    info: F64
    call_key: U64
    state_key: U64
    tool_names: tuple[str, ...]
    policy_versions: tuple[str, ...]
    graphs: tuple[SpanGraph, ...] | None
    reward_source: RewardSource | None
    notes: tuple[Note, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def n_spans(self) -> int:
        """N."""
        return len(self.kind)

    @property
    def n_trajectories(self) -> int:
        """T."""
        return len(self.outcome)

    def trajectory_of(self, span: int) -> int:
        """The trajectory that owns a span position of the batch."""
        return int(self.span_offsets.searchsorted(span, side="right")) - 1
