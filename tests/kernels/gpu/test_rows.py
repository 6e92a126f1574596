"""Twins of padded rows: every trainer's rule for gaps, float32 in and out, against numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.gpu.twins import devices, same
from trajcredit import kernels
from trajcredit.arrays import F64, I64
from trajcredit.kernels.padded import F32
from trajcredit.kernels.padded_gaps import GAE_GAPS, RETURN_GAPS

SINGLE = 2e-6
"""Both round to float32 what they computed in float64; whitening subtracts from that."""


def rows(shape: tuple[int, int]) -> tuple[F32, F32, I64, I64, F64]:
    """Rewards, values, mask, turns, bootstrap: padded behind, gaps between, one row without a sampled token."""
    random = np.random.default_rng(shape[1])
    mask = (random.random(shape) < 0.6) & (np.arange(shape[1]) < random.integers(0, shape[1] + 1, shape[0])[:, None])
    mask[:1] = False
    turn: I64 = np.cumsum(random.random(shape) < 0.2, axis=1, dtype=np.int64)
    numbers: list[npt.NDArray[np.float32]] = [random.normal(size=shape).astype(np.float32) for _ in range(2)]
    return numbers[0], numbers[1], mask.astype(np.int64), turn, random.normal(size=shape[0])


@devices
@pytest.mark.parametrize("shape", [(4, 33), (1, 9), (3, 1), (2, 130)])
def test_rows_are_those_of_numba(device: str, shape: tuple[int, int]) -> None:
    rewards, values, mask, turn, bootstrap = rows(shape)
    for gamma, lam in [(0.99, 0.95), (1.0, 1.0), (0.0, 0.5)]:
        same(kernels.padded_gae, device, rewards, values, mask, gamma, lam, rtol=SINGLE)
        by_turn = rewards, values, mask, turn, bootstrap, gamma, lam
        same(kernels.padded_advantages_by_turn, device, *by_turn, rtol=SINGLE)
        for flavour in GAE_GAPS:
            read = rewards, values, mask, bootstrap, gamma, lam, flavour
            same(kernels.padded_advantages, device, *read, rtol=SINGLE)
        for flavour in RETURN_GAPS:
            same(kernels.padded_returns, device, rewards, mask, gamma, flavour, rtol=SINGLE)
    same(kernels.padded_broadcast, device, bootstrap, mask)
    same(kernels.padded_sums, device, rewards)


@devices
def test_fewer_than_two_sampled_tokens_get_nothing(device: str) -> None:
    rewards, values, mask, _, _ = rows((2, 5))
    for n in (0, 1):
        few = np.zeros_like(mask)
        few[:n, :1] = 1
        same(kernels.padded_gae, device, rewards, values, few, 0.9, 0.9, rtol=SINGLE)
