"""Twins of scans: returns, advantages by span and by turn, baselines, deltas; against numba and against the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.kernels.gpu.twins import devices, few, same, tensors
from tests.laws import Columns, columns, halves, outcome, unit
from trajcredit import kernels
from trajcredit.arrays import F64, offsets_of
from trajcredit.kernels import gpu
from trajcredit.kernels.gpu.segments import linear
from trajcredit.kernels.visits import backed_up


def ragged(seed: int = 0) -> Columns:
    """Thousands of spans: empty trajectories, single spans, one of a thousand spans, one unscored."""
    random = np.random.default_rng(seed)
    lengths = [0, 1, 1000, 0, 17, 64, 65, 1, *random.integers(0, 60, 60).tolist(), 0]
    offsets = offsets_of(lengths)
    n = int(offsets[-1])
    rewards = random.normal(size=n)
    rewards[offsets[4] : offsets[5]] = np.nan
    turn = np.concatenate([np.sort(random.integers(0, 1 + length // 3, length)) for length in lengths])
    return Columns(
        rewards, random.normal(size=n), random.random(n) < 0.6, turn, random.normal(size=len(lengths)), offsets
    )


def every_scan(c: Columns, device: str, gamma: float, lam: float) -> list[F64]:
    """All twins of one batch against numba; what the first three gave."""
    mask, offsets = c.action_mask, c.offsets
    got = [
        same(kernels.reward_to_go, device, c.rewards, mask, offsets, gamma)[0],
        same(kernels.gae, device, c.rewards, c.values, mask, c.bootstrap, offsets, gamma, lam)[0],
        same(kernels.gae_by_turn, device, c.rewards, c.values, mask, c.turn, c.bootstrap, offsets, gamma, lam)[0],
    ]
    same(kernels.broadcast, device, c.bootstrap, mask, offsets)
    same(kernels.turn_starts, device, mask, c.turn, offsets)
    same(kernels.count_missing, device, c.rewards, mask, offsets)
    same(kernels.last_actions, device, mask, offsets)
    same(kernels.rewarded, device, c.rewards, mask, offsets)
    same(kernels.score_deltas, device, np.where(mask, c.rewards, np.nan), c.bootstrap, mask, offsets)
    same(kernels.score_deltas, device, c.values, np.full_like(c.bootstrap, np.nan), mask, offsets)
    same(kernels.pack_rescale, device, c.values, mask, offsets)
    return got


@devices
@few
@given(columns(), unit, unit)
def test_scans_say_what_numba_and_the_formula_say(device: str, c: Columns, gamma: float, lam: float) -> None:
    rtg, gae, by_turn = every_scan(c, device, gamma, lam)
    both = c.rewards, c.values, c.action_mask
    np.testing.assert_allclose(rtg, naive.reward_to_go(c.rewards, c.action_mask, c.offsets, gamma), atol=1e-9)
    np.testing.assert_allclose(gae, naive.gae(*both, c.bootstrap, c.offsets, gamma, lam), atol=1e-9)
    wanted = naive.gae_by_turn(*both, c.turn, c.bootstrap, c.offsets, gamma, lam)
    np.testing.assert_allclose(by_turn, wanted, atol=1e-9)


@devices
def test_long_short_empty_and_unscored_trajectories_do_not_touch_each_other(device: str) -> None:
    for gamma, lam in [(0.99, 0.95), (1.0, 1.0), (0.0, 0.5)]:
        every_scan(ragged(), device, gamma, lam)


@devices
@few
@given(st.lists(outcome, max_size=12), unit)
def test_moving_averages_are_those_of_numba_and_of_the_formula(device: str, outcomes: list[float], beta: float) -> None:
    got = same(kernels.moving_average, device, np.array(outcomes, dtype=float), beta)[0]
    np.testing.assert_allclose(got, naive.moving_average(outcomes, beta), atol=1e-9)


def test_the_average_of_equal_outcomes_is_exactly_that() -> None:
    got = gpu.moving_average(torch.full((50,), 0.1, dtype=torch.float64), 0.9)
    assert got[0] == 0.0
    assert (got[1:] == 0.1).all()


@devices
@few
@given(columns(), st.data(), halves)
def test_backed_up_values_are_those_of_numba(device: str, c: Columns, data: st.DataObject, gamma: float) -> None:
    trajectory = np.repeat(np.arange(len(c.offsets) - 1), np.diff(c.offsets))
    shared = c.action_mask
    values = np.where(shared, c.values, np.nan)  # read where shared alone
    same(backed_up, device, values, c.rewards, trajectory, shared, gamma)


@devices
def test_many_settings_in_one_pass_are_each_setting_by_itself(device: str) -> None:
    c = ragged()
    gammas, lams = torch.tensor([[0.9], [1.0], [0.0]]).double(), torch.tensor([[0.5], [0.95], [1.0]]).double()
    columns: Any = tensors((c.rewards, c.values, c.action_mask, c.bootstrap, c.offsets), device)
    rewards, _, mask, _, offsets = columns
    together = gpu.gae(*(*columns, gammas.to(device), lams.to(device)))
    returns = gpu.reward_to_go(rewards, mask, offsets, gammas.to(device))
    for s, (gamma, lam) in enumerate(zip(gammas[:, 0].tolist(), lams[:, 0].tolist(), strict=True)):
        torch.testing.assert_close(together[s], gpu.gae(*(*columns, gamma, lam)), rtol=0, atol=0, equal_nan=True)
        alone = gpu.reward_to_go(rewards, mask, offsets, gamma)
        torch.testing.assert_close(returns[s], alone, rtol=0, atol=0, equal_nan=True)


@devices
def test_a_scan_both_ways_is_the_loop(device: str) -> None:
    random = np.random.default_rng(1)
    starts = random.random(300) < 0.05
    starts[0] = True
    factor, term = random.random(300), random.normal(size=300)
    wanted = np.zeros(300)
    for i in range(300):
        wanted[i] = term[i] + (0.0 if starts[i] else factor[i] * wanted[i - 1])
    there: Any = tensors((factor, term, starts), device)
    np.testing.assert_allclose(linear(*there).cpu().numpy(), wanted, rtol=1e-12, atol=1e-13)
    for i in range(299, -1, -1):
        wanted[i] = term[i] + (0.0 if i == 299 or starts[i + 1] else factor[i] * wanted[i + 1])
    back = linear(*(*there, True)).cpu().numpy()
    np.testing.assert_allclose(back, wanted, rtol=1e-12, atol=1e-13)
