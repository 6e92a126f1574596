"""Rows dealt out as TRL asks for them, and the mix-in around a trainer that stands in for GRPOTrainer's one method.

With the real GRPOTrainer: tests/interop/test_trl.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import written
from trajcredit.errors import InputError
from trajcredit.exporters.trl import Trl
from trajcredit.integrations.reading import ReplayedTwiceError
from trajcredit.integrations.trl import KEY, Rows, TokenAdvantages, outcome


def rows_of(folder: Path, n: int, num_generations: int = 2) -> Rows:
    rows = [token_row([7], [10 + k], [1], [k + 0.5], trajectory=str(k), outcome=float(k)) for k in range(n)]
    return Rows(written(Trl(), folder, *rows), num_generations)


def test_a_prompt_stands_for_so_many_rows(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, 4)
    assert rows.dataset() == [{"prompt": "0"}, {"prompt": "1"}]
    got = rows.rollout(["1", "1", "0", "0"], None)
    assert got == {
        "prompt_ids": [[7]] * 4,
        "completion_ids": [[12], [13], [10], [11]],
        "logprobs": None,
        "env_mask": [[1]] * 4,
        KEY: [[2.5], [3.5], [0.5], [1.5]],
        "outcome": [2.0, 3.0, 0.0, 1.0],
    }


def test_the_last_prompt_is_filled_up_with_masked_rows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = rows_of(tmp_path, 3)
    assert rows.filled == 1
    assert "1 masked rows fill up the last prompt of 2" in caplog.text
    got = rows.rollout(["1", "1"], None)
    assert (got["env_mask"], got[KEY], got["outcome"]) == ([[1], [0]], [[2.5], [0.0]], [2.0, None])


def test_log_probs_that_only_some_rows_have_are_unknown_for_the_rest(tmp_path: Path) -> None:
    bare = token_row([7], [11, 12], [1, 1], [0.5, 0.5], trajectory="u")
    got = Rows(written(Trl(), tmp_path, two_turns(), bare), 2).rollout(["0", "0"], None)
    assert got["logprobs"] == [[-0.5, -1.5, 0.0, 0.0, 0.0, -0.75], [None, None]]


def test_a_prompt_asked_for_too_often_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReplayedTwiceError, match="prompt 0 was asked for more than 2 times"):
        rows_of(tmp_path, 4).rollout(["0", "0", "0"], None)


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        rows_of(tmp_path, 0)


def test_one_generation_a_prompt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="num_generations is 1"):
        rows_of(tmp_path, 2, num_generations=1)


def test_the_reward_is_what_the_log_says() -> None:
    assert outcome(["a", "b"], outcome=[1.0, None], prompts=["x", "y"]) == [1.0, None]


class StandIn:
    """Pads completions as GRPOTrainer does (grpo_trainer.py:2440-2485)."""

    loss_type = "dapo"
    off_policy_mask_threshold: float | None = None
    masked: tuple[int, ...] = ()

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        width = max(len(example["ids"]) for example in inputs)
        ids = torch.zeros((len(inputs), width), dtype=torch.int64)
        mask, tools = torch.zeros_like(ids), torch.ones_like(ids)
        for i, example in enumerate(inputs):
            length = len(example["ids"])
            ids[i, :length] = torch.tensor(example["ids"])
            mask[i, :length] = i not in self.masked
            tools[i, :length] = torch.tensor(example["mask"]) * (i not in self.masked)
        return {
            "completion_ids": ids,
            "completion_mask": mask,
            "tool_mask": tools,
            "advantages": torch.ones(len(inputs)),
            "other": 3,
        }


class Trainer(TokenAdvantages, StandIn):
    """The mix-in first, as with GRPOTrainer."""


def example(ids: list[int], mask: list[int], advantages: list[float]) -> dict[str, Any]:
    return {"ids": ids, "mask": mask, KEY: advantages}


def test_advantages_lie_on_their_tokens_and_padding_is_zero() -> None:
    out = Trainer()._generate_and_score_completions(
        [example([1, 2, 3], [1, 0, 1], [0.5, 0.0, -2.0]), example([4], [1], [0.25])]
    )
    assert out["advantages"].tolist() == [[0.5, 0.0, -2.0], [0.25, 0.0, 0.0]]
    assert out["advantages"].dtype == torch.float32
    assert out["other"] == 3


def test_a_row_that_the_trainer_masks_keeps_no_advantage() -> None:
    trainer = Trainer()
    trainer.masked = (0,)
    out = trainer._generate_and_score_completions([example([1], [1], [0.5]), example([4], [1], [0.25])])
    assert out["advantages"].tolist() == [[0.0], [0.25]]


@pytest.mark.parametrize(
    ("advantages", "message"),
    [
        pytest.param([0.5], "rollout 0: 1 advantages for 2 tokens", id="another length"),
        pytest.param([0.0, 0.5], "rollout 0: token 1 has advantage 0.5 and mask 0", id="on an observation"),
    ],
)
def test_advantages_of_other_tokens_are_refused(advantages: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Trainer()._generate_and_score_completions([example([1, 2], [1, 0], advantages)])


def test_a_rollout_without_advantages_is_refused() -> None:
    with pytest.raises(InputError, match="rollout 0 carries no 'token_advantages'"):
        Trainer()._generate_and_score_completions([{"ids": [1], "mask": [1]}])


def test_one_object_for_two_rollouts_is_refused() -> None:
    with pytest.raises(InputError, match="one object for several rollouts"):
        Trainer()._generate_and_score_completions([example([1], [1], [0.5])] * 2)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param({"loss_type": "vespo"}, id="vespo"),
        pytest.param({"off_policy_mask_threshold": 0.1}, id="off-policy mask"),
    ],
)
def test_settings_for_one_advantage_a_row_are_refused(setting: dict[str, Any]) -> None:
    trainer = Trainer()
    for name, value in setting.items():
        setattr(trainer, name, value)
    with pytest.raises(InputError, match=next(iter(setting))):
        trainer._generate_and_score_completions([example([1], [1], [0.5])])


def test_one_process_needs_no_gathering(tmp_path: Path) -> None:
    trainer = SimpleNamespace(accelerator=SimpleNamespace(num_processes=1))
    assert rows_of(tmp_path, 2).rollout(["0", "0"], trainer)["completion_ids"] == [[10], [11]]


def test_each_process_takes_the_rows_after_those_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("accelerate.utils")
    vars(module)["gather_object"] = lambda prompts: ["0", "0", "0", "1", "1", "1"]
    monkeypatch.setitem(sys.modules, "accelerate", ModuleType("accelerate"))
    monkeypatch.setitem(sys.modules, "accelerate.utils", module)
    rows = rows_of(tmp_path, 6, num_generations=3)

    def of(process: int, prompts: list[str]) -> Any:
        trainer = SimpleNamespace(accelerator=SimpleNamespace(num_processes=3, process_index=process))
        return rows.rollout(prompts, trainer)["completion_ids"]

    assert [of(0, ["0", "0"]), of(1, ["0", "1"]), of(2, ["1", "1"])] == [[[10], [11]], [[12], [13]], [[14], [15]]]
