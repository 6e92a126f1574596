"""Our numbers against those that real trainers produced (trainers.md, trainers_golden.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.attributors import Attributor, Gae, Grpo, Rloo
from trajcredit.batching import Batch

GOLDEN = Path(__file__).parents[3] / "shared" / "trainers_golden.json"
TOLERANCE = 2e-6
"""The file holds float32 rounded to six decimals."""


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    """The file, where the shared folder lies beside the repository."""
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN} is not there")
    loaded: dict[str, Any] = json.loads(GOLDEN.read_text())
    return loaded


@pytest.mark.parametrize(
    ("attributor", "trainer", "key", "rows"),
    [
        pytest.param(Grpo(singleton="as_trainer"), "verl", "grpo", 9, id="verl grpo"),
        pytest.param(Grpo(singleton="as_trainer", scale="none"), "verl", "grpo_nostd", 9, id="verl Dr. GRPO"),
        pytest.param(Grpo(singleton="as_trainer"), "verl", "grpo_vectorized", 9, id="verl grpo, vectorized"),
        pytest.param(Rloo(singleton="as_trainer"), "verl", "rloo", 9, id="verl rloo"),
        pytest.param(Grpo("trl"), "trl", "grpo_group", 4, id="trl grpo"),
        pytest.param(Rloo("trl"), "trl", "rloo", 4, id="trl rloo"),
    ],
)
def test_outcome_estimators(golden: dict[str, Any], attributor: Attributor, trainer: str, key: str, rows: int) -> None:
    scores, groups = golden["inputs"]["R"][:rows], golden["inputs"]["uid"][:rows]
    batch = batch_of(*(run("a", score, group=group) for score, group in zip(scores, groups, strict=True)))
    np.testing.assert_allclose(attributor(batch).advantage, golden[trainer][key], atol=TOLERANCE)


def test_trl_in_a_live_training_step(golden: dict[str, Any]) -> None:
    live = golden["trl"]["live_group_check"]
    got = Grpo("trl")(batch_of(*(run("a", score) for score in live["rewards"])))
    np.testing.assert_allclose(got.advantage, live["adv"], atol=TOLERANCE)


def _token_batch(golden: dict[str, Any], turn_ids: list[list[int]] | None = None) -> Batch:
    """Every token a span: mask 1 an answer, mask 0 an orphan tool result."""
    inputs, runs = golden["inputs"], []
    for row, mask in enumerate(inputs["step_mask"]):
        turns = None
        if turn_ids is not None:  # trailing padding says turn 0; an observation has the turn before it
            turns = np.maximum.accumulate(np.where(mask, turn_ids[row], 0)).tolist()
        rewards = {i: reward for i, reward in enumerate(inputs["step_rewards"][row]) if reward}
        spans = "".join("ra"[token] for token in mask)
        runs.append(run(spans, rewards=rewards, values=inputs["values"][row], turns=turns))
    return batch_of(*runs)


@pytest.mark.parametrize("trainer", ["verl", "nemo_rl"])
def test_gae_by_token(golden: dict[str, Any], trainer: str) -> None:
    batch = _token_batch(golden)
    got = Gae(golden["inputs"]["gamma"], golden["inputs"]["lam"])(batch).advantage
    np.testing.assert_allclose(np.nan_to_num(got), np.ravel(golden[trainer]["gae_raw"]), atol=TOLERANCE)


def test_gae_by_turn(golden: dict[str, Any]) -> None:
    want = golden["areal"]["turn_gae"]
    batch = _token_batch(golden, want["turn_ids"])
    got = Gae(golden["inputs"]["gamma"], golden["inputs"]["lam"], unit="turn")(batch).advantage
    np.testing.assert_allclose(np.nan_to_num(got), np.ravel(want["adv"]), atol=TOLERANCE)
