"""Our numbers against those that real trainers produced (trainers.md, trainers_golden.json)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, group_of, run
from tests.trainers import TOLERANCE, golden
from trajcredit.attributors import Attributor, Gae, Gigpo, Grpo, Maxrl, Opo, Passk, ReinforcePp, Rloo
from trajcredit.attributors.steps import steps_of
from trajcredit.batching import Batch
from trajcredit.model import Trajectory

OUTCOME: list[tuple[str, str, Any]] = [
    ("verl", "grpo", Grpo(singleton="as_trainer")),
    ("verl", "grpo_nostd", Grpo(singleton="as_trainer", scale="none")),
    ("verl", "grpo_vectorized", Grpo(singleton="as_trainer")),
    ("verl", "rloo", Rloo(singleton="as_trainer")),
    ("verl", "rloo_vectorized", Rloo()),
    ("verl", "grpo_passk_g0g1", Passk()),
    ("skyrl", "grpo", Grpo("skyrl", singleton="as_trainer")),
    ("skyrl", "rloo", Rloo("skyrl", singleton="as_trainer")),
    ("skyrl", "maxrl", Maxrl(singleton="as_trainer")),
    ("openrlhf", "rloo", Rloo("openrlhf", singleton="as_trainer")),
    ("openrlhf", "group_norm", Grpo("openrlhf", singleton="as_trainer")),
    ("rllm", "grpo_g0", Grpo("rllm", singleton="as_trainer")),
    ("rllm", "rloo_g0", Rloo("rllm", singleton="as_trainer")),
    ("nemo_rl", "grpo_loo_norm", Grpo("nemo", singleton="as_trainer")),
    ("nemo_rl", "grpo_mean_norm", Grpo("nemo", singleton="as_trainer", baseline="group")),
    ("nemo_rl", "grpo_loo_nonorm", Grpo("nemo", singleton="as_trainer", scale="none")),
    ("nemo_rl", "grpo_loo_nonorm", Rloo("nemo", singleton="as_trainer")),
    ("areal", "reward_norm_group", Grpo("areal", singleton="as_trainer")),
    ("areal", "reward_norm_group_loo_nostd", Grpo("areal", singleton="as_trainer", baseline="siblings", scale="none")),
    ("areal", "reward_norm_group_loo_nostd", Rloo("areal", singleton="as_trainer")),
    ("areal", "reward_norm_group_loo_std", Grpo("areal", singleton="as_trainer", baseline="siblings")),
    ("slime", "grpo", Grpo("slime", singleton="as_trainer")),
    ("art", "grpo_g0", Grpo("art", singleton="as_trainer")),
    ("trl", "grpo_group", Grpo("trl", singleton="as_trainer")),
    ("trl", "async_grpo", Grpo("trl_async", singleton="as_trainer")),
    ("trl", "rloo", Rloo("trl", singleton="as_trainer")),
    ("prime_rl", "grpo", Grpo("prime", singleton="as_trainer")),
]


@pytest.mark.parametrize(
    ("trainer", "key", "attributor"), OUTCOME, ids=lambda given: given if isinstance(given, str) else ""
)
def test_outcome_estimators(trainer: str, key: str, attributor: Attributor) -> None:
    inputs, want = golden()["inputs"], golden()[trainer][key]
    scores, groups = inputs["R"][: len(want)], inputs["uid"][: len(want)]
    batch = batch_of(*(run("a", score, group=group) for score, group in zip(scores, groups, strict=True)))
    np.testing.assert_allclose(attributor(batch).advantage, want, atol=TOLERANCE)


def test_a_group_of_one_as_rllm_has_it() -> None:
    rllm, batch = golden()["rllm"], batch_of(*group_of(golden()["inputs"]["R"][8]))
    np.testing.assert_allclose(Grpo("rllm", singleton="as_trainer")(batch).advantage, rllm["grpo_g2"], atol=TOLERANCE)
    np.testing.assert_allclose(Rloo("rllm", singleton="as_trainer")(batch).advantage, rllm["rloo_g2"], atol=TOLERANCE)


def test_trl_in_a_live_training_step() -> None:
    live = golden()["trl"]["live_group_check"]
    got = Grpo("trl")(batch_of(*(run("a", score) for score in live["rewards"])))
    np.testing.assert_allclose(got.advantage, live["adv"], atol=TOLERANCE)


def _by_token(mask: list[int]) -> str:
    """Every token a span: mask 1 an answer, mask 0 an orphan tool result."""
    return "".join("ra"[token] for token in mask)


def _outcome_tokens(rows: int) -> tuple[Batch, list[list[int]]]:
    inputs = golden()["inputs"]
    runs = [
        run(_by_token(mask), score, group=group)
        for mask, score, group in zip(inputs["response_mask"][:rows], inputs["R"], inputs["uid"], strict=False)
    ]
    return batch_of(*runs), inputs["response_mask"][:rows]


@pytest.mark.parametrize(
    ("trainer", "key", "attributor"),
    [
        ("verl", "rf++_baseline", ReinforcePp(baseline="group", singleton="as_trainer")),
        ("nemo_rl", "rf++_minus_baseline", ReinforcePp("nemo", baseline="group", singleton="as_trainer")),
    ],
)
def test_reinforce_pp_with_a_baseline(trainer: str, key: str, attributor: Attributor) -> None:
    got = np.nan_to_num(attributor(_outcome_tokens(9)[0]).advantage)
    np.testing.assert_allclose(got, np.ravel(golden()[trainer][key]), atol=TOLERANCE)


def test_opo_weighs_a_rollout_by_its_sampled_tokens() -> None:
    batch, mask = _outcome_tokens(9)
    lengths = replace(batch, n_tokens=np.where(batch.action_mask, 1, 99))
    starts = [int(row) * 8 for row in range(9)]  # every row samples its first token
    assert all(row[0] for row in mask)
    got = Opo(singleton="as_trainer")(lengths).advantage[starts]
    np.testing.assert_allclose(got, golden()["verl"]["opo"], atol=TOLERANCE)


def _step_tokens(turn_ids: list[list[int]] | None = None, last: bool = True) -> Batch:
    """The rows with step rewards and values; without `last`, the last column is padding."""
    inputs, runs = golden()["inputs"], []
    for row, mask in enumerate(inputs["step_mask"]):
        turns = None
        if turn_ids is not None:  # trailing padding says turn 0; an observation has the turn before it
            turns = np.maximum.accumulate(np.where(mask, turn_ids[row], 0)).tolist()
        kept = mask if last else [*mask[:-1], 0]
        given = enumerate(inputs["step_rewards"][row])
        rewards = {i: reward for i, reward in given if reward and kept[i]}
        runs.append(run(_by_token(kept), rewards=rewards, values=inputs["values"][row], turns=turns))
    return batch_of(*runs)


def _masked(numbers: list[list[float]]) -> Any:
    return np.ravel(np.array(numbers) * np.array(golden()["inputs"]["step_mask"]))


@pytest.mark.parametrize(
    ("trainer", "key", "flavour", "whiten"),
    [
        ("verl", "gae_raw", "verl", False),
        ("verl", "gae_whitened", "verl", True),
        ("nemo_rl", "gae_raw", "nemo", False),
        ("nemo_rl", "gae_whitened", "nemo", True),
        ("openrlhf", "gae_raw", "openrlhf", False),
        ("skyrl", "gae_raw_response_mask=loss_mask", "skyrl", False),
        ("slime", "gae_raw(no mask)", "slime", False),
    ],
)
def test_gae_by_token(trainer: str, key: str, flavour: Any, whiten: bool) -> None:
    gae = Gae(golden()["inputs"]["gamma"], golden()["inputs"]["lam"], flavour=flavour, whiten=whiten)
    got = np.nan_to_num(gae(_step_tokens()).advantage)
    np.testing.assert_allclose(got, _masked(golden()[trainer][key]), atol=TOLERANCE)


@pytest.mark.parametrize(("trainer", "flavour"), [("verl", "verl"), ("openrlhf", "openrlhf")])
def test_gae_returns_are_the_advantage_and_the_value(trainer: str, flavour: Any) -> None:
    batch = _step_tokens()
    credit = Gae(golden()["inputs"]["gamma"], golden()["inputs"]["lam"], flavour=flavour)(batch).credit
    want = golden()[trainer]["gae_returns"]
    np.testing.assert_allclose(np.nan_to_num(credit + batch.values), np.ravel(want), atol=TOLERANCE)


def test_gae_by_token_where_the_last_column_is_padding() -> None:
    gae = Gae(golden()["inputs"]["gamma"], golden()["inputs"]["lam"], flavour="areal")
    got = np.nan_to_num(gae(_step_tokens(last=False)).advantage)
    np.testing.assert_allclose(got, np.ravel(golden()["areal"]["token_gae"]), atol=TOLERANCE)


def test_gae_by_turn() -> None:
    want = golden()["areal"]["turn_gae"]
    batch = _step_tokens(want["turn_ids"])
    got = Gae(golden()["inputs"]["gamma"], golden()["inputs"]["lam"], unit="turn", flavour="areal")(batch).advantage
    np.testing.assert_allclose(np.nan_to_num(got), np.ravel(want["adv"]), atol=TOLERANCE)


@pytest.mark.parametrize(
    ("trainer", "key", "flavour", "column"),
    [
        ("verl", "rf++_returns_gamma0.9", "verl", "credit"),
        ("verl", "rf++_adv", "verl", "advantage"),
        ("skyrl", "rf++_returns", "skyrl", "credit"),
        ("openrlhf", "cum_returns_gamma0.9", "openrlhf", "credit"),
    ],
)
def test_reinforce_pp_by_token(trainer: str, key: str, flavour: Any, column: str) -> None:
    got = getattr(ReinforcePp(flavour, gamma=golden()["inputs"]["gamma"])(_step_tokens()), column)
    np.testing.assert_allclose(np.nan_to_num(got), _masked(golden()[trainer][key]), atol=TOLERANCE)


@pytest.mark.parametrize(("scale", "key"), [("none", "adv_mean_norm"), ("group", "adv_mean_std_norm")])
def test_gigpo(scale: Any, key: str) -> None:
    block = golden()["gigpo"]
    runs: dict[str, list[int]] = {}
    for k, row in enumerate(block["rows"]):
        runs.setdefault(row[0], []).append(k)
    rewards = block["step_rewards"]
    told: list[Trajectory] = [
        run("a" * len(rows), rewards={i: rewards[k] for i, k in enumerate(rows)}, turns=range(len(rows)))
        for rows in runs.values()
    ]
    anchor = {name: n for n, name in enumerate(dict.fromkeys(block["anchor"]))}
    batch = replace(batch_of(*told), state_key=np.array([anchor[a] for a in block["anchor"]], dtype=np.uint64))
    np.testing.assert_allclose(batch.outcome.repeat(2), block["episode_reward_rows"], atol=TOLERANCE)
    np.testing.assert_allclose(steps_of(batch, block["gamma"]).returns, block["step_returns"], atol=TOLERANCE)
    got = Gigpo(gamma=block["gamma"], scale=scale, count="steps", singleton="as_trainer")(batch)
    np.testing.assert_allclose(got.advantage, block[key], atol=TOLERANCE)


ELSEWHERE = {
    "verl": {
        "version": "no number",
        "opo": "test_opo_weighs_a_rollout_by_its_sampled_tokens",
        "rf++_baseline": "test_reinforce_pp_with_a_baseline",
        "gae_whitened": "test_gae_by_token",
        "gae_returns": "test_gae_returns_are_the_advantage_and_the_value",
        "gae_raw": "test_gae_by_token",
        "rf++_returns_gamma0.9": "test_reinforce_pp_by_token",
        "rf++_adv": "test_reinforce_pp_by_token",
        "masked_whiten_of_step_on_mask": "kernels/test_whitening.py",
        "agg_loss": "kernels/test_losses.py",
        "reward_on_tool_token": "kernels/test_padded_gaps.py",
    },
    "gigpo": dict.fromkeys(
        (
            "rows",
            "anchor",
            "step_rewards",
            "gamma",
            "step_returns",
            "episode_reward_rows",
            "adv_mean_norm",
            "adv_mean_std_norm",
        ),
        "test_gigpo",
    ),
    "skyrl": {
        "version": "no number",
        "gae_raw_response_mask=loss_mask": "test_gae_by_token",
        "rf++_returns": "test_reinforce_pp_by_token",
    },
    "openrlhf": {
        "version": "no number",
        "gae_raw": "test_gae_by_token",
        "gae_returns": "test_gae_returns_are_the_advantage_and_the_value",
        "cum_returns_gamma0.9": "test_reinforce_pp_by_token",
    },
    "rllm": {
        "commit": "no number",
        "grpo_g2": "test_a_group_of_one_as_rllm_has_it",
        "rloo_g2": "test_a_group_of_one_as_rllm_has_it",
        "verl_backend_list_advantage": "no number: an error of the trainer",
    },
    "nemo_rl": {
        "commit": "no number",
        "gae_raw": "test_gae_by_token",
        "gae_whitened": "test_gae_by_token",
        "rf++_minus_baseline": "test_reinforce_pp_with_a_baseline",
    },
    "areal": {
        "version": "no number",
        "adv_norm_batch_on_step": "kernels/test_whitening.py",
        "turn_gae": "test_gae_by_turn, kernels/test_padded_gaps.py",
        "token_gae": "test_gae_by_token_where_the_last_column_is_padding, kernels/test_padded_gaps.py",
        "individual_export": "kernels/test_padded_gaps.py",
    },
    "slime": {"commit": "no number", "gae_raw(no mask)": "test_gae_by_token, kernels/test_padded_gaps.py"},
    "art": {"version": "no number", "pack_example": "kernels/test_packing.py"},
    "trl": {
        "version": "no number",
        "one_step": "kernels/test_losses.py",
        "live_group_check": "test_trl_in_a_live_training_step",
    },
    "prime_rl": {"commit": "no number"},
}
"""Blocks beside those of OUTCOME, and the test that reproduces each."""


def test_every_block_of_the_file_has_a_test() -> None:
    there = {(trainer, key) for trainer, block in golden().items() if isinstance(block, dict) for key in block}
    told = {(trainer, key) for trainer, block in ELSEWHERE.items() for key in block}
    told |= {(trainer, key) for trainer, key, _ in OUTCOME}
    assert {block for block in there if block[0] != "inputs"} == told
