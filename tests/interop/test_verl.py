"""The real verl 0.9: it takes our numbers through its own registry, and its estimators give what our flavours give."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.build import batch_of, run
from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import written
from trajcredit import kernels
from trajcredit.attributors import Attributor, Gae, Gpg, Grpo, Opo, Passk, ReinforcePp, Rloo
from trajcredit.batching import Batch
from trajcredit.exporters.verl import Verl
from trajcredit.integrations import verl as ours
from trajcredit.integrations.reading import ReplayedTwiceError

pytestmark = pytest.mark.interop

LATER = token_row([7, 8, 9], [14, 15], [0, 1], [0.0, 2.0], logprobs=[0.0, -3.0], uid="h", row=1)
OTHER = token_row([9], [16], [1], [-1.5], logprobs=[-0.125], uid="h", trajectory="u")
ROWS = [two_turns(), LATER, OTHER]


@pytest.fixture
def core() -> Any:
    pytest.importorskip("verl", reason="verl is not installed")
    from verl.trainer.ppo import core_algos

    return core_algos


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(Verl(), tmp_path, *ROWS)


# ---------------------------------------------------------------- our numbers, through verl


@pytest.mark.usefixtures("core")
def test_verl_loads_the_estimator_by_the_name_of_its_module() -> None:
    code = (
        "import verl\n"
        "from verl.trainer.ppo.core_algos import get_adv_estimator_fn\n"
        "print(get_adv_estimator_fn('trajcredit_external').__module__)"
    )
    told = os.environ | {
        "VERL_USE_EXTERNAL_MODULES": "trajcredit.integrations.verl",
        "VERL_USE_EXTERNAL_PLUGINS": "none",
    }
    done = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "trajcredit.integrations.verl"


@pytest.mark.usefixtures("core")
def test_the_driver_computes_exactly_our_advantages(path: Path) -> None:
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.ray_trainer import compute_advantage

    ours.register()
    data = ours.data_proto(list(ours.rows(path)), pad_id=11)  # an id that also occurs in the rows
    assert data.batch["prompts"].tolist() == [[11, 7, 8], [7, 8, 9], [11, 11, 9]]
    assert data.batch["responses"].tolist() == [[11, 12, 21, 22, 23, 13], [14, 15, 11, 11, 11, 11], [16] + [11] * 5]
    assert data.batch["attention_mask"].tolist() == [
        [0, 1, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0, 0, 0],
    ]
    assert data.batch["position_ids"][0].tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    found = compute_advantage(data, adv_estimator=ours.ESTIMATOR, config=AlgoConfig())
    expected = [[0.5, 0.5, 0, 0, 0, -0.25], [0, 2.0, 0, 0, 0, 0], [-1.5, 0, 0, 0, 0, 0]]
    assert found.batch["advantages"].tolist() == expected
    assert found.batch["returns"].tolist() == expected
    assert found.non_tensor_batch["uid"].tolist() == ["g", "h", "h"]


@pytest.mark.usefixtures("core")
def test_the_v1_trainer_sees_every_row_of_a_session(path: Path) -> None:
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories

    ours.register()
    data = ours.data_proto(list(ours.rows(path)), pad_id=0)
    keys = ["g_0_0", "g_0_1", "h_0_0"]
    found = compute_advantage_for_multi_trajectories(data, keys, adv_estimator=ours.ESTIMATOR, config=AlgoConfig())
    assert found.batch["advantages"][1].tolist() == [0, 2.0, 0, 0, 0, 0]


@pytest.mark.usefixtures("core")
def test_the_agent_loop_replays_every_row_of_a_trajectory(path: Path) -> None:
    from hydra.utils import instantiate

    loop = instantiate(
        {"_target_": "trajcredit.integrations.verl.ReplayLoop", "path": str(path)},
        trainer_config=None,
        server_manager=None,
        tokenizer=None,
        processor=None,
        dataset_cls=None,
        data_config=None,
        tools=None,
    )
    outputs = asyncio.run(loop.run({}, extra_info={"index": 0, "trajectory_id": "t"}, raw_prompt=[]))
    assert len(outputs) == 2
    first, second = (output.as_dict() for output in outputs)
    assert first["rm_scores"].tolist() == [0.5, 0.5, 0, 0, 0, -0.25]
    assert first["rm_scores"].dtype == torch.float32
    assert first["prompts"].tolist() == [7, 8]
    assert first["response_mask"].tolist() == [1, 1, 0, 0, 0, 1]
    assert first["rollout_log_probs"].tolist() == [-0.5, -1.5, 0, 0, 0, -0.75]
    assert second["rm_scores"].tolist() == [0, 2.0]
    assert "token_rewards" not in first
    with pytest.raises(ReplayedTwiceError, match="t was rolled out once"):
        asyncio.run(loop.run({}, extra_info={"trajectory_id": "t"}, session_id=1))


@pytest.mark.usefixtures("core")
def test_no_reward_worker_is_asked_and_the_rows_of_a_session_keep_their_numbers(path: Path) -> None:
    """What agent_loop_tq.py:172 does to the outputs of a session before it calls `as_dict`."""
    loop = ours.ReplayLoop(path=path)
    outputs = asyncio.run(loop.run({}, extra_info={"trajectory_id": "t"}))
    final = outputs[-1]
    assert final.reward_score is not None
    for output in outputs[:-1]:
        output.reward_score = final.reward_score
        output.extra_fields["reward_extra_info"] = final.extra_fields["reward_extra_info"]
    assert outputs[0].as_dict()["rm_scores"].tolist() == [0.5, 0.5, 0, 0, 0, -0.25]


# ---------------------------------------------------------------- verl's estimators and our flavours

MASKS = ["aarraa", "aaarra", "ara", "aararaaa", "aaaa", "ararara", "aara", "a", "aa"]
OUTCOMES = [1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 0.25, -0.5, 0.3]
GROUPS = ["g", "g", "g", "g", "h", "h", "h", "h", "alone"]


def padded(values: list[list[float]]) -> Any:
    width = max(map(len, MASKS))
    return torch.tensor([row + [0.0] * (width - len(row)) for row in values])


MASK = [[float(letter == "a") for letter in letters] for letters in MASKS]
LAST = [letters.rindex("a") for letters in MASKS]
STEPS = [[round(0.1 * ((3 * i + 5 * j) % 7 - 2), 1) * on for j, on in enumerate(row)] for i, row in enumerate(MASK)]
VALUES = [
    [round(0.1 * ((2 * i + 3 * j) % 9), 1) if on else 9.0 for j, on in enumerate(row)] for i, row in enumerate(MASK)
]


def outcomes(rows: int) -> tuple[Batch, dict[str, Any]]:
    """Every token a span, and what verl's outcome estimators are given: the reward on the last sampled token."""
    runs = [run(MASKS[i], OUTCOMES[i], group=GROUPS[i], name=str(i)) for i in range(rows)]
    rewards = [[OUTCOMES[i] * (j == LAST[i]) for j in range(len(MASKS[i]))] for i in range(rows)]
    given = {
        "token_level_rewards": padded(rewards),
        "response_mask": padded(MASK[:rows]),
        "index": np.array(GROUPS[:rows], dtype=object),
    }
    batch = batch_of(*runs)
    return batch, given


def same(batch: Batch, ours: Any, theirs: torch.Tensor, rows: int) -> None:
    """Equal on every sampled token of every row, to what float32 holds."""
    wanted = np.concatenate([theirs[i, : len(MASKS[i])].numpy() for i in range(rows)])
    sampled = np.concatenate([MASK[i] for i in range(rows)]) == 1
    assert batch.action_mask.tolist() == sampled.tolist()
    np.testing.assert_allclose(ours[sampled], wanted[sampled], atol=2e-6)


def config(**settings: Any) -> Any:
    from verl.trainer.config import AlgoConfig

    return AlgoConfig(**settings)


@pytest.mark.parametrize(
    ("name", "rows", "attributor", "options"),
    [
        pytest.param("grpo", 9, Grpo(singleton="as_trainer"), {}, id="grpo"),
        pytest.param(
            "grpo", 9, Grpo(singleton="as_trainer", scale="none"), {"norm_adv_by_std_in_grpo": False}, id="dr_grpo"
        ),
        pytest.param("grpo_vectorized", 9, Grpo(singleton="as_trainer"), {}, id="grpo_vectorized"),
        pytest.param("rloo", 9, Rloo(singleton="as_trainer"), {}, id="rloo"),
        pytest.param("rloo_vectorized", 9, Rloo(), {}, id="rloo_vectorized"),
        pytest.param("opo", 9, Opo(singleton="as_trainer"), {}, id="opo"),
        pytest.param("grpo_passk", 8, Passk(), {"config": {}}, id="pass@k: verl refuses a group of one"),
        pytest.param("gpg", 9, Gpg(singleton="as_trainer"), {}, id="gpg"),
        pytest.param(
            "reinforce_plus_plus_baseline",
            9,
            ReinforcePp(baseline="group", singleton="as_trainer"),
            {},
            id="reinforce++ baseline",
        ),
    ],
)
def test_outcome_estimators(core: Any, name: str, rows: int, attributor: Attributor, options: dict[str, Any]) -> None:
    batch, given = outcomes(rows)
    if name == "opo":  # a token a span: sampled ones count
        batch = batch_with_token_counts(batch)
    if "config" in options:
        options = {"config": config()}
    theirs, _ = core.get_adv_estimator_fn(name)(**given, **options)
    same(batch, attributor(batch).advantage, theirs, rows)


def batch_with_token_counts(batch: Batch) -> Batch:
    from dataclasses import replace

    return replace(batch, n_tokens=np.ones_like(batch.n_tokens))


def steps() -> Batch:
    runs = []
    for i, letters in enumerate(MASKS):
        rewards = {j: reward for j, reward in enumerate(STEPS[i]) if reward}
        runs.append(run(letters, rewards=rewards, values=VALUES[i], group=GROUPS[i], name=str(i)))
    return batch_of(*runs)


def test_gae_skips_observations_and_is_whitened(core: Any) -> None:
    theirs, _ = core.compute_gae_advantage_return(padded(STEPS), padded(VALUES), padded(MASK), 0.9, 0.8)
    batch = steps()
    same(batch, Gae(0.9, 0.8, flavour="verl", whiten=True)(batch).advantage, theirs, len(MASKS))
    rewards, values, mask = (padded(x).numpy() for x in (STEPS, VALUES, MASK))
    by_token, _ = kernels.padded_gae(rewards, values, mask.astype(np.int64), 0.9, 0.8)
    np.testing.assert_allclose(by_token, (theirs * padded(MASK)).numpy(), atol=2e-6)


def test_reinforce_pp_carries_returns_over_observations(core: Any) -> None:
    theirs, _ = core.compute_reinforce_plus_plus_outcome_advantage(
        padded(STEPS), padded(MASK), config=config(gamma=0.9)
    )
    batch = steps()
    same(batch, ReinforcePp(gamma=0.9)(batch).advantage, theirs, len(MASKS))
