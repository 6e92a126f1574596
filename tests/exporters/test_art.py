"""ART's groups: a reward a turn and an anchor, so that reward minus group mean is our number."""

from __future__ import annotations

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters.token_rows import token_row, two_turns
from tests.trainers import TOLERANCE, golden
from trajcredit.errors import InputError
from trajcredit.exporters.art import Art, group
from trajcredit.registry import exporters
from trajcredit.tokens import OwnedTokens


def test_two_turns_by_hand() -> None:
    assert group([two_turns()], "stop", "turn") == {
        "uid": "g",
        "trajectory_id": "t",
        "turns": [
            {"row": 0, "turn": 0, "reward": 0.5, "token_ids": [11, 12], "reduced": False},
            {"row": 0, "turn": 1, "reward": -0.25, "token_ids": [13], "reduced": False},
        ],
        "anchor_reward": -0.25,
    }


def centred(rewards, scale=False):
    """ART's advantages of a group (openpipe-art 0.5.18, preprocessing/tokenize.py:247-256)."""
    mean = sum(rewards) / len(rewards)
    std = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    return [(reward - mean) / (std + 1e-6) if scale else reward - mean for reward in rewards]


def packed(turns):
    """ART's weights and advantages a token (tokenize.py:281, pack.py:126-152) of (advantage, tokens); 0 is left out."""
    kept = [(advantage, n) for advantage, n in turns if advantage]
    weights = [1 / (n + 1e-6) for _, n in kept for _ in range(n)]
    mean = sum(weights) / len(weights)
    weights = [weight / mean for weight in weights]
    advantages = [advantage for advantage, n in kept for _ in range(n)]
    size = sum(abs(a) * w for a, w in zip(advantages, weights, strict=True)) / len(weights)
    return weights, [advantage / size for advantage in advantages]


def rewards_of(record):
    return [*(turn["reward"] for turn in record["turns"]), record["anchor_reward"]]


def test_the_advantage_that_art_computes_is_our_number() -> None:
    assert centred(rewards_of(group([two_turns()], "stop", "turn"))) == [0.5, -0.25, -0.25]


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=9))
def test_the_mean_of_a_group_is_0_whatever_the_numbers(values) -> None:
    spans = [OwnedTokens(k, k, k, k + 1, value) for k, value in enumerate(values)]
    row = token_row([7], list(range(len(values))), [1] * len(values), values, spans=spans)
    got = centred(rewards_of(group([row], "stop", "turn")))[:-1]
    assert got == pytest.approx(values, abs=1e-12)


def test_our_reading_of_art_gives_the_numbers_that_art_gave() -> None:
    said = golden()["art"]
    assert centred(golden()["inputs"]["R"][:4], scale=True) == pytest.approx(said["grpo_g0"], abs=TOLERANCE)
    example = said["pack_example"]
    weights, advantages = packed(list(zip(example["adv_in"], example["tokens"], strict=True)))
    assert weights == pytest.approx(example["weights"], abs=TOLERANCE)
    assert advantages == pytest.approx(example["adv_out"], abs=TOLERANCE)


def lengths(turns):
    """A row of (advantage, tokens) turns that touch."""
    values = [advantage for advantage, n in turns for _ in range(n)]
    spans, start = [], 0
    for k, (advantage, n) in enumerate(turns):
        spans.append(OwnedTokens(k, k, start, start + n, advantage))
        start += n
    return token_row([7], list(range(start)), [1] * start, values, spans=spans)


def worth(shapes, weigh):
    """What one token of each turn weighs in ART's loss, over that of the first, of trajectories packed together."""
    turns = []
    for shape in shapes:
        record = group([lengths(shape)], "stop", weigh)
        advantages = centred(rewards_of(record))[:-1]
        turns += [(advantage, n) for advantage, (_, n) in zip(advantages, shape, strict=True)]
    weights, scaled = packed(turns)
    each, at = [], 0
    for _, n in turns:
        each.append(scaled[at] * weights[at])
        at += n
    return [one / each[0] for one in each]


@pytest.mark.parametrize(
    ("weigh", "tokens"),
    [
        pytest.param("turn", [3 / 2, -1 / 6, 3 / 4], id="each turn weighs its advantage, shared by its tokens"),
        pytest.param("token", [3, -1, 3], id="each token weighs its advantage"),
        pytest.param("trajectory", [3 / 8, -1 / 8, 3 / 4], id="as a trajectory that is not cut"),
    ],
)
def test_what_a_token_weighs_in_arts_loss(weigh, tokens) -> None:
    got = worth([[(3.0, 2), (-1.0, 6)], [(3.0, 4)]], weigh)
    assert got == pytest.approx([weight / tokens[0] for weight in tokens], rel=1e-5)


def test_ratios_survive_arts_scaling_and_size_does_not() -> None:
    _, one = packed([(0.5, 3), (-0.25, 3)])
    _, ten = packed([(5.0, 3), (-2.5, 3)])
    assert one == pytest.approx(ten)
    assert one[0] / one[-1] == pytest.approx(-2.0)


def test_turns_of_all_rows_are_one_group_and_a_trajectory_is_a_line() -> None:
    rows = [two_turns(), token_row([9], [1], [1], [2.0], row=1), token_row([9], [5], [1], [3.0], trajectory="u")]
    out = io.BytesIO()
    assert Art().encode(iter(rows), out) == 2
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert [(turn["row"], turn["reward"]) for turn in first["turns"]] == [(0, 0.5), (0, -0.25), (1, 2.0)]
    assert (first["anchor_reward"], second["anchor_reward"]) == (-2.25, -3.0)


def test_nothing_earned_needs_no_anchor_against_it() -> None:
    assert str(group([token_row([7], [1], [1], [0.0])], "stop", "turn")["anchor_reward"]) == "0.0"


def test_several_numbers_in_a_turn_stop_the_export_or_are_averaged_and_marked() -> None:
    spans = [OwnedTokens(1, 0, 0, 1, 1.0), OwnedTokens(2, 0, 1, 2, 0.0)]
    row = token_row([7], [1, 2], [1, 1], [1.0, 0.0], spans=spans)
    with pytest.raises(InputError, match="ART takes one number a call"):
        group([row], "stop", "turn")
    [turn] = group([row], "mean", "turn")["turns"]
    assert (turn["reward"], turn["reduced"]) == (0.5, True)


@pytest.mark.parametrize("parameters", [{"reduce": "max"}, {"weigh": "span"}])
def test_a_parameter_out_of_range_is_refused(parameters) -> None:
    with pytest.raises(InputError, match="expected"):
        Art(**parameters)


def test_it_is_an_exporter() -> None:
    assert exporters.items()["art"].suffix == ".jsonl"
