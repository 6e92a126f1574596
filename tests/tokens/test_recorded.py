"""Rows from logged ids, by hand: what is joined, what opens a row, who owns what, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from tests.tokens.tokenizers import byte_level
from trajcredit.errors import InputError
from trajcredit.model import Note, Span, SpanTokens, Trajectory, TurnTokens
from trajcredit.tokens import Aligned, Renderer, align
from trajcredit.tokens.align import UNOWNED

NAN = float("nan")


def told(turn: int, ids: list[int] | None = None, kind: Any = "user") -> Span:
    return Span(kind, turn, text="told", tokens=None if ids is None else SpanTokens(ids))


def said(turn: int, ids: list[int] | None = None, kind: Any = "assistant", **more: Any) -> Span:
    return Span(kind, turn, text="said", name="look", tokens=None if ids is None else SpanTokens(ids, **more))


def aligned(spans: list[Span], turns: list[TurnTokens], numbers: list[float], **more: Any) -> Aligned:
    return align(Trajectory(id="t", spans=spans, turns=turns), np.array(numbers), "g", **more)


def columns(found: Aligned) -> list[tuple[list[int], list[int], list[int], list[float]]]:
    assert not found.failures
    return [
        (r.prompt_ids.tolist(), r.response_ids.tolist(), r.response_mask.tolist(), r.advantages.tolist())
        for r in found.rows
    ]


def why(found: Aligned) -> tuple[int, int | None, str]:
    assert not found.rows
    [failure] = found.failures
    return failure.turn, failure.span, failure.reason


def test_a_prompt_that_goes_on_extends_the_row():
    found = aligned(
        [told(-1), said(0, [5, 6]), told(0), said(1, [8])],
        [TurnTokens(0, [1, 2], [5, 6]), TurnTokens(1, [1, 2, 5, 6, 7], [8])],
        [NAN, 0.5, NAN, -1.0],
        outcome=1.0,
    )
    assert columns(found) == [([1, 2], [5, 6, 7, 8], [1, 1, 0, 1], [0.5, 0.5, 0.0, -1.0])]
    [row] = found.rows
    assert [(o.span, o.turn, o.start, o.end, o.advantage) for o in row.spans] == [(1, 0, 0, 2, 0.5), (3, 1, 3, 4, -1.0)]
    assert (row.ids_source, row.outcome, row.uid, row.trajectory_id) == ("engine", 1.0, "g", "t")


def test_a_prompt_that_differs_opens_a_row_in_which_earlier_turns_are_context():
    found = aligned(
        [told(-1), said(0, [5, 6]), said(1, [8])],
        [TurnTokens(0, [1, 2], [5, 6]), TurnTokens(1, [1, 2, 6, 7], [8])],
        [NAN, 0.5, -1.0],
    )
    assert columns(found) == [
        ([1, 2], [5, 6], [1, 1], [0.5, 0.5]),
        ([1, 2, 6, 7], [8], [1], [-1.0]),
    ]
    assert [row.row for row in found.rows] == [0, 1]


def test_agents_that_take_turns_each_go_on_with_their_own_row():
    found = aligned(
        [said(0), said(1), said(2)],
        [TurnTokens(0, [1], [5]), TurnTokens(1, [2], [6]), TurnTokens(2, [1, 5, 7], [8])],
        [1.0, 2.0, 3.0],
    )
    assert columns(found) == [([1], [5, 7, 8], [1, 0, 1], [1.0, 0.0, 3.0]), ([2], [6], [1], [2.0])]


def test_the_same_prompt_again_is_a_branch():
    found = aligned([said(0), said(1)], [TurnTokens(0, [1], [5]), TurnTokens(1, [1], [6])], [1.0, 2.0])
    assert columns(found) == [([1], [5], [1], [1.0]), ([1], [6], [1], [2.0])]


def test_without_prompt_ids_the_observations_own_ids_stand_between():
    found = aligned(
        [told(-1, [1, 2]), said(0, [5]), told(0, [7, 7], "tool_result"), said(1, [8]), told(1, [9])],
        [],
        [NAN, 1.0, NAN, 2.0, NAN],
    )
    assert columns(found) == [([1, 2], [5, 7, 7, 8, 9], [1, 0, 0, 1, 0], [1.0, 0.0, 0.0, 2.0, 0.0])]


def test_a_mask_within_a_span_leaves_tokens_out_and_begins_the_response():
    span = said(0, [1, 2, 3, 4, 5], mask=[0, 1, 0, 1, 1])
    found = aligned([span], [], [1.0], share="divide")
    third = 1 / 3
    assert columns(found) == [([1], [2, 3, 4, 5], [1, 0, 1, 1], [third, 0.0, third, third])]
    assert [(o.start, o.end) for o in found.rows[0].spans] == [(0, 1), (2, 4)]


@pytest.mark.parametrize(
    ("share", "numbers"),
    [
        pytest.param("copy", [0.5, 3.0, 3.0], id="copied to every token"),
        pytest.param("divide", [0.5, 1.5, 1.5], id="divided by their count"),
        pytest.param("last", [0.5, 0.0, 3.0], id="whole on the last"),
    ],
)
def test_how_a_number_reaches_its_tokens(share, numbers):
    spans = [said(0, [5], "reasoning"), said(0, [6, 7])]
    found = aligned(spans, [TurnTokens(0, [1], [5, 6, 7])], [0.5, 3.0], share=share)
    assert columns(found) == [([1], [5, 6, 7], [1, 1, 1], numbers)]


def test_an_empty_span_owns_nothing():
    spans = [said(0, [], "reasoning"), said(0, [6, 7])]
    found = aligned(spans, [TurnTokens(0, [1], [6, 7])], [0.5, 3.0])
    assert [o.span for o in found.rows[0].spans] == [1]


def test_a_row_that_fits_is_whole_and_a_longer_one_is_cut_at_its_end():
    spans = [said(0, [5, 6]), told(0), said(1, [8, 9])]
    turns = [TurnTokens(0, [1], [5, 6]), TurnTokens(1, [1, 5, 6, 7], [8, 9])]
    whole = aligned(spans, turns, [1.0, NAN, 2.0], max_tokens=6)
    assert (whole.notes, len(whole.rows[0].token_ids)) == ((), 6)
    cut = aligned(spans, turns, [1.0, NAN, 2.0], max_tokens=5)
    assert columns(cut) == [([1], [5, 6, 7, 8], [1, 1, 0, 1], [1.0, 1.0, 0.0, 2.0])]
    assert (cut.notes, cut.cut_tokens, cut.cut_trained) == (("rows of more than 5 tokens are cut there",), 1, 1)
    none = aligned(spans, turns, [1.0, NAN, 2.0], max_tokens=1)
    assert why(none)[2] == "max_tokens 1 leaves no token to train (the prompt has 1)"


def test_logprobs_stand_at_the_trained_tokens_or_not_at_all():
    spans = [said(0), told(0), said(1)]
    both = [TurnTokens(0, [1], [5, 6], [-0.5, -0.25]), TurnTokens(1, [1, 5, 6, 7], [8], [-1.0])]
    [row] = aligned(spans, both, [1.0, NAN, 2.0]).rows
    assert row.logprobs is not None
    assert row.logprobs.tolist() == [-0.5, -0.25, 0.0, -1.0]
    partly = aligned(spans, [both[0], TurnTokens(1, [1, 5, 6, 7], [8])], [1.0, NAN, 2.0])
    assert partly.rows[0].logprobs is None
    assert partly.notes == ("log-probs are logged for some of the trained tokens only: left out",)


def test_a_row_bears_its_oldest_policy_version():
    turns = [TurnTokens(0, [1], [5], None, "10"), TurnTokens(1, [1, 5], [6], None, "9")]
    found = aligned([said(0), said(1)], turns, [1.0, 1.0])
    assert found.rows[0].policy_version == "9"
    assert found.notes == ("a row was sampled by policy versions 10, 9: it bears the oldest",)


def test_an_observation_after_the_last_turn_is_kept_and_a_stray_prompt_is_not():
    turns = [TurnTokens(0, [1], [5]), TurnTokens(1, [1, 5, 7], [])]
    assert columns(aligned([said(0), told(0, [7])], turns, [1.0, NAN])) == [([1], [5, 7], [1, 0], [1.0, 0.0])]
    stray = aligned([said(0)], [turns[0], TurnTokens(1, [2], None)], [1.0])
    assert columns(stray) == [([1], [5], [1], [1.0])]
    assert stray.notes == ("a prompt that extends no row and leads to no answer was left out",)


def test_spans_of_one_number_need_no_cut():
    spans = [said(0, kind="reasoning"), said(0)]
    turns = [TurnTokens(0, [1], [5, 6])]
    found = aligned(spans, turns, [2.0, 2.0])
    assert columns(found) == [([1], [5, 6], [1, 1], [2.0, 2.0])]
    assert len(found.notes) == 1
    for numbers, share in (([2.0, 1.0], "copy"), ([2.0, 2.0], "divide")):
        turn, span, reason = why(aligned(spans, turns, numbers, share=share))
        assert (turn, span) == (0, 0)
        assert "pass a tokenizer" in reason


REFUSED = [
    pytest.param([said(0, [1, 2], mask=[0, 0])], [], [1.0], (0, 0, "mask is 0 throughout"), id="a mask of zeros"),
    pytest.param(
        [said(0, [1, 2], mask=[1])], [], [1.0], (0, 0, "2 token ids and 1 entries of mask"), id="a short mask"
    ),
    pytest.param([said(0, [1], mask=[2])], [], [1.0], (0, 0, "other than 0 and 1"), id="a mask of other numbers"),
    pytest.param(
        [Span("user", -1, text="x", tokens=SpanTokens([1], mask=[1])), said(0, [2])],
        [],
        [NAN, 1.0],
        (-1, 0, "the policy did not sample it"),
        id="an observation that is trained",
    ),
    pytest.param([said(0, [5])], [], [1.0], (0, 0, "no ids of what this turn answers"), id="no prompt at all"),
    pytest.param(
        [told(-1), said(0, [5])],
        [],
        [NAN, 1.0],
        (0, 0, "nor ids of the user before it"),
        id="an observation without ids",
    ),
    pytest.param(
        [said(0), said(1)],
        [TurnTokens(0, [1], [5])],
        [1.0, 1.0],
        (1, 1, "none of what was sampled here"),
        id="a turn without ids",
    ),
    pytest.param(
        [said(0)], [TurnTokens(0, [1], [])], [1.0], (0, 0, "no sampled ids"), id="a turn that sampled nothing"
    ),
    pytest.param(
        [said(0)],
        [TurnTokens(0, [1], [5]), TurnTokens(1, [1, 5], [6])],
        [1.0],
        (1, None, "no span is of it"),
        id="ids that no span is of",
    ),
    pytest.param(
        [said(0)], [TurnTokens(0, [1], [5, 6], [-1.0])], [1.0], (0, None, "1 log-probs"), id="too few log-probs"
    ),
    pytest.param(
        [said(0)], [TurnTokens(0, [1], [5], [NAN])], [1.0], (-1, None, "logprobs hold a number"), id="a log-prob of NaN"
    ),
    pytest.param(
        [said(0), said(1)],
        [TurnTokens(0, [1], [5]), TurnTokens(1, [1, 5], [6])],
        [1.0, NAN],
        (1, 1, "unscored"),
        id="an action that is not scored",
    ),
    pytest.param([said(0)], [TurnTokens(0, [1], [5])], [NAN], (-1, None, "unscored"), id="nothing is scored"),
    pytest.param([said(0)], [TurnTokens(0, [1], [5])], [np.inf], (0, 0, "not finite"), id="an endless advantage"),
    pytest.param([told(-1)], [], [NAN], (-1, None, "no span is an action"), id="no action"),
    pytest.param([said(0)], [], [1.0], (-1, None, "pass a tokenizer"), id="no ids"),
    pytest.param(
        [said(0)],
        [TurnTokens(0, [1], [5]), TurnTokens(0, [1], [5])],
        [1.0],
        (0, None, "two records"),
        id="a turn that is recorded twice",
    ),
]


@pytest.mark.parametrize(("spans", "turns", "numbers", "expected"), REFUSED)
def test_what_does_not_fit_has_a_place_and_a_reason(spans, turns, numbers, expected):
    turn, span, reason = why(aligned(spans, turns, numbers))
    assert (turn, span) == expected[:2]
    assert expected[2] in reason


def test_after_a_compaction_ids_of_spans_do_not_tell_the_prompt():
    spans = [
        told(-1, [1]),
        said(0, [5]),
        Span("meta", 0, text="Conversation compacted", tokens=SpanTokens([2])),
        said(1, [6]),
    ]
    turn, span, reason = why(aligned(spans, [], [NAN, 1.0, NAN, 1.0]))
    assert (turn, span) == (1, 2)
    assert "prompt ids" in reason


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"numbers": [1.0, 2.0]}, id="more advantages than spans"),
        pytest.param({"numbers": [1.0], "share": "half"}, id="an unknown share"),
        pytest.param({"numbers": [1.0], "max_tokens": 0}, id="no budget"),
    ],
)
def test_wrong_arguments_are_errors(given):
    numbers = given.pop("numbers")
    with pytest.raises(InputError):
        aligned([said(0)], [TurnTokens(0, [1], [5])], numbers, **given)


def test_of_rows_that_are_alike_the_latest_goes_on():
    turns = [TurnTokens(0, [1], [5]), TurnTokens(1, [1], [5]), TurnTokens(2, [1, 5, 7], [8])]
    found = aligned([said(0), said(1), said(2)], turns, [1.0, 2.0, 3.0])
    assert columns(found) == [([1], [5], [1], [1.0]), ([1], [5, 7, 8], [1, 0, 1], [2.0, 0.0, 3.0])]


def test_a_mask_beside_the_ids_of_a_turn_counts():
    turn = [TurnTokens(0, [1], [5, 6, 7])]
    masked = Span("assistant", 0, text="said", tokens=SpanTokens(mask=[1, 0, 1]))
    assert columns(aligned([told(-1), masked], turn, [NAN, 2.0])) == [([1], [5, 6, 7], [1, 0, 1], [2.0, 0.0, 2.0])]
    short = Span("assistant", 0, text="said", tokens=SpanTokens(mask=[1, 0]))
    assert why(aligned([told(-1), short], turn, [NAN, 2.0])) == (
        0, 1, "3 ids were sampled, and the mask has 2 entries: expected as many"
    )  # fmt: skip
    two = [told(-1), masked, Span("assistant", 0, text="more")]
    assert "which of the turn's tokens it leaves out is unknown" in why(aligned(two, turn, [NAN, 2.0, 2.0]))[2]
    none = Span("assistant", 0, text="said", tokens=SpanTokens(mask=[0, 0, 0]))
    assert why(aligned([told(-1), none], turn, [NAN, 2.0]))[:2] == (0, 1)
    assert "mask is 0 throughout" in why(aligned([told(-1), none], turn, [NAN, 2.0]))[2]
    odd = Span("assistant", 0, text="said", tokens=SpanTokens(mask=[1, 2, 1]))
    assert "other than 0 and 1" in why(aligned([told(-1), odd], turn, [NAN, 2.0]))[2]
    seen = Span("user", -1, text="told", tokens=SpanTokens(mask=[1]))
    assert "the policy did not sample it" in why(aligned([seen, said(0)], turn, [NAN, 2.0]))[2]


def test_a_mask_of_zeros_over_a_turn_of_several_spans_leaves_out_all_of_it():
    none = Span("assistant", 0, text="said", tokens=SpanTokens(mask=[0, 0]))
    spans = [none, said(0, kind="tool_call"), said(1)]
    turns = [TurnTokens(0, [1], [5, 6]), TurnTokens(1, [1, 5, 6, 7], [8])]
    assert columns(aligned(spans, turns, [1.0, 2.0, 3.0])) == [([1, 5, 6, 7], [8], [1], [3.0])]
    assert "nothing is left to train" in why(aligned(spans[:2], turns[:1], [1.0, 2.0]))[2]
    shorter = [Span("assistant", 0, text="said", tokens=SpanTokens(mask=[0])), *spans[1:]]
    assert "is unknown" in why(aligned(shorter, turns, [1.0, 2.0, 3.0]))[2]


def test_a_turn_that_is_masked_is_context_of_the_next():
    masked = Span("assistant", 0, text="said", tokens=SpanTokens([5, 6], mask=[0, 0]))
    turns = [TurnTokens(0, [1], [5, 6]), TurnTokens(1, [1, 5, 6, 7], [8])]
    assert columns(aligned([masked, said(1)], turns, [1.0, 2.0])) == [([1, 5, 6, 7], [8], [1], [2.0])]
    apart = aligned([masked, said(1)], [turns[0], TurnTokens(1, [2], [8])], [1.0, 2.0])
    assert columns(apart) == [([2], [8], [1], [2.0])]
    assert apart.notes == ("a row whose sampled tokens are all masked was left out",)


def test_log_probs_of_spans_stand_in_for_those_of_the_turn():
    turn = [TurnTokens(0, [1], [5, 6])]
    one = Span("assistant", 0, text="said", tokens=SpanTokens(logprobs=[-0.5, -1.0]))
    [row] = aligned([told(-1), one], turn, [NAN, 2.0]).rows
    assert row.logprobs is not None
    assert row.logprobs.tolist() == [-0.5, -1.0]
    less = Span("assistant", 0, text="said", tokens=SpanTokens(logprobs=[-0.5]))
    found = aligned([told(-1), less], turn, [NAN, 2.0])
    assert found.rows[0].logprobs is None
    assert found.notes == ("log-probs of a span that are not one for each id sampled in its turn: left out",)


@pytest.mark.parametrize("number", [-1e39, 1e39, -np.inf])
def test_a_log_prob_that_float32_cannot_hold_is_a_failure_and_no_warning(number, recwarn):
    found = aligned([said(0)], [TurnTokens(0, [1], [5], [number])], [1.0])
    assert why(found)[2] == "row 0 of t: logprobs hold a number that float32 cannot"
    assert not recwarn.list


def test_a_turn_whose_ids_its_reader_left_out_says_why():
    left = Note("lost-tokens", "nodes[5]: 2 log-probs are logged, and 1 ids were sampled: left out", span=1)
    run = Trajectory(id="t", spans=[said(0), said(1)], turns=[TurnTokens(0, [1], [5])], report=[left])
    turn, span, reason = why(align(run, np.array([1.0, 1.0]), "g"))
    assert (turn, span) == (1, 1)
    assert reason.endswith("nodes[5]: 2 log-probs are logged, and 1 ids were sampled: left out")
    other = msgspec.structs.replace(run, report=[msgspec.structs.replace(left, span=0)])
    assert "none of what was sampled here" in why(align(other, np.array([1.0, 1.0]), "g"))[2]


def test_ids_of_another_turn_are_seen_by_what_they_spell(tmp_path):
    renderer = Renderer.load(byte_level(tmp_path / "bytes"))
    spans = [told(-1), Span("assistant", 0, text="I pay 100."), told(0), Span("assistant", 1, text="Thanks, bye.")]
    first, second = (renderer.ids(spans[i].text) for i in (1, 3))
    prompt, between = renderer.ids("told"), renderer.ids("told")

    def found(a: list[int], b: list[int]) -> Aligned:
        turns = [TurnTokens(0, prompt, a), TurnTokens(1, [*prompt, *a, *between], b)]
        return aligned(spans, turns, [NAN, 1.0, NAN, 2.0], renderer=renderer)

    assert len(found(first, second).rows) == 1
    assert why(found(second, first)) == (
        0, 1, "the ids of this turn spell 'Thanks, bye.', and the log has 'I pay 100.'"
    )  # fmt: skip


def test_ids_that_are_logged_span_by_span_are_held_to_what_they_spell(tmp_path):
    renderer = Renderer.load(byte_level(tmp_path / "bytes"))
    ask, hm, yes, no = (renderer.ids(text) for text in ("told", "hm", "Yes.", "No."))

    def found(said: list[int], turns: list[TurnTokens]) -> Aligned:
        spans = [told(-1, ask), Span("reasoning", 0, text="hm", tokens=SpanTokens(hm))]
        spans.append(Span("assistant", 0, text="Yes.", tokens=SpanTokens(said)))
        return aligned(spans, turns, [NAN, 1.0, 2.0], renderer=renderer)

    for turns in ([], [TurnTokens(0, ask, [*hm, *yes])]):
        [row] = found(yes, turns).rows
        assert [(own.span, own.end - own.start) for own in row.spans] == [(1, len(hm)), (2, len(yes))]
    for turns in ([], [TurnTokens(0, ask, [*hm, *no])]):
        assert why(found(no, turns)) == (0, 2, "the ids of this turn spell 'hmNo.', and the log has 'Yes.'")


@pytest.mark.parametrize(("number", "told_of"), [(-1.0, True), (2.0, False), (0.0, False)])
def test_a_number_that_reaches_no_token_is_told(tmp_path, number: float, told_of: bool):
    """An empty answer beside its reasoning has no token of its own; what it shares with it reaches all the same."""
    renderer = Renderer.load(byte_level(tmp_path / "bytes"))
    spans = [told(-1), Span("reasoning", 0, text="hm"), Span("assistant", 0, text="")]
    turns = [TurnTokens(0, renderer.ids("told"), renderer.ids("hm"))]
    found = aligned(spans, turns, [NAN, 2.0, number], renderer=renderer)
    assert [own.span for row in found.rows for own in row.spans] == [1]
    assert (UNOWNED in found.notes) is told_of
