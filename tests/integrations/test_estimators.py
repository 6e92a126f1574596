"""Estimators and generators of verl, SkyRL and NeMo-RL: numbers in, the same numbers out, on the right tokens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import written
from trajcredit.errors import InputError
from trajcredit.exporters.nemo_rl import NemoRl
from trajcredit.exporters.skyrl import SkyRL
from trajcredit.exporters.verl import Verl
from trajcredit.integrations import nemo_rl, skyrl, verl

# ---------------------------------------------------------------- verl


def test_verls_estimator_gives_the_rewards_where_the_mask_is_one() -> None:
    rewards, mask = torch.tensor([[0.5, 3.0, -0.25]]), torch.tensor([[1, 0, 1]])
    advantages, returns = verl.advantages(token_level_rewards=rewards, response_mask=mask, config={}, index=["g"])
    assert advantages.tolist() == returns.tolist() == [[0.5, 0.0, -0.25]]


def test_a_kl_penalty_in_what_is_no_reward_is_refused() -> None:
    with pytest.raises(InputError, match="use_kl_in_reward would change the advantages"):
        verl.advantages(torch.zeros(1, 1), torch.ones(1, 1), config={"use_kl_in_reward": True})


def test_verls_data_set_asks_for_each_trajectory_once(tmp_path: Path) -> None:
    from pyarrow.parquet import read_table

    rows = [token_row([7], [11], [1], [0.5], trajectory=name, row=row) for name, row in [("a", 0), ("a", 1), ("b", 0)]]
    assert verl.dataset(written(Verl(), tmp_path, *rows), tmp_path / "prompts.parquet") == 2
    table = read_table(tmp_path / "prompts.parquet").to_pylist()
    assert [row["extra_info"] for row in table] == [
        {"index": 0, "trajectory_id": "a"},
        {"index": 1, "trajectory_id": "b"},
    ]
    assert {row["agent_name"] for row in table} == {"trajcredit_replay"}
    assert table[0]["prompt"] == [{"role": "user", "content": "a"}]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        verl.nothing  # noqa: B018


# ---------------------------------------------------------------- SkyRL


def test_skyrls_estimator_gives_the_rewards() -> None:
    rewards = torch.tensor([[0.0, 0.5, -0.25]])
    advantages, returns = skyrl.advantages(token_level_rewards=rewards, response_mask=torch.ones(1, 3), gamma=0.9)
    assert advantages.tolist() == returns.tolist() == [[0.0, 0.5, -0.25]]


def test_skyrl_replays_a_row_for_each_prompt(tmp_path: Path) -> None:
    other = token_row([9], [14, 15], [0, 1], [0.0, 2.0], logprobs=[0.0, -3.0], trajectory="u")
    replay = skyrl.Replay(written(SkyRL(), tmp_path, two_turns(), other))
    prompts = replay.prompts()
    assert [(prompt["trajectory_id"], prompt["row"]) for prompt in prompts] == [("t", 0), ("u", 0)]
    extras = [{"trajectory_id": prompt["trajectory_id"], "row": prompt["row"]} for prompt in reversed(prompts)]
    got = asyncio.run(replay.generate({"prompts": [None, None], "env_extras": extras}))
    assert got["prompt_token_ids"] == [[9], [7, 8]]
    assert got["response_ids"] == [[14, 15], [11, 12, 21, 22, 23, 13]]
    assert got["rewards"] == [[0.0, 2.0], [0.5, 0.5, 0.0, 0.0, 0.0, -0.25]]
    assert got["loss_masks"] == [[0, 1], [1, 1, 0, 0, 0, 1]]
    assert got["rollout_logprobs"] == [[0.0, -3.0], [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75]]


def test_skyrl_gets_no_log_probs_where_a_row_lacks_them(tmp_path: Path) -> None:
    path = written(SkyRL(), tmp_path, two_turns(), token_row([7], [11], [1], [0.5], trajectory="u"))
    replay = skyrl.Replay(path)
    assert (
        skyrl.generator_output([record for rows in replay.recorded.values() for record in rows])["rollout_logprobs"]
        is None
    )


@pytest.mark.parametrize(
    "extras",
    [
        pytest.param([], id="no extras"),
        pytest.param([{"trajectory_id": "nobody", "row": 0}], id="an unknown trajectory"),
        pytest.param([{"trajectory_id": "t", "row": 1}], id="an unknown row"),
    ],
)
def test_a_prompt_of_no_recorded_row_is_refused(extras: list[dict[str, Any]], tmp_path: Path) -> None:
    replay = skyrl.Replay(written(SkyRL(), tmp_path, two_turns()))
    with pytest.raises(InputError, match=r"extras"):
        asyncio.run(replay.generate({"prompts": [None], "env_extras": extras}))


# ---------------------------------------------------------------- NeMo-RL


def batch(*rows: list[list[int]]) -> dict[str, Any]:
    """A batch of rollouts, each the token ids of its messages."""
    return {"message_log": [[{"token_ids": torch.tensor(ids)} for ids in messages] for messages in rows]}


def test_nemos_estimator_finds_a_rollout_by_its_ids(tmp_path: Path) -> None:
    other = token_row([9], [14, 15], [0, 1], [0.0, 2.0], trajectory="u")
    estimator = nemo_rl.Estimator(nemo_rl.from_file(written(NemoRl(), tmp_path, two_turns(), other)))
    mask = torch.tensor([[0, 0, 1] + [0] * 7, [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]])
    got = estimator.compute_advantage(
        prompt_ids=None,
        rewards=None,
        mask=mask,
        repeated_batch=batch([[9], [14, 15]], [[7, 8], [11, 12], [21, 22, 23], [13]]),
        logprobs_policy=None,
    )
    assert got.tolist() == [[0, 0, 2.0] + [0] * 7, [0, 0, 0.5, 0.5, 0, 0, 0, -0.25, 0, 0]]
    assert got.dtype == torch.float32


def test_a_row_that_nemo_leaves_out_keeps_no_advantage(tmp_path: Path) -> None:
    estimator = nemo_rl.Estimator(lambda _: [[0.0, 0.5]])
    assert estimator.compute_advantage(None, None, torch.zeros(1, 3), {}).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        pytest.param([[0.0, 0.5, 0.0]], "row 0: token 1 has advantage 0.5 and mask 0", id="on another token"),
        pytest.param([[0.0] * 4], "row 0 has 4 advantages for 3 places", id="longer than the batch"),
        pytest.param([], "advantages of 0 rows for a batch of 1", id="rows missing"),
    ],
)
def test_numbers_that_do_not_fit_nemos_batch_are_refused(numbers: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        nemo_rl.Estimator(lambda _: numbers).compute_advantage(None, None, torch.tensor([[0, 0, 1]]), {})


def test_an_unknown_rollout_is_refused(tmp_path: Path) -> None:
    find = nemo_rl.from_file(written(NemoRl(), tmp_path, two_turns()))
    with pytest.raises(InputError, match=r"row 0: no row of .* has its 2 token ids"):
        find(batch([[7], [8]]))


def test_equal_ids_with_other_numbers_are_refused(tmp_path: Path) -> None:
    rows = [
        token_row([7], [11], [1], [number], trajectory=name) for name, number in [("a", 0.5), ("b", 0.5), ("c", -0.5)]
    ]
    same = nemo_rl.from_file(written(NemoRl(), tmp_path, *rows[:2]))
    assert same(batch([[7, 11]])) == [[0.0, 0.5]]
    unlike = nemo_rl.from_file(written(NemoRl(), tmp_path, *rows))
    with pytest.raises(InputError, match=r"two rows of .* have its token ids and other advantages"):
        unlike(batch([[7, 11]]))


def test_the_factory_gives_ours_by_name_and_its_own_else() -> None:
    module = SimpleNamespace(_create_advantage_estimator=lambda config: "its own")
    nemo_rl.patch_factory(module, nemo_rl.from_batch)

    def made(name: str) -> Any:
        config = SimpleNamespace(grpo=SimpleNamespace(adv_estimator=SimpleNamespace(name=name)))
        return module._create_advantage_estimator(config)

    assert made("grpo") == "its own"
    assert isinstance(made("trajcredit"), nemo_rl.Estimator)
    with pytest.raises(InputError, match="carries no 'trajcredit_advantages'"):
        made("trajcredit").numbers({})
