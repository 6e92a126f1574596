"""The tree of calls: who shares what, in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.service.rollouts import members, rollout
from trajcredit.service.grouping_calls import Rollout
from trajcredit.service.grouping_tree import Node, tree

BOOKED = members(
    rollout("a", 0.0, "search to=PRX", "select id=1", "pay"),
    rollout("b", 1.0, "search to=PAR", "select id=2", "pay"),
    rollout("c", 0.0, "search to=PRX", "select id=1", "pay"),
    rollout("d", 1.0, "search to=PAR"),
)


def said(nodes: list[Node]) -> list[tuple[int, str, tuple[int, ...], float | None, bool]]:
    return [
        (node.depth, " ".join(step.call.tool for step in node.steps), node.members, node.mean, node.leaf)
        for node in nodes
    ]


def test_rollouts_share_what_they_begin_with_and_chains_are_one_node() -> None:
    assert said(tree(BOOKED)) == [
        (0, "", (1, 2, 3, 4), 0.5, False),
        (1, "search select pay", (1, 3), 0.0, True),
        (1, "search", (2, 4), 1.0, False),
        (2, "select pay", (2,), 1.0, True),
        (2, "", (4,), 1.0, True),
    ], "the same path is one leaf, and a rollout that ends where another goes on has a node without calls"
    assert [node.parent for node in tree(BOOKED)] == [-1, 0, 0, 2, 2]


def test_an_argument_differs_where_a_sibling_has_it_otherwise() -> None:
    nodes = tree(members(rollout("a", 0.0, "search to=PRX day=3"), rollout("b", 1.0, "search day=3 to=PAR")))
    assert [node.differs for node in nodes] == [(), ("to",), ("to",)]
    nodes = tree(members(rollout("a", 0.0, "search to=PRX"), rollout("b", 1.0, "pay")))
    assert [node.differs for node in nodes] == [(), (), ()], "another tool is no other argument"


def test_steps_count_calls_from_one_and_know_where_each_rollout_has_them() -> None:
    first = tree(BOOKED)[1]
    assert [(step.step, step.spans) for step in first.steps] == [
        (1, (("a", 1), ("c", 1))),
        (2, (("a", 3), ("c", 3))),
        (3, (("a", 5), ("c", 5))),
    ]


def test_the_unscored_are_in_the_tree_and_in_no_mean() -> None:
    nodes = tree(members(rollout("a", 1.0, "look"), rollout("b", None, "look")))
    assert [(node.members, node.scored, node.mean) for node in nodes] == [((1, 2), 1, 1.0)]
    assert tree(members(rollout("a", None)))[0].mean is None


def test_no_rollouts_no_nodes_and_no_calls_one() -> None:
    assert tree([]) == []
    assert said(tree(members(rollout("a", 1.0), rollout("b", 0.0)))) == [(0, "", (1, 2), 0.5, True)]


calls = st.lists(st.sampled_from(["look at=A", "look at=B", "take", "take what=A"]), max_size=5)


@given(st.lists(st.tuples(calls, st.sampled_from([0.0, 1.0, None])), min_size=1, max_size=7), st.data())
def test_laws_of_the_tree(runs: list[tuple[list[str], float | None]], data: st.DataObject) -> None:
    group = members(*(rollout(f"t{n}", reward, *own) for n, (own, reward) in enumerate(runs)))
    nodes = tree(group)
    assert tree(data.draw(st.permutations(group))) == nodes, "the order in which they are given changes nothing"
    ends = [number for node in nodes if node.leaf for number in node.members]
    assert sorted(ends) == [one.number for one in group], "each ends in one leaf"
    for one in group:
        assert path(nodes, one) == [call.key for call in one.calls]
    for at, node in enumerate(nodes):
        children = [own for own in nodes if own.parent == at]
        assert len(children) != 1, "a chain is one node"
        assert node.leaf == (not children)
        if children:
            assert sorted(number for own in children for number in own.members) == list(node.members)


def path(nodes: list[Node], one: Rollout) -> list[int]:
    own = [node for node in nodes if one.number in node.members]
    return [step.call.key for node in own for step in node.steps]
