"""Padded rows with tokens nobody sampled between those somebody did: each trainer's numbers, by hand and by twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.kernels import naive_tokens as naive
from tests.laws import unit
from tests.trainers import TOLERANCE, golden, rows
from trajcredit import kernels
from trajcredit.kernels.padded_gaps import GAE_GAPS, RETURN_GAPS

NAMES = {0: "skip", 1: "step", 2: "read", 3: "reset"}
MASK = np.array([[1, 0, 0, 1]])
NOTHING_AFTER = np.zeros(1)


def _f32(*numbers: float) -> Any:
    return np.array([numbers], dtype=np.float32)


@pytest.mark.parametrize(
    ("flavour", "advantages"),
    [
        # last: 1 - .5 = .5; first: .5 * .5 - .25 + .5 * .5 * .5
        pytest.param("verl", [0.125, 0, 0, 0.5], id="verl steps over the gap"),
        pytest.param("nemo", [0.125, 0, 0, 0.5], id="so does nemo"),
        # the gap's second token: .5 V = .25, + .25 * .5; its first: 0 + .25 * .375; the action: -.25 + .25 * .09375
        pytest.param("openrlhf", [-0.25 + 0.25 * 0.09375, 0, 0, 0.5], id="openrlhf discounts at each token of it"),
        # V = 4 and r = 8 in the gap: 8 + .25 - 4 + .125; 8 + 2 - 4 + .25 * 4.375; 0 + 2 - .25 + .25 * 7.09375
        pytest.param("skyrl", [1.75 + 0.25 * 7.09375, 7.09375, 4.375, 0.5], id="skyrl reads it"),
        pytest.param("slime", [1.75 + 0.25 * 7.09375, 7.09375, 4.375, 0.5], id="so does slime"),
        pytest.param("areal", [-0.25, 0, 0, 0], id="areal never acts in the last column"),
    ],
)
def test_gae_over_a_gap_by_hand(flavour: str, advantages: list[float]) -> None:
    rewards, values = _f32(0, 8, 8, 1), _f32(0.25, 4, 4, 0.5)
    got, returns = kernels.padded_advantages(rewards, values, MASK, NOTHING_AFTER, 0.5, 0.5, flavour)
    np.testing.assert_allclose(got, [advantages], rtol=0, atol=1e-12)
    stands = np.array(advantages) != 0
    np.testing.assert_allclose(returns[0, stands], (got + values)[0, stands], rtol=0, atol=1e-12)


def test_a_row_cut_off_goes_on_from_its_bootstrap() -> None:
    rewards, values = _f32(0, 8, 8, 1), _f32(0.25, 4, 4, 0.5)
    got, _ = kernels.padded_advantages(rewards, values, MASK, np.array([0.5]), 0.5, 0.5, "verl")
    np.testing.assert_allclose(got, [[0.1875, 0, 0, 0.75]], rtol=0, atol=1e-12)
    got, _ = kernels.padded_advantages(rewards, values, MASK, np.array([0.5]), 0.5, 0.5, "areal")
    np.testing.assert_allclose(got, [[0.0, 0, 0, 0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("flavour", "returns"),
    [
        pytest.param("verl", [1 + 0.5 * 0.5, 0.5, 0, 0, 1, 2], id="verl carries them over"),
        pytest.param("openrlhf", [1 + 0.5 * 0.125, 0.125, 0, 0, 1, 2], id="openrlhf discounts at each token"),
        pytest.param("skyrl", [1, 0, 8, 8 + 0.5, 1, 2], id="skyrl drops them"),
    ],
)
def test_returns_over_a_gap_by_hand(flavour: str, returns: list[float]) -> None:
    rewards, mask = _f32(1, 0, 8, 8, 0, 2), np.array([[1, 1, 0, 0, 1, 1]])
    got = kernels.padded_returns(rewards, mask, 0.5, flavour)
    np.testing.assert_allclose(got, [returns], rtol=0, atol=1e-12)


def test_unknown_trainers_are_not_guessed() -> None:
    one = _f32(1)
    with pytest.raises(KeyError, match="vrel"):
        kernels.padded_advantages(one, one, np.array([[1]]), NOTHING_AFTER, 1.0, 1.0, "vrel")
    with pytest.raises(KeyError, match="slime"):
        kernels.padded_returns(one, np.array([[1]]), 1.0, "slime")


@pytest.mark.parametrize(
    ("trainer", "key", "flavour"),
    [
        ("verl", "gae_raw", "verl"),
        ("nemo_rl", "gae_raw", "nemo"),
        ("areal", "token_gae", "areal"),
        ("openrlhf", "gae_raw", "openrlhf"),
        ("skyrl", "gae_raw_response_mask=loss_mask", "skyrl"),
        ("slime", "gae_raw(no mask)", "slime"),
    ],
)
def test_trainers_say_the_same_of_gae(trainer: str, key: str, flavour: str) -> None:
    rewards, values, mask = rows("step_rewards", "values", "step_mask")
    block, inputs = golden()[trainer], golden()["inputs"]
    args = (np.zeros(4), inputs["gamma"], inputs["lam"], flavour)
    got, returns = kernels.padded_advantages(rewards, values, mask, *args)
    np.testing.assert_allclose(got * mask if trainer == "skyrl" else got, block[key], atol=TOLERANCE)
    if "gae_returns" in block:
        np.testing.assert_allclose(returns, block["gae_returns"], atol=TOLERANCE)
    if "gae_whitened" in block:
        white = kernels.padded_whiten(got, mask, kernels.WHITENING[flavour])
        np.testing.assert_allclose(white, block["gae_whitened"], atol=TOLERANCE)


def test_areal_says_the_same_by_turn() -> None:
    rewards, values, mask = rows("step_rewards", "values", "step_mask")
    block, inputs = golden()["areal"]["turn_gae"], golden()["inputs"]
    args = (np.array(block["turn_ids"]), np.zeros(4), inputs["gamma"], inputs["lam"])
    got, returns = kernels.padded_advantages_by_turn(rewards, values, mask, *args)
    np.testing.assert_allclose(got, block["adv"], atol=TOLERANCE)
    np.testing.assert_allclose(returns, block["returns_on_mask"], atol=TOLERANCE)


def test_areal_exports_turns_one_by_one_as_they_are() -> None:
    block = golden()["areal"]["individual_export"]
    mask = np.roll(np.array(block["loss_mask_in"]), -1, axis=1)
    np.testing.assert_array_equal(mask, block["loss_mask_out"])
    rewards = np.zeros(mask.shape, dtype=np.float32)
    rewards[np.arange(2), np.array(block["seq_lens"]) - 2] = block["rewards"]
    got, _ = kernels.padded_advantages(rewards, 0 * rewards, mask, np.zeros(2), 1.0, 1.0, "areal")
    np.testing.assert_allclose(got * mask, block["adv_times_mask"], atol=TOLERANCE)


@pytest.mark.parametrize(
    ("trainer", "key", "flavour"),
    [
        ("verl", "rf++_returns_gamma0.9", "verl"),
        ("skyrl", "rf++_returns", "skyrl"),
        ("openrlhf", "cum_returns_gamma0.9", "openrlhf"),
    ],
)
def test_trainers_say_the_same_of_returns(trainer: str, key: str, flavour: str) -> None:
    rewards, mask = rows("step_rewards", "step_mask")
    got = kernels.padded_returns(rewards, mask, golden()["inputs"]["gamma"], flavour)
    np.testing.assert_allclose(got, golden()[trainer][key], atol=TOLERANCE)
    if trainer == "verl":
        white = kernels.padded_whiten(got, mask, kernels.WHITENING["verl"])
        np.testing.assert_allclose(white, golden()["verl"]["rf++_adv"], atol=TOLERANCE)


def test_verl_drops_a_reward_that_sits_on_a_tool_token() -> None:
    block = golden()["verl"]["reward_on_tool_token"]
    rewards, mask = np.array([block["token_rewards"]], dtype=np.float32), np.array([block["mask"]])
    _, returns = kernels.padded_advantages(rewards, 0 * rewards, mask, NOTHING_AFTER, 1.0, 1.0, "verl")
    np.testing.assert_allclose(returns, [block["gae_returns_gamma1_lam1_V0"]], atol=TOLERANCE)
    got = kernels.padded_returns(rewards, mask, 1.0, "verl")
    np.testing.assert_allclose(got, [block["rf_plus_plus_returns"]], atol=TOLERANCE)


number = st.floats(-4, 4, width=32)
token_rows = st.tuples(st.integers(1, 3), st.integers(1, 9)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float32, shape, elements=number),
        arrays(np.float32, shape, elements=number),
        arrays(np.int64, shape, elements=st.integers(0, 1)),
        arrays(np.int64, shape, elements=st.integers(0, 2)),
        arrays(np.float64, shape[:1], elements=st.floats(-2, 2)),
    )
)


@settings(max_examples=40)
@given(token_rows, unit, unit)
def test_padded_rows_say_what_the_slow_loops_say(given: tuple[Any, ...], gamma: float, lam: float) -> None:
    rewards, values, mask, turn, bootstrap = given
    before = mask.copy()
    for flavour, gap in GAE_GAPS.items():
        got, _ = kernels.padded_advantages(rewards, values, mask, bootstrap, gamma, lam, flavour)
        acts = mask.copy()
        if flavour == "areal":
            acts[:, -1] = 0
        want = [
            naive.advantages(r.tolist(), v.tolist(), m.tolist(), float(b), gamma, lam, NAMES[gap])
            for r, v, m, b in zip(rewards, values, acts, bootstrap, strict=True)
        ]
        np.testing.assert_allclose(got, want, atol=1e-4, rtol=1e-5, err_msg=flavour)
    got, _ = kernels.padded_advantages_by_turn(rewards, values, mask, turn, bootstrap, gamma, lam)
    want = [
        naive.by_turn(r.tolist(), v.tolist(), m.tolist(), t.tolist(), float(b), gamma, lam)
        for r, v, m, t, b in zip(rewards, values, mask, turn, bootstrap, strict=True)
    ]
    np.testing.assert_allclose(got, want, atol=1e-4, rtol=1e-5)
    for flavour, gap in RETURN_GAPS.items():
        got = kernels.padded_returns(rewards, mask, gamma, flavour)
        want = [naive.returns(r.tolist(), m.tolist(), gamma, NAMES[gap]) for r, m in zip(rewards, mask, strict=True)]
        np.testing.assert_allclose(got, want, atol=1e-4, rtol=1e-5, err_msg=flavour)
    np.testing.assert_array_equal(mask, before)
