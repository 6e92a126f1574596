"""The recurrent network: its order of decisions by hand, its forward pass against a slow twin, what training finds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trajcredit.arrays import F64, I64
from trajcredit.critics.columns import F32
from trajcredit.critics.sequence_network import HIDDEN, SCALE, Packed, forecasts, packed, shapes, train

OWNER = np.array([0, 0, 1, 2, 2, 2], dtype=np.int64)


def weights(reads: int, n: int = 2, seed: int = 0) -> dict[str, F32]:
    """Weights of n networks that all differ, of readings with that many columns."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=(n, *shape)).astype(np.float32) for name, shape in shapes(reads - 1).items()}


def slow(net: dict[str, F64], reads: F64) -> tuple[list[float], list[float]]:
    """One network over one trajectory, a decision at a time."""

    def sigmoid(x: F64) -> F64:
        return 1 / (1 + np.exp(-x))

    memory, so_far = np.zeros(HIDDEN), 0.0
    before, added = [], []
    for step, row in enumerate(reads):
        place = [np.log1p(step), 1.0]
        seen = np.array([*memory, row[-1] * SCALE, *place])
        luck = np.tanh(seen @ net["luck_in"]) @ net["luck_out"]
        gain = np.tanh(seen @ net["gain_in"]) @ net["gain_out"]
        before.append(so_far + float(luck[0]))
        added.append(float((row[:-1] * (1 + gain)).sum()))
        so_far += added[-1]
        given = np.array([*(row * SCALE), row[:-1].sum() * SCALE, *place]) @ net["input"] + net["bias"][0]
        own = memory @ net["recurrent"]
        reset, keep = (sigmoid(given[k : k + HIDDEN] + own[k : k + HIDDEN]) for k in (0, HIDDEN))
        new = np.tanh(given[2 * HIDDEN :] + reset * own[2 * HIDDEN :])
        memory = new + keep * (memory - new)
    return before, added


def test_decisions_are_packed_step_by_step_longest_trajectory_first() -> None:
    found = packed(OWNER)
    assert found.order.tolist() == [3, 0, 2, 4, 1, 5]
    assert found.order[found.back].tolist() == [0, 1, 2, 3, 4, 5]
    assert found.sizes == (3, 2, 1)
    assert found.first.tolist() == [0, 2, 3]
    assert found.step.tolist() == [0, 1, 0, 0, 1, 2]
    assert isinstance(packed(np.zeros(0, dtype=np.int64)), Packed)


@pytest.mark.parametrize("seed", range(3))
def test_it_says_what_the_slow_loop_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    reads = random.normal(size=(len(OWNER), 4)).astype(np.float32) * 0.3
    nets = weights(4, seed=seed)
    before, added = forecasts(nets, reads, OWNER)
    wanted: list[tuple[F64, F64]] = []
    for n in range(2):
        net = {name: one[n].astype(np.float64) for name, one in nets.items()}
        runs = [slow(net, reads[t == OWNER].astype(np.float64)) for t in range(3)]
        wanted.append((np.concatenate([b for b, _ in runs]), np.concatenate([a for _, a in runs])))
    np.testing.assert_allclose(before, (wanted[0][0] + wanted[1][0]) / 2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(added, (wanted[0][1] + wanted[1][1]) / 2, rtol=1e-4, atol=1e-5)


def test_a_trajectory_is_forecast_as_if_it_were_alone() -> None:
    reads = np.random.default_rng(1).normal(size=(len(OWNER), 3)).astype(np.float32)
    nets = weights(3)
    for both, number in zip(forecasts(nets, reads, OWNER), (0, 1), strict=True):
        for t in range(3):
            mine = np.equal(OWNER, t)
            alone = forecasts(nets, reads[mine], np.zeros(int(mine.sum()), dtype=np.int64))[number]
            np.testing.assert_allclose(both[mine], alone, rtol=1e-6, atol=1e-6)


def test_a_choice_that_adds_nothing_adds_exactly_nothing() -> None:
    reads = np.zeros((3, 3), dtype=np.float32)
    reads[:, -1] = 0.7
    assert forecasts(weights(3), reads, np.zeros(3, dtype=np.int64))[1].tolist() == [0.0, 0.0, 0.0]


def folds(n: int, value: F64, target: F64) -> tuple[list[F32], list[F64], list[I64], I64]:
    """One fold of n trajectories of two choices; nothing is known of the state."""
    reads = np.stack([value.ravel(), np.zeros(2 * n)], axis=1).astype(np.float32)
    return [reads], [target], [np.arange(n, dtype=np.int64) % 4], np.repeat(np.arange(n, dtype=np.int64), 2)


def test_it_learns_that_a_choice_matters_only_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajcredit.critics.sequence_network.STEPS", 120)
    monkeypatch.setattr("trajcredit.critics.sequence_network.RATE", 0.04)
    value = np.sign(np.random.default_rng(0).normal(size=(240, 2))) * 0.5
    wanted = np.where(value[:, 0] > 0, 2 * value[:, 1], 0.0)  # the sum of both explains half of this at best
    [found] = train(*folds(240, value, wanted), held=2)
    assert found.skill > 0.8
    reads = np.array([[0.5, 0], [0.5, 0], [-0.5, 0], [0.5, 0]], dtype=np.float32)
    added = forecasts(found.weights, reads, np.array([0, 0, 1, 1]))[1]
    assert added[1] - added[3] > 0.6


def test_where_nothing_helps_the_linear_forecast_stays() -> None:
    value = np.random.default_rng(0).normal(size=(80, 2)) * 0.5
    noise = np.random.default_rng(1).normal(size=80)
    [found] = train(*folds(80, value, noise), held=2)
    assert found.skill < 0.05
    [exact] = train(*folds(80, value, value.sum(axis=1)), held=2)
    assert exact.skill == pytest.approx(1.0, abs=1e-3)
    assert not exact.weights["gain_out"].any(), "step 0 was best"


def test_the_folds_beside_one_do_not_change_what_it_learns() -> None:
    reads, target, part, owner = folds(40, np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0) % 3 - 1)
    [alone] = train(reads, target, part, owner, held=2)
    first, _ = train([reads[0], reads[0] * 0.5], [target[0], -target[0]], [part[0], part[0]], owner, held=2)
    assert first.skill == alone.skill
    for name in shapes(1):
        np.testing.assert_array_equal(first.weights[name], alone.weights[name])


def test_outcomes_that_do_not_differ_where_held_back_are_no_skill() -> None:
    target = np.where(np.arange(40) % 4 < 2, 0.0, 1.0)
    [found] = train(*folds(40, np.ones((40, 2)), target), held=2)
    assert found.skill == 0.0


def test_the_number_of_threads_is_put_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        forecasts(weights(2), np.zeros((1, 2), dtype=np.float32), np.zeros(1, dtype=np.int64))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
