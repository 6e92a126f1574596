"""The columns of a batch: groups, keys, pools, offsets."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import batch_of, run
from tests.laws import any_trajectory
from trajcredit.batching import pack
from trajcredit.batching.groups import group_key, group_names
from trajcredit.batching.keys import call_keys, state_keys
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.model import KIND_CODES, Span, SpanTokens, Tool, Trajectory


def bare(name: str, **fields) -> Trajectory:
    return Trajectory(id=name, spans=[Span("assistant", 0)], **fields)


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        pytest.param({"group": "g"}, {"group": "g"}, True, id="the log's own group"),
        pytest.param(
            {"group": "g", "dataset": "a"}, {"group": "g", "dataset": "b"}, True, id="wherever its shards lie"
        ),
        pytest.param(
            {"group": "g", "step": 1}, {"group": "g", "step": 2}, False, id="another training step, another round"
        ),
        pytest.param(
            {"group": "g", "role": "sub"}, {"group": "g"}, False, id="a sub-agent is compared with sub-agents"
        ),
        pytest.param({"task": "7", "dataset": "a"}, {"task": "7", "dataset": "a"}, True, id="one task of one data set"),
        pytest.param(
            {"task": "7", "dataset": "a"}, {"task": "7", "dataset": "b"}, False, id="the same number elsewhere"
        ),
        pytest.param({"task": "7", "project": "p"}, {"task": "7", "project": "q"}, False, id="another project"),
        pytest.param({}, {}, False, id="neither group nor task: alone"),
    ],
)
def test_who_is_in_a_group(a, b, same):
    assert (group_key(bare("x", **a)) == group_key(bare("y", **b))) is same


def test_a_group_can_be_asked_for():
    a, b = bare("x", group="g", task="1", step=3), bare("y", group="h", task="1", step=3)
    assert group_key(a, "task+step") == group_key(b, "task+step")
    assert group_key(bare("z"), "task") == ("alone", "z")
    with pytest.raises(InputError, match="cannot group by colour"):
        group_key(a, "colour")


def test_two_groups_never_share_a_name():
    keys = [group_key(bare("x", group="g")), group_key(bare("y", group="g", step=1)), group_key(bare("g"))]
    names = group_names(keys)
    assert len(set(names.values())) == 3
    assert names[keys[1]] == "default/g/1"
    assert group_names(keys[::-1]) == names
    assert group_names(keys[:1]) == {keys[0]: "g"}


def test_a_group_of_several_policy_versions_is_reported():
    batch = batch_of(
        bare("x", group="g", policy_version="1", terminated=True),
        bare("y", group="g", policy_version="2", terminated=True),
    )
    assert batch.policy_versions == ("1", "2")
    assert batch.policy_version.tolist() == [0, 1]
    assert "mixed-policy" in [note.code for note in batch.notes]


# ---------------------------------------------------------------- keys


def calls(*arguments, name="book") -> Trajectory:
    return Trajectory(id="t", spans=[Span("tool_call", i, name=name, arguments=a) for i, a in enumerate(arguments)])


def test_the_same_call_has_the_same_key_whatever_its_spelling():
    keys = call_keys(calls({"a": 6, "b": [1.0]}, {"b": [1], "a": 6.0}, {"a": 6, "b": [2]}, {"a": "6", "b": [1]}))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert call_keys(calls({"a": 6}))[0] != call_keys(calls({"a": 6}, name="pay"))[0]


def test_broken_arguments_count_as_their_text():
    spans = [Span("tool_call", 0, name="x", arguments_raw=raw) for raw in ('{"a": ', '{"a": ', '{"b": ')]
    keys = call_keys(Trajectory(id="t", spans=spans))
    assert keys[0] == keys[1] != keys[2]


def told(*facts: tuple[str, str], writes: bool = False) -> int:
    """The state after these calls and results."""
    spans = [Span("user", -1, "go")]
    for turn, (call, result) in enumerate(facts):
        spans += [
            Span("tool_call", turn, name=call, arguments={}),
            Span("tool_result", turn, result, result_of=len(spans)),
        ]
    trajectory = Trajectory(id="t", spans=[*spans, Span("assistant", len(facts))])
    written = np.array([s.kind == "tool_call" and writes for s in trajectory.spans])
    return state_keys(trajectory, call_keys(trajectory), written, {})[-1]


def test_what_is_known_does_not_depend_on_the_order_it_was_learnt_in():
    assert told(("a", "1"), ("b", "2")) == told(("b", "2"), ("a", "1"))
    assert told(("a", "1"), ("b", "2")) != told(("a", "2"), ("b", "1"))


def test_learning_a_thing_twice_is_learning_it_once_but_doing_it_twice_is_not():
    assert told(("a", "1"), ("a", "1")) == told(("a", "1"))
    assert told(("a", "1"), ("a", "1"), writes=True) != told(("a", "1"), writes=True)


def test_keys_are_the_same_in_every_process():
    """Written out, so that a change of the hash is seen: stored runs compare by it."""
    assert call_keys(calls({"a": 6}))[0] == 169443488145138011
    assert told(("a", "1")) == 4952217497889254878


# ---------------------------------------------------------------- pools


def tooled(name: str, *tools: str, dataset: str = "d") -> Trajectory:
    return bare(name, dataset=dataset, tools=[Tool(tool) for tool in tools])


def test_tasks_that_share_more_than_half_of_their_tools_share_a_pool():
    runs = [tooled("a", "x", "y", "z"), tooled("b", "x", "y", "z", "w"), tooled("c", "x", "q"), tooled("d", "x", "q")]
    assert batch_of(*runs).pool.tolist() == [0, 0, 1, 1]


@given(st.lists(st.frozensets(st.sampled_from("abcdefg"), min_size=1), max_size=12))
def test_pools_are_the_components_of_the_overlap_graph(sets):
    overlaps = networkx.Graph()
    overlaps.add_nodes_from(range(len(sets)))
    overlaps.add_edges_from(
        (i, j) for i, a in enumerate(sets) for j, b in enumerate(sets) if len(a & b) / len(a | b) > 0.5
    )
    found = batch_of(*(tooled(str(k), *names) for k, names in enumerate(sets))).pool.tolist()
    for component in networkx.connected_components(overlaps):
        assert len({found[k] for k in component}) == 1
    assert len(set(found)) == networkx.number_connected_components(overlaps)


def test_undeclared_tools_are_those_the_data_set_uses():
    used = [Trajectory(id=n, dataset="d", spans=[Span("tool_call", 0, name=n)]) for n in ("x", "y")]
    other = Trajectory(id="o", dataset="e", spans=[Span("tool_call", 0, name="q")])
    assert batch_of(*used, other).pool.tolist() == [0, 0, 1]


# ---------------------------------------------------------------- columns


def test_the_columns_of_two_trajectories_lie_end_to_end():
    batch = batch_of(
        run("ucra", 1.0, edges=[(1, 3)]), run("ua", 0.0, truncated=True, bootstrap=0.5, values=[None, 0.25])
    )
    assert batch.span_offsets.tolist() == [0, 4, 6]
    assert batch.kind.tolist() == [
        KIND_CODES[k] for k in ("user", "tool_call", "tool_result", "assistant", "user", "assistant")
    ]
    assert batch.action_mask.tolist() == [False, True, False, True, False, True]
    assert batch.tool.tolist() == [-1, 0, 0, -1, -1, -1]
    assert batch.turn.tolist() == [-1, 0, 0, 1, -1, 0]
    assert batch.truncated.tolist() == [False, True]
    assert batch.terminated.tolist() == [True, False]
    assert batch.bootstrap.tolist() == [0.0, 0.5]
    np.testing.assert_array_equal(batch.values, [np.nan] * 5 + [0.25])
    assert np.isnan(batch.q_values).all()
    assert batch.segment.tolist() == [-1] * 6
    assert [batch.trajectory_of(span) for span in range(6)] == [0, 0, 0, 0, 1, 1]
    edges = {
        (int(p), c) for c in range(6) for p in batch.parents[batch.parent_offsets[c] : batch.parent_offsets[c + 1]]
    }
    assert {(1, 2), (1, 3)} <= edges
    assert all(p < c and batch.trajectory_of(p) == batch.trajectory_of(c) for p, c in edges)


def test_token_counts_come_from_the_log_or_are_unknown():
    spans = [Span("assistant", 0, tokens=t) for t in (None, SpanTokens(n=7), SpanTokens(ids=[1, 2]), SpanTokens())]
    assert batch_of(Trajectory(id="t", spans=spans)).n_tokens.tolist() == [-1, 7, 2, -1]


def test_a_truncated_run_without_a_forecast_has_no_bootstrap():
    assert np.isnan(batch_of(run("a", 1.0, truncated=True)).bootstrap[0])


def test_an_end_the_log_does_not_tell_counts_as_terminated_and_is_reported():
    batch = batch_of(bare("x"))
    assert batch.terminated.tolist() == [True]
    assert [note.code for note in batch.notes] == ["unscored", "unknown-end"]


def test_two_trajectories_of_one_id_are_refused():
    with pytest.raises(InputError, match="two trajectories have the id 'x'"):
        batch_of(bare("x"), bare("x"))


def test_nothing_packs_to_nothing():
    batch = pack([])
    assert (batch.n_spans, batch.n_trajectories) == (0, 0)
    assert batch.span_offsets.tolist() == [0]


@given(any_trajectory())
def test_any_trajectory_packs(trajectory):
    batch = pack(build_graphs([trajectory]))
    assert batch.n_spans == len(trajectory.spans)
    assert not np.isinf(batch.rewards).any()
