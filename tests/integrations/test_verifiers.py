"""Advantages on the nodes of a live trace: by tokens, each sampled token exactly once."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.verifiers import Verifiers
from trajcredit.integrations.verifiers import assign, exported, traces


def node(parent, ids, mask):
    """As MessageNode (verifiers 0.4.0, v1/graph.py) before it is scored."""
    return SimpleNamespace(parent=parent, token_ids=ids, mask=mask, advantages=None)


def live(last=13):
    """The two turns, a node a message: the prompt of the second answer stands on its node."""
    nodes = [
        node(None, [7], [False]),
        node(0, [8, 11, 12], [False, True, True]),
        node(1, [21, 22], [False, False]),
        node(2, [23, last], [False, True]),
        node(3, [91], [False]),
    ]
    return SimpleNamespace(id="t", nodes=nodes)


def written(tmp_path, *rows):
    with (tmp_path / "a.jsonl").open("wb") as out:
        Verifiers().encode(iter(rows), out)
    return tmp_path / "a.jsonl"


def test_each_sampled_token_gets_its_number_however_the_nodes_are_cut(tmp_path) -> None:
    trace = live()
    assert assign(trace, exported(written(tmp_path, two_turns()))) == 3
    assert [each.advantages for each in trace.nodes] == [None, [0.5, 0.5], None, [-0.25], None]


def test_a_branch_of_its_own_name_goes_on_its_own_nodes(tmp_path) -> None:
    trace = live()
    trace.nodes.append(node(1, [41, 42], [False, True]))
    branch = token_row([7, 8], [11, 12, 41, 42], [0, 0, 0, 1], [0, 0, 0, 6.0], trajectory="t:branch-1")
    assign(trace, exported(written(tmp_path, two_turns(), branch)))
    assert [each.advantages for each in trace.nodes] == [None, [0.5, 0.5], None, [-0.25], None, [6.0]]


@pytest.mark.parametrize("second", [[41, 42], [41]], ids=["equal", "a beginning"])
@pytest.mark.parametrize("run_first", [True, False])
def test_siblings_that_sampled_alike_each_have_their_own_numbers(tmp_path, second, run_first) -> None:
    """The longest branch, of equals the last, has the trace's name; the other is branch 0."""
    trace = SimpleNamespace(
        id="t", nodes=[node(None, [7], [False]), node(0, [41, 42], [True, True]), node(0, second, [True] * len(second))]
    )
    run = token_row([7], second, [1] * len(second), [2.0] * len(second), trajectory="t")
    other = token_row([7], [41, 42], [1, 1], [5.0, 5.0], trajectory="t:branch-0")
    assign(trace, exported(written(tmp_path, *((run, other) if run_first else (other, run)))))
    assert [each.advantages for each in trace.nodes] == [None, [5.0, 5.0], [2.0] * len(second)]


def test_rows_of_one_trajectory_go_on_the_branches_that_they_are(tmp_path) -> None:
    trace = live()
    trace.nodes.append(node(None, [7, 9], [False, False]))
    trace.nodes.append(node(5, [31, 32], [True, True]))
    later = token_row([7, 9], [31, 32], [1, 1], [2.0, 3.0], row=1)
    assign(trace, exported(written(tmp_path, two_turns(), later)))
    assert trace.nodes[6].advantages == [2.0, 3.0]


def test_a_node_that_two_lines_train_differently_is_refused_and_nothing_changes(tmp_path) -> None:
    trace = live()
    trace.nodes.append(node(1, [41, 42], [False, True]))
    branch = token_row([7, 8], [11, 12, 41, 42], [1, 1, 0, 1], [1, 1, 0, 6.0], trajectory="t:branch-1")
    with pytest.raises(InputError, match="'t:branch-1' and another line differ about node 1 of 't'"):
        assign(trace, exported(written(tmp_path, two_turns(), branch)))
    assert [each.advantages for each in trace.nodes] == [None] * 6


@pytest.mark.parametrize(
    ("trace", "what"),
    [
        pytest.param(live(last=14), "no branch of the trace has the tokens of 't'", id="other tokens"),
        pytest.param(SimpleNamespace(id="u", nodes=[]), "no advantages of trace 'u'", id="not exported"),
        pytest.param(
            SimpleNamespace(id="t", nodes=[*live().nodes, node(4, [5], [True])]),
            "node 5 of trace 't' has sampled tokens that were not exported",
            id="a turn was cut off",
        ),
        pytest.param(
            SimpleNamespace(id="t", nodes=[node(None, [7, 8, 11, 12, 21, 22, 23, 13], [False] * 7 + [True])]),
            "'t' trains a token that the trace did not sample",
            id="another mask",
        ),
    ],
)
def test_a_trace_that_is_not_the_one_exported_is_refused(tmp_path, trace, what) -> None:
    with pytest.raises(InputError, match=what):
        assign(trace, exported(written(tmp_path, two_turns())))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"advantages":[0.5,0.5]', '"advantages":[0.5]', "node 1: lists of one length"),
        ('"mask":[true,true]', '"mask":[true]', "node 1: lists of one length"),
        ('"parent":2', '"parent":3', "node 3: its parent is 3, which is no earlier node"),
    ],
)
def test_a_broken_line_is_named(tmp_path, old, new, what) -> None:
    path = written(tmp_path, two_turns())
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=what):
        exported(path)


def test_traces_need_verifiers(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "verifiers.v1", None)
    with pytest.raises(InputError, match="this plug-in needs verifiers"):
        next(traces(written(tmp_path, two_turns())))
