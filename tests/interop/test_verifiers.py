"""The real verifiers: branches of an exported trace have the rows' tokens and advantages; live traces get them too."""

from __future__ import annotations

import pytest

import trajcredit as tc
from tests.exporters.token_rows import token_row, two_turns
from trajcredit.exporters.verifiers import Verifiers
from trajcredit.integrations.verifiers import assign, exported, traces

pytestmark = pytest.mark.interop

LATER = token_row([7, 8], [11, 21, 41], [0, 0, 1], [0.0, 0.0, 0.1], row=1, logprobs=[0.0, 0.0, -0.3])


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("verifiers", reason="verifiers is not installed")
    with (tmp_path / "a.jsonl").open("wb") as out:
        Verifiers().encode(iter([two_turns(), LATER]), out)
    return tmp_path / "a.jsonl"


def test_a_branch_spreads_our_numbers_over_its_tokens(path) -> None:
    [trace] = traces(path)
    first, second = trace.branches
    assert first.token_ids == two_turns().token_ids.tolist()
    assert first.advantages == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25]
    assert first.logprobs == [0.0, 0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75]
    assert first.sampled_mask == [False, False, True, True, False, False, False, True]
    assert second.token_ids == LATER.token_ids.tolist()
    # the shared 11 keeps the number of the row that sampled it: a trainer trains it in the first branch
    assert second.advantages == [0.0, 0.0, 0.5, 0.0, pytest.approx(0.1, abs=1e-8)]


def test_branches_share_the_nodes_they_have_in_common(path) -> None:
    [trace] = traces(path)
    first, second = trace.branches
    assert [node.token_ids for node in second.nodes] == [[7, 8], [11], [21], [41]]
    assert all(own is other for own, other in zip(first.nodes[:2], second.nodes[:2], strict=True))


def test_the_trace_tells_reward_and_group(path) -> None:
    [trace] = traces(path)
    assert (trace.id, trace.task.key, trace.reward, trace.has_error) == ("t", "g", 1.0, False)
    assert trace.num_turns == sum(node.sampled for node in trace.nodes)


def test_advantages_go_on_a_trace_with_nodes_of_its_own(path) -> None:
    from verifiers.v1.graph import MessageNode

    said = {"role": "assistant", "content": "x"}
    shapes = [
        (None, [7, 8], [False, False]),
        (0, [11, 12], [True, True]),
        (1, [21, 22, 23, 13], [False, False, False, True]),
    ]
    nodes = [
        MessageNode.model_validate({"parent": parent, "message": said, "token_ids": ids, "mask": mask})
        for parent, ids, mask in shapes
    ]
    [like] = traces(path)
    trace = like.model_copy(update={"nodes": nodes})
    with_one_row = path.with_name("b.jsonl")
    with with_one_row.open("wb") as out:
        Verifiers().encode(iter([two_turns()]), out)
    assert assign(trace, exported(with_one_row)) == 3
    assert trace.branches[0].advantages == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25]


def test_what_verifiers_reads_is_what_its_wire_gives_back(path) -> None:
    [trace] = traces(path)
    again = type(trace).model_validate(trace.model_dump(mode="python"))
    assert [branch.advantages for branch in again.branches] == [branch.advantages for branch in trace.branches]


def rollout(trace_id, reward, city):
    """A trace as an environment leaves it: a question, a call, its result, an answer."""
    from verifiers.v1 import WireTrace

    call = {"id": "1", "name": "search", "arguments": '{"city": "LHR"}'}
    messages = [
        ({"role": "user", "content": "book it"}, [7], 0),
        ({"role": "assistant", "content": None, "tool_calls": [call]}, [8, city, 12], 2),
        ({"role": "tool", "tool_call_id": "1", "content": "found"}, [21, 22], 0),
        ({"role": "assistant", "content": "done"}, [23, 13], 1),
    ]
    nodes = [
        {
            "parent": n - 1 if n else None,
            "message": message,
            "sampled": sampled > 0,
            "token_ids": ids,
            "mask": [False] * (len(ids) - sampled) + [True] * sampled,
            "logprobs": [-0.5] * sampled,
        }
        for n, (message, ids, sampled) in enumerate(messages)
    ]
    return WireTrace.model_validate(
        {
            "id": trace_id,
            "task": {"type": "booking", "data": {"idx": 0, "prompt": "book it"}, "key": "k"},
            "agent": {"config": {}, "name": "agent"},
            "nodes": nodes,
            "rewards": {"booked": {"score": reward, "weight": 1.0}},
            "is_completed": True,
            "ok": True,
        }
    )


def test_from_their_traces_and_back_on_their_traces(tmp_path) -> None:
    pytest.importorskip("verifiers", reason="verifiers is not installed")
    live = [rollout("a", 1.0, 11), rollout("b", 0.0, 14)]
    log = tmp_path / "traces.jsonl"
    log.write_text("".join(f"{trace.model_dump_json(exclude_none=True)}\n" for trace in live), encoding="utf-8")
    credit = tc.attribute(tc.batch(tc.read(str(log))), "rloo")
    tc.export(credit, to="verifiers", out=tmp_path / "a.jsonl")
    for trace, number in zip(live, [1.0, -1.0], strict=True):
        assert assign(trace, exported(tmp_path / "a.jsonl")) == 3
        assert trace.branches[0].advantages == [0.0, 0.0, number, number, 0.0, 0.0, 0.0, number]
