"""Rows cut into calls of the policy, and one number where a trainer takes no more."""

from __future__ import annotations

import numpy as np
import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.calls import by_trajectory, calls, logprobs_of, one_number, version_of
from trajcredit.tokens import OwnedTokens


def cut(row):
    return [(call.turn, call.context_ids, call.sampled_ids, call.advantages) for call in calls(row)]


def test_a_call_is_what_the_policy_sampled_after_all_that_is_before() -> None:
    assert cut(two_turns()) == [
        (0, [7, 8], [11, 12], [0.5, 0.5]),
        (1, [7, 8, 11, 12, 21, 22, 23], [13], [-0.25]),
    ]


def test_spans_of_one_turn_are_one_call() -> None:
    spans = [OwnedTokens(1, 0, 0, 1, 0.5), OwnedTokens(2, 0, 1, 1, 9.0), OwnedTokens(3, 0, 1, 3, -1.0)]
    row = token_row([7], [1, 2, 3], [1, 1, 1], [0.5, -1.0, -1.0], spans=spans)
    assert cut(row) == [(0, [7], [1, 2, 3], [0.5, -1.0, -1.0])]


def test_turns_that_touch_are_two_calls() -> None:
    spans = [OwnedTokens(1, 0, 0, 2, 0.5), OwnedTokens(2, 1, 2, 3, 0.5)]
    row = token_row([7], [1, 2, 3], [1, 1, 1], [0.5, 0.5, 0.5], spans=spans)
    assert cut(row) == [(0, [7], [1, 2], [0.5, 0.5]), (1, [7, 1, 2], [3], [0.5])]


def test_a_turn_with_a_result_in_the_middle_is_two_calls() -> None:
    spans = [OwnedTokens(1, 4, 0, 1, 0.5), OwnedTokens(3, 4, 2, 3, 0.25)]
    row = token_row([7], [1, 2, 3], [1, 0, 1], [0.5, 0.0, 0.25], spans=spans)
    assert cut(row) == [(4, [7], [1], [0.5]), (4, [7, 1, 2], [3], [0.25])]


def test_tokens_that_an_earlier_row_trained_are_context() -> None:
    row = token_row([7], [1, 2, 3, 4], [0, 0, 0, 1], [0.0, 0.0, 0.0, 2.0], row=1)
    assert cut(row) == [(0, [7, 1, 2, 3], [4], [2.0])]


def test_numbers_are_those_that_float32_holds() -> None:
    [call] = calls(token_row([7], [1], [1], [0.1]))
    assert call.advantages == [0.10000000149011612]
    assert one_number(call, "stop", "X") == (0.10000000149011612, False)


def test_several_numbers_in_a_call_stop_or_become_their_mean() -> None:
    spans = [OwnedTokens(1, 0, 0, 1, 3.0), OwnedTokens(2, 0, 1, 4, -1.0)]
    [call] = calls(token_row([7], [1, 2, 3, 4], [1] * 4, [3.0, -1.0, -1.0, -1.0], spans=spans))
    with pytest.raises(InputError, match="t, row 0, turn 0: its tokens have advantages from -1 to 3, and ART takes"):
        one_number(call, "stop", "ART")
    assert one_number(call, "mean", "ART") == (0.0, True)


def test_a_row_without_a_prompt_has_no_calls_to_give() -> None:
    with pytest.raises(InputError, match="row 0 of t has no prompt"):
        list(calls(token_row([], [1], [1], [1.0])))


def test_missing_logprobs_are_not_made_up() -> None:
    with pytest.raises(InputError, match="t, row 0: the log has no log-probs of the sampled tokens, and Tinker"):
        logprobs_of(token_row([7], [1], [1], [1.0]), "Tinker")
    np.testing.assert_array_equal(logprobs_of(token_row([7], [1], [1], [1.0], logprobs=[-2.0]), "Tinker"), [-2.0])


@pytest.mark.parametrize(
    ("version", "number"), [(None, None), ("12", 12), ("step-12", None), ("-1", None), ("²", None)]
)
def test_only_a_whole_number_is_a_version_that_trainers_count(version, number) -> None:
    assert version_of(token_row([7], [1], [1], [1.0], policy_version=version)) == number


def test_rows_of_a_trajectory_come_together() -> None:
    rows = [token_row([7], [1], [1], [1.0], trajectory=name, row=row) for name, row in [("a", 0), ("a", 1), ("b", 0)]]
    assert [[(row.trajectory_id, row.row) for row in group] for group in by_trajectory(iter(rows))] == [
        [("a", 0), ("a", 1)],
        [("b", 0)],
    ]
