"""Groups as people look at them: the list, and one group with its tree of calls and the split that matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.service.grouping_calls import MOST_CALLS, Call, Rollout, shown
from trajcredit.service.grouping_figures import mean_of, pass_at_k, spread_of
from trajcredit.service.grouping_reading import Read, chosen_members, read_members
from trajcredit.service.grouping_split import Split, first_split
from trajcredit.service.grouping_tree import Node, Step, tree
from trajcredit.service.grouping_words import split_sentence
from trajcredit.service.wording import count
from trajcredit.store import Store, groups, runs
from trajcredit.store.filters import PASS
from trajcredit.store.group_pages import GroupHead, GroupSort, find_group, group_page
from trajcredit.store.pages import Listed
from trajcredit.store.runs import Run

__all__ = ["Argument", "Group", "GroupList", "GroupRow", "GroupSort", "Made", "Member", "TreeNode", "group", "grouped"]

MOST_LISTED = 1000
"""Members that are listed; the rest is counted."""
MOST_DOTS = 64
MOST_STEPS = 8
"""Calls of one node that are shown."""
MOST_ARGUMENTS = 6
LONGEST_VALUE = 80
"""Characters of an argument's value in the tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One line of the list of groups."""

    id: str
    name: str
    dataset: str | None
    task: str | None
    role: str | None
    step: int | None
    size: int
    scored: int
    passed: int
    mean: float | None
    sd: float | None
    zero_variance: bool
    """At least two rewards, all equal: nothing for the group's own baseline to learn from."""
    rewards: tuple[float | None, ...]
    """Of the members in the order they were stored, at most MOST_DOTS."""
    created: str
    """When the newest member was stored."""


@dataclass(frozen=True, slots=True)
class GroupList:
    """A page of groups, and the cursor of the one after it; null on the last."""

    items: tuple[GroupRow, ...]
    next: str | None
    total: int
    total_exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One rollout of a group."""

    number: int
    """In the order they were stored, from 1."""
    id: str
    external_id: str
    trial: str | None
    policy_version: str | None
    reward: float | None
    """By the source that the group is read by; null where that gave none."""
    passed: bool | None
    outcome: float | None
    """By its own most trusted source, as the list of trajectories shows it."""
    outcome_source: str | None
    n_spans: int
    n_calls: int | None
    """Null where its calls were not read."""
    path: int | None
    """Position among the nodes of the tree of the one it ends in."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call; a long value is cut."""

    path: str
    value: str
    """As JSON."""
    differs: bool
    """Whether a sibling calls the same tool with another value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One call as the rollouts of a node made it."""

    step: int
    tool: str
    arguments: tuple[Argument, ...]
    more_arguments: int
    splits: bool
    """Whether this is the call that the first split is about."""
    credit: float | None
    """Mean credit of the run asked for, over the rollouts it scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """Calls that the same rollouts share. Nodes stand in preorder; `parent`: the position of the one above, -1 none."""

    parent: int
    depth: int
    calls: tuple[Made, ...]
    more_calls: int
    members: tuple[int, ...]
    scored: int
    mean: float | None
    leaf: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group: its rollouts, how they did, what they did, and what divides them."""

    id: str
    name: str
    dataset: str | None
    task: str | None
    role: str | None
    step: int | None
    source: str | None
    """Of the rewards; null where nobody gave any."""
    size: int
    scored: int
    passed: int
    mean: float | None
    sd: float | None
    zero_variance: bool
    pass_at_k: tuple[float, ...]
    prompt: str
    prompts_differ: bool
    members: tuple[Member, ...]
    tree: tuple[TreeNode, ...]
    split: Split | None
    sentence: str
    a: str | None
    """A rollout of the low side of the split, else one that failed: the left one of two to look at first."""
    b: str | None
    run: str | None
    label: str | None
    notes: tuple[str, ...]


def grouped(
    store: Store,
    project: str,
    begins: str = "",
    sort: GroupSort = "-created",
    cursor: str | None = None,
    limit: int = 100,
) -> GroupList:
    """The page of groups that begins after `cursor`; `begins` is how the name does."""
    with store.read() as conn:
        page = group_page(conn, project, begins, sort, cursor, limit)
        rewards = groups.rewards(conn, project, [one.key for one in page.groups])
    items = tuple(_row(one, rewards[one.key]) for one in page.groups)
    return GroupList(items, page.next, page.total, not page.more)


def group(store: Store, project: str, ref: str, run: str | None = None) -> Group:
    """The group of our id, or of `ext:` and its name; `run`: our id of one, or an attributor, for credit of calls."""
    with store.read() as conn:
        of = None if run is None else runs.find(conn, project, run)
        head = find_group(conn, project, ref)
        members = groups.members(conn, project, head.key)
        source, rewards = groups.by_one_source([(one.outcome, one.outcome_source) for one in members])
        chosen = chosen_members(groups.sizes(conn, project, head.key))
        documents = groups.documents(conn, project, [members[at].id for at in chosen])
        read = read_members(chosen, documents, rewards)
        said = {} if of is None else groups.credits(conn, of.id, [one.id for one in read.rollouts])
    nodes, split = tree(read.rollouts), first_split(read.rollouts)
    found = split if isinstance(split, Split) else None
    given = [reward for reward in rewards if reward is not None]
    passed = sum(reward >= PASS for reward in given)
    a, b = _two(found, members, rewards)
    return Group(
        id=head.key,
        name=head.name,
        dataset=_common([one.dataset for one in members]),
        task=_common([one.task for one in members]),
        role=head.role,
        step=head.step,
        source=source,
        size=len(members),
        scored=len(given),
        passed=passed,
        mean=mean_of(given),
        sd=spread_of(given),
        zero_variance=_is_flat(given),
        pass_at_k=tuple(pass_at_k(len(given), passed)),
        prompt=read.prompt,
        prompts_differ=read.prompts_differ,
        members=_members(members, rewards, read.rollouts, nodes),
        tree=tuple(_node(node, found, said) for node in nodes),
        split=found,
        sentence=split_sentence(split),
        a=a,
        b=b,
        run=None if of is None else of.id,
        label=None if of is None else of.asked.label,
        notes=tuple(_notes(members, source, rewards, read, of, said)),
    )


def _row(one: GroupHead, rewards: Sequence[float | None]) -> GroupRow:
    given = [reward for reward in rewards if reward is not None]
    return GroupRow(
        id=one.key,
        name=one.name,
        dataset=one.dataset,
        task=one.task,
        role=one.role,
        step=one.step,
        size=len(rewards),
        scored=len(given),
        passed=sum(reward >= PASS for reward in given),
        mean=mean_of(given),
        sd=spread_of(given),
        zero_variance=_is_flat(given),
        rewards=tuple(rewards[:MOST_DOTS]),
        created=one.created,
    )


def _is_flat(given: Sequence[float]) -> bool:
    return len(given) >= 2 and min(given) == max(given)


def _common(values: Sequence[str | None]) -> str | None:
    """What all have; null where they differ."""
    return values[0] if len(set(values)) == 1 else None


def _members(
    members: Sequence[Listed],
    rewards: Sequence[float | None],
    rollouts: Sequence[Rollout],
    nodes: Sequence[Node],
) -> tuple[Member, ...]:
    calls = {one.number: len(one.calls) + one.more_calls for one in rollouts}
    ends = {number: at for at, node in enumerate(nodes) if node.leaf for number in node.members}
    return tuple(
        Member(
            number=number,
            id=one.id,
            external_id=one.external_id,
            trial=one.trial,
            policy_version=one.policy_version,
            reward=reward,
            passed=None if reward is None else reward >= PASS,
            outcome=one.outcome,
            outcome_source=one.outcome_source,
            n_spans=one.n_spans,
            n_calls=calls.get(number),
            path=ends.get(number),
        )
        for number, (one, reward) in enumerate(zip(members[:MOST_LISTED], rewards, strict=False), 1)
    )


def _node(node: Node, split: Split | None, said: Mapping[str, F64]) -> TreeNode:
    kept = _shown(node.steps, split)
    return TreeNode(
        parent=node.parent,
        depth=node.depth,
        calls=tuple(_made(node.steps[at], node.differs if at == 0 else (), split, said) for at in kept),
        more_calls=len(node.steps) - len(kept),
        members=node.members,
        scored=node.scored,
        mean=node.mean,
        leaf=node.leaf,
    )


def _shown(steps: Sequence[Step], split: Split | None) -> list[int]:
    """The first calls, and where it is beyond them the one that the split is about in place of the last."""
    first = list(range(min(MOST_STEPS, len(steps))))
    beyond = (at for at in range(MOST_STEPS, len(steps)) if split and _is_split(split, steps[at].step, steps[at].call))
    here = any(split is not None and _is_split(split, steps[at].step, steps[at].call) for at in first)
    at = None if here else next(beyond, None)
    return first if at is None else [*first[:-1], at]


def _made(step: Step, differs: Sequence[str], split: Split | None, said: Mapping[str, F64]) -> Made:
    found = sorted(step.call.arguments, key=lambda one: one[0] not in differs)
    arguments = [Argument(path, _cut(value), path in differs) for path, value in found[:MOST_ARGUMENTS]]
    return Made(
        step=step.step,
        tool=step.call.tool,
        arguments=tuple(arguments),
        more_arguments=len(found) - len(arguments),
        splits=split is not None and _is_split(split, step.step, step.call),
        credit=_mean_credit(step, said),
    )


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…"


def _is_split(split: Split, step: int, call: Call) -> bool:
    """Whether a call is what a split is about: with a value that a side is told by, or the tool where it begins."""
    if split.tool != call.tool:
        return False
    if split.argument is None:
        return split.step <= step <= split.last_step
    values = (*split.low.values, *split.high.values)
    return any(path == split.argument and shown(value) in values for path, value in call.arguments)


def _mean_credit(step: Step, said: Mapping[str, F64]) -> float | None:
    given = [float(said[name][span]) for name, span in step.spans if name in said and not np.isnan(said[name][span])]
    return mean_of(given)


def _two(
    split: Split | None, members: Sequence[Listed], rewards: Sequence[float | None]
) -> tuple[str | None, str | None]:
    """Two rollouts that show the difference: of either side of the split, else one that failed and one that passed."""
    if split is not None:
        return members[split.low.members[0] - 1].id, members[split.high.members[0] - 1].id
    order = sorted(range(len(members)), key=lambda at: (rewards[at] is None, rewards[at] or 0.0, at))
    scored = [at for at in order if rewards[at] is not None]
    if len(scored) > 1 and rewards[scored[0]] != rewards[scored[-1]]:
        return members[scored[0]].id, members[scored[-1]].id
    return members[0].id, members[1].id if len(members) > 1 else None


def _notes(
    members: Sequence[Listed],
    source: str | None,
    rewards: Sequence[float | None],
    read: Read,
    run: Run | None,
    said: Mapping[str, F64],
) -> list[str]:
    """What was left out or is not as one would think, each in a sentence."""
    found = []
    missing = sum(reward is None for reward in rewards)
    if missing and source is not None:
        found.append(f"{count(missing, 'rollout')} without a reward of source {source}: in no figure and on no side.")
    versions = {one.policy_version for one in members}
    if len(versions) > 1:
        found.append(f"The rollouts are of {count(len(versions), 'policy version')}: they may differ for that alone.")
    if len(read.rollouts) < len(members):
        part = f"{len(read.rollouts):,} of {count(len(members), 'rollout')}"
        found.append(f"Tree and split are of {part}, spread evenly; figures are of all.")
    if len(members) > MOST_LISTED:
        found.append(f"{count(len(members) - MOST_LISTED, 'rollout')} not listed, after the first {MOST_LISTED:,}.")
    cut = sum(one.more_calls > 0 for one in read.rollouts)
    if cut:
        found.append(f"Of {count(cut, 'rollout')} only the first {MOST_CALLS:,} calls are compared.")
    if run is not None:
        found += _of_run(run, len(read.rollouts) - len(said))
    return found


def _of_run(run: Run, unread: int) -> list[str]:
    found = []
    if unread:
        found.append(f"The run did not read {count(unread, 'rollout')} of these: in no mean credit.")
    if run.asked.group_by is not None:
        found.append(f"The run grouped rollouts by {run.asked.group_by}: its baselines are of other groups than this.")
    if run.stale is not None:
        found.append(f"The run is stale: {run.stale}.")
    return found
