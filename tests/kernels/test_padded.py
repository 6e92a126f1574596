"""Padded rows of tokens: the flat kernel's numbers, whitened as verl does it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.laws import unit
from trajcredit import kernels

GOLDEN = Path(__file__).parents[3] / "shared" / "trainers_golden.json"
rows = st.tuples(st.integers(1, 4), st.integers(1, 20))
number = st.floats(-4, 4, width=32)


def test_two_deltas_whitened_by_hand() -> None:
    # A = 1, 3, 5 (gamma 0): mean 3, sample variance 4; what stands off the mask changes nothing
    rewards = np.array([[1, 3, 99], [5, 77, 0]], dtype=np.float32)
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    advantages, returns = kernels.padded_gae(rewards, np.zeros_like(rewards), mask, 0.0, 0.0)
    np.testing.assert_allclose(advantages, [[-1, 0, 0], [1, 0, 0]], atol=1e-7)
    np.testing.assert_array_equal(returns, [[1, 3, 0], [5, 0, 0]])


@pytest.mark.parametrize("sampled", [0, 1])
def test_fewer_than_two_sampled_tokens_cannot_be_whitened(sampled: int) -> None:
    mask = np.array([[sampled, 0]])
    ones = np.ones((1, 2), dtype=np.float32)
    advantages, _ = kernels.padded_gae(ones, 0 * ones, mask, 1.0, 1.0)
    assert advantages.tolist() == [[0.0, 0.0]]


def test_equal_deltas_stand_at_zero_however_little_float32_tells_them_apart() -> None:
    rewards = np.array([[3, 3]], dtype=np.float32)
    values = np.full((1, 2), 0.6373986, dtype=np.float32)
    advantages, _ = kernels.padded_gae(rewards, values, np.ones((1, 2), dtype=np.int64), 0.0, 0.0)
    assert advantages.tolist() == [[0.0, 0.0]]


def test_a_large_mean_does_not_swallow_a_small_variance() -> None:
    rewards = np.array([[4096, 4096.25]], dtype=np.float32)
    advantages, _ = kernels.padded_gae(rewards, np.zeros_like(rewards), np.ones((1, 2), dtype=np.int64), 0.0, 0.0)
    np.testing.assert_allclose(advantages, [[-(0.5**0.5), 0.5**0.5]], rtol=1e-5)


@pytest.mark.skipif(not GOLDEN.exists(), reason=f"{GOLDEN} is not there")
def test_verl_says_the_same() -> None:
    golden = json.loads(GOLDEN.read_text())
    inputs, verl = golden["inputs"], golden["verl"]
    rewards, values = (np.array(inputs[name], dtype=np.float32) for name in ("step_rewards", "values"))
    mask = np.array(inputs["step_mask"])
    advantages, returns = kernels.padded_gae(rewards, values, mask, inputs["gamma"], inputs["lam"])
    np.testing.assert_allclose(advantages, verl["gae_whitened"], atol=2e-6)
    np.testing.assert_allclose(returns, verl["gae_returns"], atol=2e-6)


@given(
    rows.flatmap(lambda shape: st.tuples(*(arrays(np.float32, shape, elements=number),) * 2, arrays(bool, shape))),
    unit,
    unit,
)
def test_padded_is_the_flat_kernel_whitened(columns: tuple[np.ndarray, ...], gamma: float, lam: float) -> None:
    rewards, values, mask = columns
    b, n = mask.shape
    reward, value = rewards.ravel().astype(float), values.ravel().astype(float)
    flat = kernels.gae(reward, value, mask.ravel(), np.zeros(b), np.arange(b + 1) * n, gamma, lam)
    advantages, returns = kernels.padded_gae(rewards, values, mask.astype(np.int64), gamma, lam)
    sampled = flat[mask.ravel()]
    np.testing.assert_allclose(returns[mask], sampled + values[mask], atol=1e-4)
    assert (advantages[~mask] == 0).all()
    if len(sampled) > 1:
        white = (sampled - sampled.mean()) / np.sqrt(sampled.var(ddof=1) + 1e-8)
        np.testing.assert_allclose(advantages[mask], white, atol=1e-4)


@given(arrays(np.float32, rows, elements=number))
def test_row_sums_are_sums(rewards: np.ndarray) -> None:
    np.testing.assert_allclose(kernels.padded_sums(rewards), rewards.sum(axis=1, dtype=float), atol=1e-9)


def test_a_scalar_goes_to_sampled_tokens_only() -> None:
    got = kernels.padded_broadcast(np.array([0.75, -0.75]), np.array([[0, 1, 1], [1, 0, 0]]))
    assert got.tolist() == [[0, 0.75, 0.75], [-0.75, 0, 0]]
