"""SkyRL 0.3.0: an estimator that returns exported advantages unchanged, and a generator that replays exported rows.

Advantages travel as rewards a token (`GeneratorOutput["rewards"]` as lists); built-in estimators would sum them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, Record, by_trajectory

if TYPE_CHECKING:
    import torch

__all__ = ["ESTIMATOR", "LAYOUT", "Replay", "advantages", "generator_output", "register"]

ESTIMATOR = "trajcredit_external"
"""The value of `trainer.algorithm.advantage_estimator`."""

LAYOUT = Layout(
    exporter="skyrl",
    ids=("prompt_token_ids", "response_ids"),
    mask="loss_masks",
    advantages="rewards",
    logprobs="rollout_logprobs",
    length=lambda record: len(record["response_ids"]),
)


def advantages(token_level_rewards: torch.Tensor, **_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Advantages and returns f32[B,R]: the rewards themselves, which are 0 on every token that was not sampled.

    `response_mask` is of no use here: it is 1 on observations too (train/dataset/preprocess.py:32).
    """
    return token_level_rewards, token_level_rewards


def register() -> None:
    """Make the estimator known to SkyRL under `ESTIMATOR` (backends/skyrl_train/utils/ppo_utils.py:517)."""
    from skyrl.backends.skyrl_train.utils.ppo_utils import register_advantage_estimator

    register_advantage_estimator(ESTIMATOR)(advantages)


def generator_output(records: Sequence[Record]) -> dict[str, Any]:
    """The rows as a `GeneratorOutput` (train/generators/base.py:36); lists as they are, since SkyRL pads itself."""
    logprobs = [record["rollout_logprobs"] for record in records]
    return {
        "prompt_token_ids": [record["prompt_token_ids"] for record in records],
        "response_ids": [record["response_ids"] for record in records],
        "rewards": [record["rewards"] for record in records],
        "loss_masks": [record["loss_masks"] for record in records],
        "stop_reasons": ["stop"] * len(records),
        "rollout_metrics": None,
        "rollout_logprobs": None if any(column is None for column in logprobs) else logprobs,
        "trajectory_ids": None,
        "trajectory_generation_times": None,
        "rollout_expert_indices": None,
        "is_last_step": None,
        "env_metrics": None,
        "pixel_values": None,
        "image_grid_thw": None,
    }


class Replay:
    """A generator (`GeneratorInterface`) that answers each prompt with a recorded row; asks no engine.

    The data set has one prompt a row, whose extras `trajectory_id` and `row` name it (`prompts`);
    `generator.n_samples_per_prompt` must be 1 and step-wise trajectories off, since those broadcast one number.
    """

    def __init__(self, path: str | Path) -> None:
        """InputError where the file breaks a rule."""
        self.recorded = by_trajectory(path, LAYOUT)

    def prompts(self) -> list[dict[str, Any]]:
        """Rows for the data set: the prompt is a stand-in, the extras say which recorded row is meant."""
        return [
            {
                "prompt": [{"role": "user", "content": name}],
                "env_class": "trajcredit",
                "trajectory_id": name,
                "row": record["row"],
            }
            for name, records in self.recorded.items()
            for record in records
        ]

    async def generate(self, input_batch: dict[str, Any]) -> dict[str, Any]:
        """The recorded rows in the order of the prompts."""
        extras = input_batch.get("env_extras") or []
        if len(extras) != len(input_batch["prompts"]):
            raise InputError("every prompt needs the extras trajectory_id and row of the data set")
        return generator_output([self._row(extra) for extra in extras])

    def _row(self, extra: dict[str, Any]) -> Record:
        try:
            return self.recorded[extra["trajectory_id"]][int(extra["row"])]
        except (KeyError, IndexError) as error:
            raise InputError(f"no recorded row for the extras {extra!r}") from error
