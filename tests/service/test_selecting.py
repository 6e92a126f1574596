"""Which rollouts are taken, which are not and why, and what is written of them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.build import run
from trajcredit.batching import Batch, pack
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.model import Reward, Span, Trajectory, TurnTokens, decode
from trajcredit.service.selecting import NOTES, REASONS, Terms, lines, select


def batch_of(*runs: Trajectory) -> Batch:
    return pack(build_graphs(list(runs)))


def spoken(
    name: str, outcome: float | None, text: str = "done", calls: tuple[str, ...] = (), **rest: Any
) -> Trajectory:
    """User, calls of `look` with their results, answer."""
    spans = [Span(kind="user", turn=-1, text="go")]
    for n, thing in enumerate(calls):
        spans.append(Span(kind="tool_call", turn=n, name="look", arguments={"at": thing}))
        spans.append(Span(kind="tool_result", turn=n, name="look", text="seen", result_of=len(spans) - 1))
    spans.append(Span(kind="assistant", turn=len(calls), text=text))
    rewards = [] if outcome is None else [Reward(outcome)]
    return Trajectory(id=name, spans=spans, rewards=rewards, **{"group": "g", **rest})


def taken(batch: Batch, **terms: Any) -> list[str]:
    return [batch.trajectory_ids[t] for t in select(batch, Terms(**terms)).taken]


def rows(batch: Batch, **terms: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(select(batch, Terms(**terms)))]


def test_rejection_sampling_takes_what_reaches_the_threshold() -> None:
    batch = batch_of(spoken("a", 1.0), spoken("b", 0.0), spoken("c", 0.5), spoken("d", None))
    selected = select(batch, Terms())
    assert [batch.trajectory_ids[t] for t in selected.taken] == ["a"]
    assert selected.summary.dropped == {"unscored": 1, "below": 2}
    assert taken(batch, pass_at=0.5) == ["a", "c"]


def test_a_sum_that_misses_the_threshold_by_rounding_passes() -> None:
    tenths = msgspec.structs.replace(run("c" * 10, name="a"), rewards=[Reward(0.1, span=i) for i in range(10)])
    batch = batch_of(tenths)
    assert batch.outcome[0] < 1.0
    assert taken(batch, to="jsonl") == ["a"]


def test_a_row_is_messages_tools_and_where_it_comes_from() -> None:
    assert rows(batch_of(spoken("a", 1.0, calls=("x",), task="t", group=None))) == [
        {
            "messages": [
                {"role": "user", "content": "go"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"x"}'}}
                    ],
                },
                {"role": "tool", "content": "seen", "tool_call_id": "call_1", "name": "look"},
                {"role": "assistant", "content": "done"},
            ],
            "tools": [],
            "trajectory_id": "a",
            "group_id": "t",
            "outcome": 1.0,
        }
    ]


def test_best_of_takes_the_top_of_each_group_whatever_it_scored() -> None:
    batch = batch_of(
        spoken("a", 0.2), spoken("b", 0.7), spoken("c", 0.4, group="h"), spoken("d", 0.3, group="h"), spoken("e", 0.1)
    )
    assert taken(batch, best_of=1) == ["b", "c"]
    assert taken(batch, best_of=2) == ["a", "b", "c", "d"]
    assert taken(batch, best_of=1, pass_at=0.5) == ["b"]
    summary = select(batch, Terms(best_of=1)).summary
    assert (summary.passing, summary.groups_without_pass, summary.dropped) == (None, None, {"beyond-best-of": 3})


def test_ties_go_to_fewer_actions_then_to_the_smaller_id() -> None:
    batch = batch_of(spoken("a", 1.0, calls=("x",)), spoken("c", 1.0), spoken("b", 1.0))
    assert taken(batch, best_of=1) == ["b"]
    assert taken(batch, best_of=2) == ["c", "b"]


def test_a_task_has_at_most_so_many_rows_whatever_its_groups() -> None:
    batch = batch_of(
        spoken("a", 1.0, group="g", task="t"),
        spoken("b", 2.0, group="h", task="t"),
        spoken("c", 1.0, group="h", task="u"),
        spoken("d", 1.0, group="i"),
        spoken("e", 1.0, group="j"),
    )
    assert taken(batch, per_task=1) == ["b", "c", "d", "e"]
    assert select(batch, Terms(per_task=1)).summary.dropped == {"beyond-per-task": 1}


def test_distinct_counts_the_same_calls_once() -> None:
    batch = batch_of(
        spoken("a", 1.0, "first", ("x", "y")),
        spoken("b", 1.0, "second", ("x", "y")),
        spoken("c", 1.0, "third", ("y", "x")),
        spoken("d", 1.0, "first", ("x", "y"), group="h"),
    )
    assert taken(batch, distinct=True) == ["a", "c", "d"]
    assert taken(batch) == ["a", "b", "c", "d"]
    assert select(batch, Terms(distinct=True)).summary.dropped == {"duplicate": 1}


def test_distinct_compares_words_where_nobody_calls_anything() -> None:
    batch = batch_of(spoken("a", 1.0, "four"), spoken("b", 1.0, "4"), spoken("c", 1.0, "four"))
    assert taken(batch, distinct=True) == ["a", "b"]


def test_the_copy_that_is_kept_is_the_better_one() -> None:
    batch = batch_of(spoken("b", 1.0, calls=("x",)), spoken("a", 2.0, calls=("x",)))
    assert taken(batch, distinct=True) == ["a"]


def test_groups_of_one_outcome_are_kept_or_dropped_and_counted_either_way() -> None:
    batch = batch_of(
        spoken("a", 1.0),
        spoken("b", 1.0),
        spoken("c", 1.0, group="h"),
        spoken("d", 0.0, group="h"),
        spoken("e", 1.0, group="alone"),
        spoken("f", None, group="alone"),
    )
    assert taken(batch) == ["a", "b", "c", "e"]
    assert taken(batch, zero_variance="drop") == ["c", "e"]
    for terms in (Terms(), Terms(zero_variance="drop")):
        assert select(batch, terms).summary.groups_zero_variance == 1
    assert select(batch, Terms(zero_variance="drop")).summary.dropped == {
        "unscored": 1,
        "zero-variance": 2,
        "below": 1,
    }


@pytest.mark.parametrize(
    ("terms", "names", "dropped"),
    [
        pytest.param({"max_lag": 3}, ["a", "b"], {"stale": 1, "no-version": 1}, id="from the newest read"),
        pytest.param({"max_lag": 5}, ["a", "b", "c"], {"no-version": 1}, id="a lag of exactly so many stays"),
        pytest.param(
            {"max_lag": 1, "current_version": 11}, ["a"], {"stale": 2, "no-version": 1}, id="from the one said"
        ),
        pytest.param({}, ["a", "b", "c", "d"], {}, id="nobody asks"),
    ],
)
def test_stale_rollouts_are_withheld(terms: dict[str, Any], names: list[str], dropped: dict[str, int]) -> None:
    batch = batch_of(
        spoken("a", 1.0, policy_version="10"),
        spoken("b", 1.0, policy_version="9"),
        spoken("c", 1.0, policy_version="5"),
        spoken("d", 1.0),
    )
    selected = select(batch, Terms(**terms))
    assert [batch.trajectory_ids[t] for t in selected.taken] == names
    assert selected.summary.dropped == dropped
    assert not selected.failed


def test_the_oldest_turn_says_how_old_a_rollout_is() -> None:
    turns = [TurnTokens(0, policy_version="4"), TurnTokens(1, policy_version="9")]
    batch = batch_of(spoken("a", 1.0, policy_version="9", turns=turns), spoken("b", 1.0, policy_version="9"))
    assert taken(batch, max_lag=4) == ["b"]
    assert taken(batch, max_lag=5) == ["a", "b"]


def test_a_version_that_is_no_number_fails_by_name_where_lags_are_asked_for() -> None:
    batch = batch_of(spoken("a", 1.0, policy_version="step-7"), spoken("b", 1.0, policy_version="7"))
    selected = select(batch, Terms(max_lag=1))
    assert [str(one) for one in selected.failed] == ["a: policy version 'step-7' is no number: its lag is unknown"]
    assert selected.summary.dropped == {"odd-version": 1}
    assert taken(batch) == ["a", "b"]


def test_a_withheld_rollout_still_shapes_its_group() -> None:
    batch = batch_of(
        spoken("a", 1.0, policy_version="9"), spoken("b", 1.0, policy_version="9"), spoken("c", 0.0, policy_version="1")
    )
    summary = select(batch, Terms(max_lag=1, zero_variance="drop")).summary
    assert (summary.groups_zero_variance, summary.rows, summary.groups_without_fail) == (0, 2, 0)


def test_what_comes_after_the_last_message_of_the_assistant_is_cut_and_said() -> None:
    ended = spoken("a", 1.0)
    ended = msgspec.structs.replace(ended, spans=[*ended.spans, Span(kind="user", turn=0, text="bye")])
    batch = batch_of(ended)
    assert [message["role"] for message in rows(batch)[0]["messages"]] == ["user", "assistant"]
    assert select(batch, Terms()).summary.notes == {"cut-tail": 1}


def test_what_should_be_known_of_rows_is_counted() -> None:
    odd = spoken("a", 1.0, calls=("x",))
    call = msgspec.structs.replace(odd.spans[1], arguments=None, arguments_raw="*** patch")
    told = Span(kind="meta", turn=-1, text="summary")
    spans = [odd.spans[0], call, odd.spans[2], msgspec.structs.replace(odd.spans[3], agent="b")]
    spans[1] = msgspec.structs.replace(call, agent="a")
    batch = batch_of(
        msgspec.structs.replace(odd, spans=spans),
        msgspec.structs.replace(spoken("b", 1.0), spans=[told, *spoken("b", 1.0).spans]),
    )
    notes = select(batch, Terms()).summary.notes
    assert notes == {"odd-arguments": 1, "told-by-program": 1, "several-agents": 1}
    assert set(notes) <= set(NOTES)


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        pytest.param(
            [Span(kind="tool_result", turn=-1, text="x"), Span(kind="assistant", turn=0)],
            "span 0 is a result that answers no call: a chat has no place for it",
            id="an orphan result",
        ),
        pytest.param(
            [Span(kind="tool_call", turn=0, name="look", arguments={}), Span(kind="assistant", turn=1)],
            "span 0 calls 'look' without a result, and the chat goes on",
            id="a call without a result",
        ),
    ],
)
def test_a_rollout_that_is_no_chat_fails_by_name_and_the_next_best_takes_its_place(
    spans: list[Span], reason: str
) -> None:
    batch = batch_of(msgspec.structs.replace(spoken("a", 2.0), spans=spans), spoken("b", 1.0), spoken("c", 0.0))
    selected = select(batch, Terms(best_of=1))
    assert [batch.trajectory_ids[t] for t in selected.taken] == ["b"]
    assert [str(one) for one in selected.failed] == [f"a: {reason}"]
    assert selected.summary.dropped == {"beyond-best-of": 1, "no-chat": 1}
    assert taken(batch, best_of=1, to="jsonl") == ["a"]


def test_a_last_call_needs_no_result() -> None:
    spans = [Span(kind="user", turn=-1), Span(kind="tool_call", turn=0, name="submit", arguments={})]
    assert taken(batch_of(msgspec.structs.replace(spoken("a", 1.0), spans=spans))) == ["a"]


def test_trajectories_come_out_as_they_went_in() -> None:
    first = spoken("a", 1.0, calls=("x",))
    batch = batch_of(first, spoken("b", 0.0))
    assert [decode(line) for line in lines(select(batch, Terms(to="jsonl")))] == [first]


def test_every_rollout_is_taken_or_has_one_reason() -> None:
    batch = batch_of(
        *(spoken(f"t{i}", outcome, calls=("x",) * (i % 3)) for i, outcome in enumerate([1, 1, 0, 1, None, 1]))
    )
    summary = select(batch, Terms(best_of=2, distinct=True, pass_at=1)).summary
    assert sum(summary.dropped.values()) + summary.rows == summary.read == 6
    assert set(summary.dropped) <= set(REASONS)


def test_the_order_of_the_logs_does_not_matter() -> None:
    runs = [
        spoken(name, outcome, calls=("x",) * n)
        for name, outcome, n in [("a", 1, 0), ("b", 1, 1), ("c", 1, 1), ("d", 2, 2)]
    ]
    for terms in ({"best_of": 2}, {"distinct": True}, {"per_task": 1}):
        assert set(taken(batch_of(*runs), **terms)) == set(taken(batch_of(*reversed(runs)), **terms))


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"pass_at": float("nan")}, "pass-at is no number"),
        ({"best_of": 0}, "best-of is 0"),
        ({"per_task": -1}, "per-task is -1"),
        ({"max_lag": -1.0}, "max-lag is -1"),
        ({"max_lag": float("inf")}, "max-lag is inf"),
        ({"current_version": 3.0}, "no max-lag"),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Terms(**terms)
