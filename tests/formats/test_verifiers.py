"""Results and traces of verifiers environments."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.model import ACTION_KINDS, Note, Reward, SpanTokens, SpawnedBy, Trajectory, TurnTokens
from trajcredit.tokens import Aligned, align

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}


def row(example: Any = 0, prompt: str = "go", reward: Any = 1.0, **more: Any) -> dict[str, Any]:
    said = [
        {"role": "assistant", "content": "", "tool_calls": [json.dumps(CALL)]},
        {"role": "tool", "content": "1", "tool_calls": None},
        {"role": "assistant", "content": "Done.", "tool_calls": None},
    ]
    return {
        "id": example,
        "prompt": [{"role": "user", "content": prompt}],
        "completion": said,
        "reward": reward,
        "answer": "x",
        **more,
    }


def trajectories(*rows: Any) -> list[Trajectory]:
    return [t for t in read_lines(*rows) if isinstance(t, Trajectory)]


def trained(got: Trajectory) -> Aligned:
    """Its token rows with an advantage of 2 on every action."""
    return align(got, np.array([2.0 if span.kind in ACTION_KINDS else np.nan for span in got.spans]), "g")


def columns(found: Aligned) -> list[tuple[list[int], list[int], list[int]]]:
    assert not found.failures
    return [(row.prompt_ids.tolist(), row.response_ids.tolist(), row.response_mask.tolist()) for row in found.rows]


def test_calls_saved_as_text_are_paired_in_order() -> None:
    got = read_one(row(info={"oai_tools": [{"type": "function", "function": {"name": "f"}}]}))
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert [(c.name, c.arguments, c.call_id) for c in calls(got)] == [("f", {"n": 1}, "a")]
    assert pairs(got) == [("f", "1", None)]
    assert (got.rewards, got.answer, [tool.name for tool in got.tools]) == ([Reward(1.0)], "x", ["f"])


def test_rollouts_of_an_example_are_trials_of_one_task() -> None:
    found = trajectories(row(3), row(3, reward=0.0), row(4, "other"))
    assert [(t.task, t.trial, t.id) for t in found] == [
        ("3", "0", "a.jsonl:3:0"),
        ("3", "1", "a.jsonl:3:1"),
        ("4", "0", "a.jsonl:4:0"),
    ]


def test_an_id_whose_rows_have_different_prompts_is_no_task() -> None:
    found = trajectories(row(0, "x"), row(0, "y"), row(1, "x"))
    assert len({t.task for t in found}) == 2
    assert found[0].task == found[2].task
    assert all("id-not-task" in codes(t) for t in found)


def test_tokens_of_the_steps_are_those_of_the_turns() -> None:
    steps = [
        {"tokens": {"prompt_ids": [1], "completion_ids": [2, 3], "completion_logprobs": [-0.5, -1.0]}},
        {"tokens": None},
    ]
    got = read_one(row(example_id=7, trajectory=steps))
    assert got.turns == [TurnTokens(0, [1], [2, 3], [-0.5, -1.0])]
    assert got.spans[1].tokens == SpanTokens([2, 3], [-0.5, -1.0])
    assert got.task == "7"
    assert "lost-tokens" in codes(read_one(row(trajectory=steps[:1])))


def step(prompt: list[int], ids: list[int], mask: list[Any]) -> dict[str, Any]:
    logged = {"prompt_ids": prompt, "completion_ids": ids, "completion_mask": mask}
    return {"tokens": {**logged, "completion_logprobs": [-0.5] * len(ids)}}


def test_what_the_mask_of_a_step_leaves_out_is_not_trained() -> None:
    got = read_one(row(trajectory=[step([1, 2], [3, 4], [1, 0]), step([1, 2, 3, 4, 5], [6], [True])]))
    assert got.spans[1].tokens == SpanTokens([3, 4], [-0.5, -0.5], [1, 0])
    assert got.spans[3].tokens == SpanTokens([6], [-0.5])
    found = trained(got)
    assert columns(found) == [([1, 2], [3, 4, 5, 6], [1, 0, 0, 1])]
    assert found.rows[0].advantages.tolist() == [2.0, 0.0, 0.0, 2.0]


def test_a_mask_of_another_length_than_its_step_is_refused() -> None:
    found = trained(read_one(row(trajectory=[step([1], [3, 4], [1]), step([1, 3, 4], [6], [1])])))
    assert [(f.turn, f.span, f.reason) for f in found.failures] == [
        (0, 1, "2 token ids and 1 entries of mask: expected as many")
    ]


@pytest.mark.parametrize("mask", [[1, 0], [0, 0], [1]])
def test_a_mask_of_a_step_with_several_spans_is_not_dropped(mask: list[int]) -> None:
    """Where it leaves out all of the step nobody need know which ids are whose."""
    both = row(trajectory=[step([1, 2], [3, 4], mask), step([1, 2, 3, 4, 5], [6], [1])])
    both["completion"][0]["content"] = "I look."
    found = trained(read_one(both))
    if any(mask):
        assert "which of the turn's tokens it leaves out is unknown" in found.failures[0].reason
    else:
        assert columns(found) == [([1, 2, 3, 4, 5], [6], [1])]


@pytest.mark.parametrize(
    ("more", "ends"),
    [
        pytest.param({"is_completed": True, "is_truncated": False}, (True, False), id="done"),
        pytest.param({"is_completed": True, "is_truncated": True}, (False, True), id="cut"),
        pytest.param({}, (None, None), id="nobody says"),
    ],
)
def test_how_it_ended(more: dict[str, Any], ends: tuple[Any, Any]) -> None:
    got = read_one(row(**more))
    assert (got.terminated, got.truncated) == ends


def test_rows_that_break_the_form_are_named_and_cost_no_other() -> None:
    bad = row()
    bad["completion"][0]["tool_calls"] = ["{broken"]
    found = read_lines(row(), bad, {"prompt": 5, "completion": "x", "reward": 1}, row(error="fell"))
    assert [line for line, _ in refusals(found)] == [2, 3]
    assert refusals(found)[0][1].startswith("line 2: tool_calls holds text that is no call: ")
    assert "run-error" in codes(found[3])  # type: ignore[arg-type]


# ---------------------------------------------------------------- traces


def node(role: str, content: str | None, parent: int | None, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content}, "parent": parent, "sampled": role == "assistant", **more}


def trace(*nodes: Any, **more: Any) -> dict[str, Any]:
    base = {
        "version": 1,
        "id": "t",
        "task": {"key": "k"},
        "agent": {"name": "solver"},
        "rewards": {"r": {"score": 1.0, "weight": 1.0}},
    }
    return {**base, "nodes": list(nodes), **more}


def test_tokens_masks_and_log_probs_of_every_message() -> None:
    got = read_one(
        trace(
            node("user", "go", None, token_ids=[1, 2], mask=[False, False]),
            node("assistant", "Done.", 0, token_ids=[8, 9, 10], mask=[False, True, True], logprobs=[-0.5, -0.25]),
        )
    )
    assert got.spans[0].tokens == SpanTokens([1, 2], None, [0, 0])
    assert got.spans[1].tokens == SpanTokens([9, 10], [-0.5, -0.25])
    assert got.turns == [TurnTokens(0, [1, 2, 8], [9, 10], [-0.5, -0.25])]
    assert (got.task, got.role, got.id) == ("k", "solver", "t")


def masked(mask: list[bool], **more: Any) -> Trajectory:
    """An answer with this mask on its five tokens, and one that goes on."""
    first = {"token_ids": [3, 4, 5, 6, 7], "mask": mask, "logprobs": [-0.5] * sum(mask), **more}
    return read_one(
        trace(
            node("user", "go", None, token_ids=[1, 2], mask=[False, False]),
            node("assistant", "one", 0, **first),
            node("user", "more", 1, token_ids=[8], mask=[False]),
            node("assistant", "two", 2, token_ids=[9, 10], mask=[True, True], logprobs=[-0.25, -0.25]),
        )
    )


@pytest.mark.parametrize(
    ("mask", "prompt", "own"),
    [
        pytest.param([False, True, False, True, False], [1, 2, 3], [1, 0, 1, 0, 0, 1, 1], id="a hole"),
        pytest.param([False, True, True, False, False], [1, 2, 3], [1, 1, 0, 0, 0, 1, 1], id="ends"),
        pytest.param([False] * 5, [1, 2, 3, 4, 5, 6, 7, 8], [1, 1], id="none of an answer: it is context"),
    ],
)
def test_tokens_that_were_not_sampled_are_context(mask: list[bool], prompt: list[int], own: list[int]) -> None:
    """Every token of the trace stands in one row, in its place."""
    [found] = trained(masked(mask)).rows
    assert found.token_ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (found.prompt_ids.tolist(), found.response_mask.tolist()) == (prompt, own)
    assert found.logprobs is not None
    given = [-0.5] * sum(mask) + [-0.25, -0.25]
    assert found.logprobs[found.response_mask == 1].tolist() == given
    assert not found.logprobs[found.response_mask == 0].any()


def test_a_hole_in_a_mask_is_one_of_the_span() -> None:
    got = masked([False, True, False, True, False])
    assert got.spans[1].tokens == SpanTokens([4, 5, 6], [-0.5, 0.0, -0.5], [1, 0, 1])
    assert got.turns[0] == TurnTokens(0, [1, 2, 3], [4, 5, 6], [-0.5, 0.0, -0.5])


@pytest.mark.parametrize("mask", [[False, True, False, True, False], [False] * 5])
def test_a_mask_of_a_message_of_several_spans_is_not_dropped(mask: list[bool]) -> None:
    found = trained(masked(mask, message={"role": "assistant", "content": "one", "tool_calls": [CALL]}))
    if any(mask):
        assert "which of the turn's tokens it leaves out is unknown" in found.failures[0].reason
    else:
        assert columns(found) == [([1, 2, 3, 4, 5, 6, 7, 8], [9, 10], [1, 1])]


def test_a_trace_of_which_nothing_was_sampled_says_so() -> None:
    nodes = [node("user", "go", None, token_ids=[1], mask=[False])]
    found = trained(read_one(trace(*nodes, node("assistant", "x", 0, token_ids=[2], mask=[False], logprobs=[]))))
    assert [(f.turn, f.span) for f in found.failures] == [(0, 1)]
    assert found.failures[0].reason.startswith("the logged mask is 0 throughout")


def test_branches_are_trajectories_of_their_own_with_a_link() -> None:
    nodes = [
        node("user", "go", None),
        node("assistant", "a", 0),
        node("user", "more", 1),
        node("assistant", "b", 2),
        node("assistant", "c", 1),
    ]
    run, branch = trajectories(trace(*nodes))
    assert [texts(t, "assistant") for t in (run, branch)] == [["a", "b"], ["a", "c"]]
    assert (branch.parent, branch.role) == (SpawnedBy("t", 1), "solver:branch")
    assert codes(branch) == ["branched"]


def test_a_branch_names_the_first_that_it_shares_most_with_and_the_last_span_they_share() -> None:
    """The run is 0 1 2 3 4; 5 leaves it behind 1; 6 and 7 go on from 5; 8 is alone."""
    nodes = [
        node("user", "go", None),
        node("assistant", "a", 0, message={"role": "assistant", "content": "a", "tool_calls": [CALL]}),
        {"message": {"role": "tool", "content": "1", "tool_call_id": "a"}, "parent": 1, "sampled": False},
        node("assistant", "b", 2),
        node("user", "so?", 3),
        node("assistant", "c", 1),
        node("user", "x", 5),
        node("user", "y", 5),
        node("assistant", "z", None),
    ]
    run, first, second, alone = trajectories(trace(*nodes))
    assert (run.id, run.parent, codes(run)) == ("t", None, [])
    assert (first.id, first.parent) == ("t:branch-1", SpawnedBy("t", 2))
    assert (second.id, second.parent) == ("t:branch-2", SpawnedBy("t:branch-1", 3))
    assert Note("branched", "shares its first 3 messages with 't:branch-1'") in second.report
    assert (alone.parent, codes(alone)) == (SpawnedBy("t"), [])


def test_rewards_are_weighted_and_unscored_is_not_zero() -> None:
    rewards = {"a": {"score": 1.0, "weight": 0.5}, "b": {"score": None, "weight": 1.0}, "c": 2.0}
    nodes = [node("user", "go", None), node("assistant", "x", 0)]
    assert read_one(trace(*nodes, rewards=rewards)).rewards == [Reward(2.5, name="a+c")]
    assert read_one(trace(*nodes, rewards={"b": {"score": None}})).rewards == []


def test_what_the_policy_did_not_write_gets_no_credit() -> None:
    got = read_one(
        trace(node("user", "go", None), node("assistant", "like this", 0, sampled=False), node("assistant", "x", 1))
    )
    assert (kinds(got), codes(got)) == (["user", "meta", "assistant"], ["not-sampled"])


def test_an_episode_holds_several_agents_whose_calls_say_when_and_how_much() -> None:
    call = {
        "node": 1,
        "model": "p-1",
        "usage": {"prompt_tokens": 3},
        "time": {"start": 1_900_000_000, "end": 1_900_000_001},
    }
    nodes = [node("user", "go", None), node("assistant", "x", 0)]
    found = trajectories(
        {"id": "e", "traces": [trace(*nodes, calls=[call]), trace(*nodes, id="u", agent={"name": "judge"})]}
    )
    assert [(t.id, t.role, t.model) for t in found] == [("t", "solver", "p-1"), ("u", "judge", None)]
    assert found[0].spans[1].usage == {"input_tokens": 3}
    assert found[0].spans[1].ended_at == "2030-03-17T17:46:41Z"


def test_traces_that_break_the_form_are_named() -> None:
    nodes = [node("user", "go", None), node("assistant", "x", 0)]
    found = read_lines(trace(*nodes), trace(node("user", "x", 0)), trace(), trace(*nodes, errors=["fell"], id="v"))
    assert refusals(found) == [
        (2, "line 2: nodes[0].parent is 0: an earlier node is expected"),
        (3, "line 3: nodes is empty: there is no message"),
    ]
    assert "run-error" in codes(found[3])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        pytest.param(
            {"token_ids": [1], "mask": [True], "logprobs": [-1.0, -2.0]},
            "nodes[1]: 2 log-probs are logged, and 1 ids were sampled: left out",
            id="log-probs",
        ),
        pytest.param(
            {"token_ids": [1, 2], "mask": [True]},
            "nodes[1]: the mask has 1 entries, and there are 2 token ids: left out",
            id="mask",
        ),
    ],
)
def test_tokens_that_do_not_fit_are_left_out(tokens: dict[str, Any], why: str) -> None:
    got = read_one(trace(node("user", "go", None), node("assistant", "x", 0, **tokens)))
    assert (got.turns, got.report) == ([], [Note("lost-tokens", why, span=1)])


def test_a_message_that_nobody_sampled_and_whose_tokens_do_not_fit_has_both_notes() -> None:
    bad = node("assistant", "like this", 0, sampled=False, token_ids=[1, 2], mask=[False])
    got = read_one(trace(node("user", "go", None), bad, node("assistant", "x", 1)))
    assert sorted(codes(got)) == ["lost-tokens", "not-sampled"]


def test_branches_that_would_fill_the_memory_are_refused() -> None:
    chain = [node("user", "x", i - 1 if i else None) for i in range(1500)]
    found = read_lines(trace(*chain, *(node("assistant", "x", 1499) for _ in range(1500))))
    assert "branches, each with up to" in refusals(found)[0][1]
