"""How trainers reduce a loss of tokens to one number: the reference that exported advantages are held against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.trainers import TOLERANCE, golden, rows
from trajcredit.arrays import F64, I64


def token_mean(loss: F64, mask: I64) -> float:
    """sum l m / sum m."""
    return float((loss * mask).sum() / mask.sum())


def seq_mean_token_sum(loss: F64, mask: I64) -> float:
    """Mean over rows that have a sampled token of their sums."""
    return float((loss * mask).sum() / (mask.sum(axis=1) > 0).sum())


def seq_mean_token_mean(loss: F64, mask: I64) -> float:
    """Mean over rows that have a sampled token of their means."""
    sampled = mask.sum(axis=1)
    return float(((loss * mask).sum(axis=1) / (sampled + 1e-8)).sum() / (sampled > 0).sum())


def seq_mean_token_sum_norm(loss: F64, mask: I64) -> float:
    """seq-mean-token-sum over the padded length."""
    return seq_mean_token_sum(loss, mask) / float(loss.shape[1])


# verl 0.9.1 core_algos.py:1140 agg_loss
VERL: dict[str, Callable[[F64, I64], float]] = {
    "token-mean": token_mean,
    "seq-mean-token-sum": seq_mean_token_sum,
    "seq-mean-token-mean": seq_mean_token_mean,
    "seq-mean-token-sum-norm": seq_mean_token_sum_norm,
}


def test_verl_says_the_same() -> None:
    loss, mask = rows("step_rewards", "step_mask")
    got = {name: reduce(loss, mask) for name, reduce in VERL.items()}
    want = golden()["verl"]["agg_loss"]
    assert got.keys() == want.keys()
    np.testing.assert_allclose(list(got.values()), [want[name] for name in got], atol=TOLERANCE)


def test_rows_by_hand_and_one_without_a_sampled_token() -> None:
    loss, mask = np.array([[1.0, 3.0], [5.0, 9.0], [7.0, 7.0]]), np.array([[1, 1], [1, 0], [0, 0]])
    got = [reduce(loss, mask) for reduce in VERL.values()]
    np.testing.assert_allclose(got, [3.0, 4.5, 3.5, 2.25], rtol=1e-7)


def test_the_loss_of_a_live_step_is_minus_the_mean_advantage_of_its_tokens() -> None:
    """TRL's default loss at a ratio of 1 (loss_type dapo, beta 0)."""
    live = golden()["trl"]["one_step"]
    mask = (np.arange(40) < live["sum_mask"]).astype(np.int64)[None]
    advantages = np.where(mask, live["sum_adv_mask"] / live["sum_mask"], 9.0)
    np.testing.assert_allclose(token_mean(-advantages, mask), live["loss"], atol=TOLERANCE)
