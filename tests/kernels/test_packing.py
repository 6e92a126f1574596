"""A packed batch is rescaled as one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trainers import TOLERANCE, golden
from trajcredit import kernels


def test_art_says_the_same() -> None:
    block = golden()["art"]["pack_example"]
    tokens = np.array(block["tokens"])
    offsets = np.concatenate([[0], np.cumsum(tokens)])
    given = np.repeat(np.array(block["adv_in"], dtype=float), tokens)
    got, weights = kernels.pack_rescale(given, np.ones(len(given), dtype=bool), offsets)
    np.testing.assert_allclose(got, block["adv_out"], atol=TOLERANCE)
    np.testing.assert_allclose(weights, block["weights"], atol=TOLERANCE)


def test_only_ratios_survive() -> None:
    # one token and two: w = 1, 1/2, 1/2 over 2/3; mean |A| w = (6 * 1.5 + 3 * .75 + 0) / 3 = 3.75
    offsets, mask = np.array([0, 2, 4]), np.array([True, False, True, True])
    given = np.array([6.0, 99.0, -3.0, 0.0])
    for size in (1.0, 1e-6, 40.0):
        got, weights = kernels.pack_rescale(size * given, mask, offsets)
        np.testing.assert_allclose(weights, [1.5, 0, 0.75, 0.75], rtol=1e-5)
        np.testing.assert_allclose(got, np.array([6, 0, -3, 0]) / 3.75, rtol=1e-5)


@pytest.mark.parametrize("mask", [[True, True], [False, False]])
def test_nothing_to_scale_stays_nothing(mask: list[bool]) -> None:
    got, weights = kernels.pack_rescale(np.zeros(2), np.array(mask), np.array([0, 1, 1, 2]))
    assert got.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(weights, np.array(mask, dtype=float), rtol=1e-12)
