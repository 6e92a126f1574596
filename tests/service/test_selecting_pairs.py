"""Preference pairs: the same words and calls up to where a pass and a fail first differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.batching import Batch, pack
from trajcredit.graph import build_graphs
from trajcredit.model import Reward, Span, Tool, Trajectory
from trajcredit.service.selecting import Terms, lines, select


def rollout(name: str, outcome: float, *said: Any, user: str = "go", **rest: Any) -> Trajectory:
    """User, then texts (an answer) or (arguments, result) (a call of `act` and what came back), a turn each."""
    spans = [Span(kind="user", turn=-1, text=user)]
    for turn, one in enumerate(said):
        if isinstance(one, str):
            spans.append(Span(kind="assistant", turn=turn, text=one))
        else:
            arguments, result = one
            call_id = f"{name}-{turn}"
            spans.append(Span(kind="tool_call", turn=turn, name="act", arguments=arguments, call_id=call_id))
            spans.append(Span(kind="tool_result", turn=turn, name="act", text=result, result_of=len(spans) - 1))
    return Trajectory(id=name, spans=spans, rewards=[Reward(outcome)], **{"group": "g", **rest})


def batch_of(*runs: Trajectory) -> Batch:
    return pack(build_graphs(list(runs)))


def pairs(*runs: Trajectory, **terms: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(select(batch_of(*runs), Terms(to="pairs", **terms)))]


def refused(*runs: Trajectory, **terms: Any) -> dict[str, int]:
    return select(batch_of(*runs), Terms(to="pairs", **terms)).summary.pairs_dropped


FIRST = ({"at": "x"}, "seen")


def test_a_pair_is_cut_at_the_first_call_that_differs() -> None:
    good = rollout("good", 1.0, FIRST, ({"to": "Rome"}, "ok"), "booked")
    bad = rollout("bad", 0.0, FIRST, ({"to": "Paris"}, "ok"), "booked")
    (row,) = pairs(good, bad)
    assert [message["role"] for message in row["prompt"]] == ["user", "assistant", "tool"]
    assert [message["role"] for message in row["chosen"]] == ["assistant", "tool", "assistant"]
    assert row["chosen"][0]["tool_calls"][0]["function"]["arguments"] == '{"to":"Rome"}'
    assert row["rejected"][0]["tool_calls"][0]["function"]["arguments"] == '{"to":"Paris"}'
    told = {key: value for key, value in row.items() if key not in ("prompt", "chosen", "rejected")}
    assert told == {
        "tools": [],
        "chosen_id": "good",
        "rejected_id": "bad",
        "chosen_span": 3,
        "rejected_span": 3,
        "chosen_call": 3,
        "rejected_call": 3,
        "group_id": "g",
        "chosen_outcome": 1.0,
        "rejected_outcome": 0.0,
    }


def test_prompt_and_continuation_are_the_whole_of_each_rollout() -> None:
    good = rollout("good", 1.0, FIRST, "one")
    bad = rollout("bad", 0.0, FIRST, "two", "three")
    (row,) = pairs(good, bad)
    for side, run in (("chosen", good), ("rejected", bad)):
        batch = batch_of(run)
        (whole,) = [json.loads(line) for line in lines(select(batch, Terms(pass_at=0.0)))]
        contents = [message["content"] for message in row["prompt"] + row[side]]
        assert contents == [message["content"] for message in whole["messages"]]


def test_words_that_differ_before_the_call_cut_the_pair_there() -> None:
    (row,) = pairs(rollout("good", 1.0, "I look.", FIRST, "a"), rollout("bad", 0.0, "Let me see.", FIRST, "b"))
    assert len(row["prompt"]) == 1
    assert (row["chosen_span"], row["chosen_call"], row["rejected_call"]) == (1, None, None)


def test_calls_that_differ_only_in_order_of_keys_are_the_same() -> None:
    good = rollout("good", 1.0, ({"a": 1, "b": 2}, "ok"), "x")
    bad = rollout("bad", 0.0, ({"b": 2.0, "a": 1}, "ok"), "y")
    (row,) = pairs(good, bad)
    assert len(row["prompt"]) == 3


def test_one_that_says_no_more_has_no_span_there() -> None:
    thought = [Span(kind="user", turn=-1, text="go"), Span(kind="assistant", turn=0, text="ok")]
    call = Span(kind="tool_call", turn=0, name="act", arguments={})
    good = Trajectory(id="good", group="g", spans=[*thought, call], rewards=[Reward(1.0)])
    bad = Trajectory(id="bad", group="g", spans=thought, rewards=[Reward(0.0)])
    (row,) = pairs(good, bad)
    assert (row["chosen_span"], row["rejected_span"], row["chosen_call"], row["rejected_call"]) == (2, None, 2, None)


def test_the_span_is_the_one_that_owns_the_first_letter_that_differs() -> None:
    def saying(name: str, outcome: float, *texts: str) -> Trajectory:
        spans = [Span(kind="user", turn=-1), *(Span(kind="assistant", turn=0, text=text) for text in texts)]
        return Trajectory(id=name, group="g", spans=spans, rewards=[Reward(outcome)])

    (row,) = pairs(saying("good", 1.0, "same", "yes"), saying("bad", 0.0, "same", "no"))
    assert (row["chosen_span"], row["rejected_span"]) == (2, 2)
    (row,) = pairs(saying("good", 1.0, "same"), saying("bad", 0.0, "same", "more"))
    assert (row["chosen_span"], row["rejected_span"]) == (None, 2)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        pytest.param(rollout("bad", 0.0, FIRST, "b", user="come"), "other-prompts", id="other words of the user"),
        pytest.param(rollout("bad", 0.0, ({"at": "x"}, "hidden"), "b"), "other-observations", id="another result"),
        pytest.param(rollout("bad", 0.0, FIRST), "one-ends", id="one ends"),
        pytest.param(rollout("bad", 0.0, FIRST, "a"), "one-ends", id="nothing differs"),
        pytest.param(rollout("bad", 0.0, FIRST, "b", tools=[Tool("act")]), "other-tools", id="other tools"),
    ],
)
def test_where_the_policy_did_not_choose_otherwise_there_is_no_pair(bad: Trajectory, code: str) -> None:
    good = rollout("good", 1.0, FIRST, "a")
    assert pairs(good, bad) == []
    assert refused(good, bad) == {code: 1}


def test_groups_never_mix_and_those_without_both_are_counted() -> None:
    batch = batch_of(
        rollout("a", 1.0, "x"),
        rollout("b", 0.0, "y", group="h"),
        rollout("c", 1.0, "x", group="i"),
        rollout("d", 0.0, "y", group="i"),
    )
    selected = select(batch, Terms(to="pairs"))
    assert [(batch.trajectory_ids[p.chosen], batch.trajectory_ids[p.rejected]) for p in selected.pairs] == [("c", "d")]
    summary = selected.summary
    assert (summary.groups_without_pass, summary.groups_without_fail, summary.dropped) == (1, 1, {"unpaired": 2})
    assert (summary.rows, summary.trajectories) == (1, 2)


def test_the_pairs_that_are_kept_share_the_longest_prompt() -> None:
    good = rollout("good", 1.0, FIRST, ({"to": 1}, "ok"), "end")
    near = rollout("near", 0.0, FIRST, ({"to": 2}, "ok"), "end")
    far = rollout("far", 0.0, ({"at": "y"}, "seen"), ({"to": 2}, "ok"), "end")
    assert [row["rejected_id"] for row in pairs(far, near, good)] == ["near", "far"]
    assert [row["rejected_id"] for row in pairs(far, near, good, best_of=1)] == ["near"]
    assert refused(far, near, good, best_of=1) == {"beyond-best-of": 1}
    assert refused(far, near, good, per_task=1) == {"beyond-per-task": 1}


def test_best_of_sets_no_threshold_aside_in_pairs() -> None:
    assert len(pairs(rollout("good", 1.0, "x"), rollout("bad", 0.0, "y"), best_of=5)) == 1


def test_distinct_takes_each_way_to_pass_and_to_fail_once() -> None:
    runs = [
        rollout(name, outcome, ({"to": to}, "ok"), "end")
        for name, outcome, to in [("a", 1.0, 1), ("b", 1.0, 1), ("c", 0.0, 2), ("d", 0.0, 2)]
    ]
    assert [(row["chosen_id"], row["rejected_id"]) for row in pairs(*runs, distinct=True)] == [("a", "c")]
    assert len(pairs(*runs)) == 4


def test_an_id_of_the_prompt_is_never_used_again_in_what_was_rejected() -> None:
    def with_ids(name: str, outcome: float, first: str, second: str, to: int) -> Trajectory:
        spans = [Span(kind="user", turn=-1, text="go")]
        for turn, (call_id, arguments) in enumerate([(first, {"at": 0}), (second, {"to": to})]):
            spans.append(Span(kind="tool_call", turn=turn, name="act", arguments=arguments, call_id=call_id))
            spans.append(Span(kind="tool_result", turn=turn, name="act", text="ok", result_of=len(spans) - 1))
        spans.append(Span(kind="assistant", turn=2, text="end"))
        return Trajectory(id=name, group="g", spans=spans, rewards=[Reward(outcome)])

    (row,) = pairs(with_ids("good", 1.0, "one", "two", 1), with_ids("bad", 0.0, "zero", "one", 2))
    assert [message["tool_call_id"] for message in row["prompt"] if message["role"] == "tool"] == ["one"]
    assert row["rejected"][0]["tool_calls"][0]["id"] == row["rejected"][1]["tool_call_id"] == "one_"


def test_a_rollout_that_is_no_chat_fails_where_it_would_be_paired() -> None:
    orphan = Trajectory(
        id="orphan",
        group="g",
        spans=[Span(kind="tool_result", turn=-1, text="x"), Span(kind="assistant", turn=0, text="y")],
        rewards=[Reward(0.0)],
    )
    selected = select(batch_of(rollout("good", 1.0, "x"), orphan), Terms(to="pairs"))
    assert [one.trajectory for one in selected.failed] == ["orphan"]
    assert selected.summary.dropped == {"no-chat": 1, "unpaired": 1}
    assert not select(batch_of(orphan), Terms(to="pairs")).failed
