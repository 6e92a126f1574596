"""Groups: the list of them, one with its tree of calls, two of its rollouts side by side."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import FiniteFloat

from trajcredit.api.models.common import Out, Source

__all__ = [
    "AlignedRow",
    "AlignmentOut",
    "ArgumentDifference",
    "ArgumentOut",
    "ArgumentValue",
    "CellOut",
    "ChanceOut",
    "GroupMember",
    "GroupOut",
    "GroupPage",
    "GroupRow",
    "SideOut",
    "SplitOut",
    "SplitSide",
    "TreeCall",
    "TreeNodeOut",
]


class GroupRow(Out):
    """One line of the list of groups."""

    id: str
    """What /groups/{id} takes."""
    name: str
    """Readable; several groups may have it."""
    dataset: str | None
    task: str | None
    role: str | None
    step: int | None
    size: int
    scored: int
    passed: int
    """Of the scored, those with a reward of at least 0.5."""
    mean: FiniteFloat | None
    sd: FiniteFloat | None
    """Of a sample (divided by n - 1); null of fewer than two."""
    zero_variance: bool
    """At least two rewards, all equal."""
    rewards: list[FiniteFloat | None]
    """Of at most 64 members in the order they were stored; null where a member has none of the source read."""
    created: datetime
    """When its newest member was stored."""


class GroupPage(Out):
    """A page of groups; `next` is the cursor of the one after it."""

    items: list[GroupRow]
    next: str | None
    total: int
    total_exact: bool
    """False where there are more than `total` says (counting stops at 10,000)."""


class GroupMember(Out):
    """One rollout of a group."""

    number: int
    """In the order they were stored, from 1."""
    id: str
    external_id: str
    trial: str | None
    policy_version: str | None
    reward: FiniteFloat | None
    """By the source that the group is read by."""
    passed: bool | None
    outcome: FiniteFloat | None
    """By its own most trusted source, as lists show it."""
    outcome_source: Source | None
    n_spans: int
    n_calls: int | None
    """Null where its calls were not read."""
    path: int | None
    """Position in `tree` of the node it ends in; null where its calls were not read."""


class ArgumentOut(Out):
    """One argument of a call in the tree."""

    path: str
    """`legs[0].date`; "" where the arguments are no object."""
    value: str
    """As JSON, cut at 80 characters."""
    differs: bool
    """Whether a sibling calls the same tool with another value."""


class TreeCall(Out):
    """One call as the rollouts of a node made it."""

    step: int
    """Its number among the calls of each of them, from 1."""
    tool: str
    arguments: list[ArgumentOut]
    """At most six, those that differ first."""
    more_arguments: int
    splits: bool
    """Whether this is the call that the first split is about."""
    credit: FiniteFloat | None
    """Mean over the rollouts that the run asked for scored."""


class TreeNodeOut(Out):
    """Calls that the same rollouts share one after the other. Without calls: where some end and others go on."""

    parent: int
    """Position in `tree`; -1 of the first."""
    depth: int
    calls: list[TreeCall]
    """At most eight: the first, and the one that the split is about."""
    more_calls: int
    members: list[int]
    """Numbers of the rollouts."""
    scored: int
    mean: FiniteFloat | None
    leaf: bool


class SplitSide(Out):
    """Rollouts that go one way."""

    has: bool
    """Whether these call the tool, or call it with that value; those of the other side never do."""
    values: list[str]
    """The value; of the other side at most three that only they give."""
    more_values: int
    without: int
    """How many of them never call the tool, or never with that argument."""
    members: list[int]
    mean: FiniteFloat


class ChanceOut(Out):
    """Ways to deal the same rewards out among the rollouts, in which some split is as wide."""

    p: FiniteFloat
    as_wide: int
    ways: int
    exact: bool
    """Whether these are all ways there are; else they were drawn, always the same."""


class SplitOut(Out):
    """The tool, or the argument of one, that divides the rollouts as their rewards do."""

    step: int
    """The earliest call that makes the difference, counted among the calls of its rollout from 1."""
    last_step: int
    tool: str
    argument: str | None
    """Null where the split is whether the tool is called."""
    also: list[str]
    """Other arguments of the same calls that divide them in the same way."""
    low: SplitSide
    high: SplitSide
    gap: FiniteFloat
    """Mean reward of `high` minus that of `low`."""
    share: FiniteFloat
    """Of the squared spread of rewards, 0..1; the split with the largest is taken, of equals the first."""
    weak: bool
    """Fewer than three rollouts on a side."""
    chance: ChanceOut
    looked_at: int
    left_out: int
    """Scored rollouts on neither side: nothing showed them the value that the others copied."""


class GroupOut(Out):
    """One group: its rollouts, how they did, what they did, and what divides them."""

    id: str
    name: str
    dataset: str | None
    """Null where they differ, as is `task`."""
    task: str | None
    role: str | None
    step: int | None
    source: Source | None
    """Of the rewards: the most trusted that any member has; rewards of different sources are never mixed."""
    size: int
    scored: int
    passed: int
    mean: FiniteFloat | None
    sd: FiniteFloat | None
    """Of a sample (divided by n - 1); null of fewer than two."""
    zero_variance: bool
    pass_at_k: list[FiniteFloat]
    """For k = 1 to the number of scored rollouts (at most 1,000): 1 - C(n - c, k) / C(n, k)."""
    prompt: str
    """The first user message of the first rollout, cut at 400 characters."""
    prompts_differ: bool
    members: list[GroupMember]
    """At most 1,000."""
    tree: list[TreeNodeOut]
    """In preorder: a node, then what follows it."""
    split: SplitOut | None
    sentence: str
    """What divides the rollouts, or why nothing does."""
    a: str | None
    """Two rollouts to look at first: of the low and of the high side."""
    b: str | None
    run: str | None
    label: str | None
    notes: list[str]


class SideOut(Out):
    """One of two rollouts that stand side by side."""

    id: str
    external_id: str
    number: int
    reward: FiniteFloat | None
    passed: bool | None


class ArgumentValue(Out):
    """An argument of a call."""

    path: str
    """`legs[0].date`; "" where the arguments are no object."""
    value: str
    """As JSON, cut at 1,000 characters."""


class CellOut(Out):
    """A call or a message in one rollout."""

    span: int
    step: int | None
    """Number of the call among the calls of its rollout, from 1; null for a message."""
    kind: Literal["system", "user", "assistant", "tool_call"]
    name: str | None
    text: str
    """Of a call its arguments as logged; cut at 1,000 characters."""
    size: int
    """Characters of all of it."""
    arguments: list[ArgumentValue]
    result: str | None
    """How the result begins: 240 characters."""
    result_size: int
    is_error: bool
    credit: FiniteFloat | None
    folded: int
    """Reasoning blocks and results without a call between the cell before and this one."""


class ArgumentDifference(Out):
    """An argument that the two calls of a row have otherwise; null where one has it not."""

    path: str
    a: str | None
    b: str | None


class AlignedRow(Out):
    """What stands side by side: equal, of one tool or kind but different, or only in a or b."""

    state: Literal["same", "differs", "a", "b"]
    a: CellOut | None
    b: CellOut | None
    differences: list[ArgumentDifference]


class AlignmentOut(Out):
    """Two rollouts, row by row."""

    a: SideOut
    b: SideOut
    rows: list[AlignedRow]
    first: int | None
    """Position of the first row whose calls differ; null where all calls are the same."""
    scale: FiniteFloat
    """Largest size of a credit in the rows; 0 where there is none."""
    run: str | None
    label: str | None
    notes: list[str]
