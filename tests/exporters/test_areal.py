"""AReaL's interactions: the reward of each is the advantage that its actor computes, on exactly the sampled tokens."""

from __future__ import annotations

import io
import json

import pytest

from tests.exporters.token_rows import token_row, two_turns
from tests.trainers import golden
from trajcredit.errors import InputError
from trajcredit.exporters.areal import Areal, interaction
from trajcredit.exporters.calls import calls
from trajcredit.registry import exporters
from trajcredit.tokens import OwnedTokens


def records(row, reduce="stop", clip=20.0):
    return [interaction(call, reduce, clip) for call in calls(row)]


def test_two_turns_by_hand() -> None:
    assert records(two_turns()) == [
        {
            "uid": "g",
            "trajectory_id": "t",
            "row": 0,
            "turn": 0,
            "input_ids": [7, 8, 11, 12],
            "loss_mask": [0, 0, 1, 1],
            "logprobs": [0.0, 0.0, -0.5, -1.5],
            "versions": [-1, -1, 4, 4],
            "rewards": [0.5],
            "reduced": False,
        },
        {
            "uid": "g",
            "trajectory_id": "t",
            "row": 0,
            "turn": 1,
            "input_ids": [7, 8, 11, 12, 21, 22, 23, 13],
            "loss_mask": [0, 0, 0, 0, 0, 0, 0, 1],
            "logprobs": [0.0] * 7 + [-0.75],
            "versions": [-1] * 7 + [4],
            "rewards": [-0.25],
            "reduced": False,
        },
    ]


def advantages_of(batch, clip=20.0, discount=1.0, lam=1.0):
    """The actor's `_compute_advantages` (areal 1.0.4, trainer/ppo/actor.py:145-249) without a KL term, a critic, norms.

    Rows are padded to the longest on the right. The mask rolled left by one, and advantages times it.
    """
    width = max(len(record["input_ids"]) for record in batch)
    masks, found = [], []
    for record in batch:
        length = len(record["input_ids"])
        padded = record["loss_mask"] + [0] * (width - length)
        mask = padded[1:] + padded[:1]  # torch.roll(loss_mask, -1)
        rewards = [0.0] * width
        rewards[max(length - 2, 0)] += min(max(record["rewards"][0], -clip), clip)
        running, advantages = 0.0, [0.0] * width
        for t in reversed(range(width - 1)):  # values are 0 without a critic, so delta is the reward
            stepped = rewards[t] + discount * lam * running
            running = running * (1 - mask[t]) + stepped * mask[t]
            advantages[t] = running
        masks.append(mask)
        found.append([a * m for a, m in zip(advantages, mask, strict=True)])
    return masks, found


def trained(batch):
    """Token -> advantage that multiplies its log-prob: after the roll, entry j is about token j + 1."""
    masks, found = advantages_of(batch)
    return [
        [(record["input_ids"][j + 1], advantages[j]) for j in range(len(mask)) if mask[j]]
        for record, mask, advantages in zip(batch, masks, found, strict=True)
    ]


def test_the_actor_gives_each_sampled_token_our_number_and_no_other() -> None:
    assert trained(records(two_turns())) == [[(11, 0.5), (12, 0.5)], [(13, -0.25)]]


def test_rows_of_different_lengths_and_turns_that_touch() -> None:
    spans = [OwnedTokens(1, 0, 0, 2, 0.75), OwnedTokens(2, 1, 2, 5, -0.25)]
    row = token_row([1, 2, 3], [4, 5, 6, 7, 8], [1] * 5, [0.75] * 2 + [-0.25] * 3, spans=spans)
    assert trained(records(row)) == [[(4, 0.75), (5, 0.75)], [(6, -0.25), (7, -0.25), (8, -0.25)]]


def test_the_released_actor_computed_these_numbers_of_such_an_export() -> None:
    said = golden()["areal"]["individual_export"]
    first, second = said["rewards"]
    spans = [OwnedTokens(1, 0, 0, 2, first), OwnedTokens(2, 1, 2, 5, second)]
    row = token_row([1, 2, 3], [4, 5, 6, 7, 8], [1] * 5, [first] * 2 + [second] * 3, spans=spans)
    batch = records(row)
    width = max(said["seq_lens"])
    assert [len(record["input_ids"]) for record in batch] == said["seq_lens"]
    padded = [record["loss_mask"] + [0] * (width - len(record["loss_mask"])) for record in batch]
    assert padded == said["loss_mask_in"]
    assert advantages_of(batch) == (said["loss_mask_out"], said["adv_times_mask"])


def test_a_reward_on_a_row_that_ends_with_other_tokens_is_lost_so_no_row_does() -> None:
    [record] = records(token_row([7], [1, 2, 3], [1, 1, 0], [0.5, 0.5, 0.0]))
    assert record["input_ids"] == [7, 1, 2]
    assert trained([record]) == [[(1, 0.5), (2, 0.5)]]
    assert trained([record | {"input_ids": [7, 1, 2, 3], "loss_mask": [0, 1, 1, 0]}]) == [[(1, 0.0), (2, 0.0)]]


def test_what_the_actor_would_clip_stops_the_export() -> None:
    row = token_row([7], [1], [1], [-20.5])
    with pytest.raises(InputError, match=r"t, row 0, turn 0: an advantage of -20\.5 is cut by AReaL to 20"):
        records(row)
    assert records(row, clip=21.0)[0]["rewards"] == [-20.5]
    assert records(token_row([7], [1], [1], [20.0]))[0]["rewards"] == [20.0]


def test_several_numbers_in_a_turn_stop_the_export_or_are_averaged_and_marked() -> None:
    spans = [OwnedTokens(1, 0, 0, 1, 1.0), OwnedTokens(2, 0, 1, 2, 0.0)]
    row = token_row([7], [1, 2], [1, 1], [1.0, 0.0], spans=spans)
    with pytest.raises(InputError, match="AReaL takes one number a call"):
        Areal().encode(iter([row]), io.BytesIO())
    out = io.BytesIO()
    assert Areal(reduce="mean").encode(iter([row]), out) == 1
    line = json.loads(out.getvalue())
    assert (line["rewards"], line["reduced"]) == ([0.5], True)


def test_what_the_log_lacks_stays_null() -> None:
    [record] = records(token_row([7], [1], [1], [1.0], policy_version="step-4"))
    assert (record["logprobs"], record["versions"]) == (None, None)


@pytest.mark.parametrize("parameters", [{"reduce": "max"}, {"reward_clip": 0.0}, {"reward_clip": float("nan")}])
def test_a_parameter_out_of_range_is_refused(parameters) -> None:
    with pytest.raises(InputError, match="parameter re"):
        Areal(**parameters)


def test_it_is_an_exporter() -> None:
    assert exporters.items()["areal"].suffix == ".jsonl"
