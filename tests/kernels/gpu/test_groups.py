"""Twins of group statistics, of visits to states and of whitening: against numba, and against fractions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.kernels.gpu.twins import devices, few, same, tensors
from tests.laws import grouped, reward
from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.kernels import gpu
from trajcredit.kernels.visits import first_visits, state_values, visitors

ATOL = 1e-9


def every_statistic(outcome: F64, group: I64, device: str) -> dict[str, F64]:
    """All twins of one batch against numba; what they gave, by name."""
    got = {"members": same(kernels.members, device, outcome, group)[0]}
    centred = kernels.centre(outcome, group)
    got["centre"] = same(kernels.centre, device, outcome, group)[0]
    got["leave_one_out"] = same(kernels.leave_one_out, device, centred, group)[0]
    for ddof in (0, 1):
        for kernel in (kernels.spread, kernels.sibling_spread):
            got[f"{kernel.__name__}{ddof}"] = deviation = same(kernel, device, centred, group, ddof)[0]
            same(kernels.scaled, device, centred, deviation, 1e-6)
    return got


@devices
@few
@given(grouped())
def test_groups_say_what_numba_and_fractions_say(device: str, drawn: tuple[F64, I64]) -> None:
    got = every_statistic(*drawn, device)
    assert got["members"].tolist() == naive.members(*drawn)
    np.testing.assert_allclose(got["centre"], naive.centre(*drawn), atol=ATOL)
    np.testing.assert_allclose(got["leave_one_out"], naive.leave_one_out(*drawn), atol=ATOL)
    for ddof in (0, 1):
        np.testing.assert_allclose(got[f"spread{ddof}"], naive.spread(*drawn, ddof), atol=1e-7)
        np.testing.assert_allclose(got[f"sibling_spread{ddof}"], naive.sibling_spread(*drawn, ddof), atol=1e-7)


@devices
def test_large_small_absent_and_unscored_groups(device: str) -> None:
    random = np.random.default_rng(0)
    group = random.integers(0, 40, 2000) * 2  # every second label has no member
    group[:300] = 6
    outcome = np.where(random.random(2000) < 0.1, np.nan, random.normal(size=2000))
    outcome[group == 8] = np.nan
    every_statistic(outcome, group, device)


@devices
def test_equal_rewards_are_exactly_nothing(device: str) -> None:
    outcome, group = tensors((np.full(7, 0.1), np.array([0, 1, 0, 1, 0, 0, 1])), device)
    centred = gpu.centre(outcome, group)
    assert not centred.any()
    assert not gpu.spread(centred, group, 1).any()
    assert not gpu.sibling_spread(gpu.centre(outcome * 3, group) + 0.25, group, 1).any()


@devices
@few
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans(), reward), max_size=15), st.floats(0, 1))
def test_visits_are_those_of_numba(device: str, steps: list[tuple[int, bool, bool, float]], own: float) -> None:
    node = np.array([state for state, _, _, _ in steps], dtype=np.int64)
    trajectory = np.cumsum([new for _, new, _, _ in steps], dtype=np.int64)
    returns = np.array([value for _, _, _, value in steps], dtype=float)
    first = same(first_visits, device, node, trajectory)[0]
    counted = first & np.array([scored for _, _, scored, _ in steps], dtype=bool)
    same(visitors, device, node, counted)
    for weight in (own, 0.0, 1.0):
        same(state_values, device, np.where(counted, returns, np.nan), node, trajectory, counted, weight)


@devices
@pytest.mark.parametrize("how", sorted(kernels.WHITENING))
def test_whitening_is_that_of_numba(device: str, how: str) -> None:
    random = np.random.default_rng(2)
    mask = random.random((5, 40)) < 0.5
    rule = kernels.WHITENING[how]
    for values in (random.normal(size=(5, 40)), np.full((5, 40), 0.1), 1e9 + random.random((5, 40))):
        off = np.where(mask, values, np.nan)
        same(kernels.padded_whiten, device, off, mask, rule, rtol=1e-7)
        same(kernels.whiten, device, off[0], mask[0].astype(np.int64), rule, rtol=1e-7)
        same(kernels.whiten, device, off[1].astype(np.float32), mask[1], rule, rtol=1e-6)
    same(kernels.whiten, device, np.zeros(0), np.zeros(0, dtype=bool), rule)
    same(kernels.whiten, device, np.ones(3), np.zeros(3, dtype=bool), rule)


@devices
def test_moments_merged_from_chunks_whiten_as_the_whole(device: str) -> None:
    values = np.random.default_rng(3).normal(size=60)
    mask, rule = np.arange(60) % 3 > 0, kernels.WHITENING["verl"]
    there, on = tensors((values, mask), device)
    both = gpu.merged(gpu.moments(there[:25], on[:25]), gpu.moments(there[25:], on[25:]))
    chunked = torch.cat([gpu.whitened(there[:25], on[:25], both, rule), gpu.whitened(there[25:], on[25:], both, rule)])
    np.testing.assert_allclose(chunked.cpu().numpy(), kernels.whiten(values, mask, rule), atol=1e-12)
    assert gpu.moments(there, on).count == 40
