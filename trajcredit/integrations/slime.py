"""slime (624b824a8): exported rows as samples, and the two hooks through which a number a token reaches the loss.

    --rollout-function-path             trajcredit.integrations.slime.replay
    --custom-reward-post-process-path   trajcredit.integrations.slime.rewards
    --custom-advantage-function-path    trajcredit.integrations.slime.advantages
    --custom-config-path                a YAML file with `trajcredit_rows: advantages.jsonl`

`Sample.train_metadata` does not reach the trainer (ray/rollout.py:786); `rewards` do, so the lists travel there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, Record, by_trajectory, fits

if TYPE_CHECKING:
    import torch

__all__ = ["KEY", "LAYOUT", "advantages", "replay", "rewards"]

KEY = "trajcredit_advantages"
"""Under this key of `Sample.metadata` a sample carries its advantages, one a response token."""

LAYOUT = Layout(
    exporter="slime",
    ids=("tokens",),
    mask="loss_mask",
    advantages="advantages",
    logprobs="rollout_log_probs",
    length=lambda record: min(record["response_length"], len(record["tokens"]) - 1),
)


def replay(args: Any, rollout_id: int, data_source: Any, evaluation: bool = False) -> Any:
    """The rollout function: the next `rollout_batch_size` groups of the exported file, as `RolloutFnTrainOutput`.

    The rows of one trajectory share a `rollout_id`, so that slime counts them as one rollout. InputError at the end of
    the file: nothing is trained twice unless one starts again.
    """
    from slime.rollout.base_types import RolloutFnTrainOutput
    from slime.utils.types import Sample

    if evaluation:
        raise InputError("recorded rows cannot be evaluated: give another function for evaluation")
    groups = _groups(args.trajcredit_rows)
    first = rollout_id * args.rollout_batch_size
    found = groups[first : first + args.rollout_batch_size]
    if len(found) < args.rollout_batch_size:
        raise InputError(
            f"{args.trajcredit_rows} has {len(groups)} groups, and rollout {rollout_id} wants those from {first} to "
            f"{first + args.rollout_batch_size}: set num_rollout to {len(groups) // args.rollout_batch_size}"
        )
    return RolloutFnTrainOutput(samples=[[_sample(Sample, *one) for one in group] for group in found])


def rewards(args: Any, samples: Any) -> tuple[list[float], list[torch.Tensor]]:
    """The reward post-process (ray/rollout.py:608): raw rewards, and for each sample its advantages f32[R].

    InputError where a sample carries none, or not one a response token.
    """
    import torch

    raw, given = [], []
    for sample in samples:
        numbers = (sample.metadata or {}).get(KEY)
        if numbers is None:
            raise InputError(f"sample {sample.index} carries no metadata[{KEY!r}]")
        fits(numbers, sample.loss_mask or [1] * sample.response_length, f"sample {sample.index}")
        raw.append(float(sample.get_reward_value(args)))
        given.append(torch.tensor(numbers, dtype=torch.float32))
    return raw, given


def advantages(args: Any, rollout_data: dict[str, Any]) -> None:
    """The advantage function (backends/megatron_utils/loss.py:758): sets advantages and returns, f32[R] a sample.

    With context parallelism, this rank's part of each. `--normalize-advantages` whitens them afterwards.
    """
    import torch

    given = []
    for i, like in enumerate(rollout_data["kl"]):
        numbers = torch.as_tensor(rollout_data["rewards"][i], dtype=torch.float32)
        length = int(rollout_data["response_lengths"][i])
        if numbers.dim() != 1 or len(numbers) != length:
            raise InputError(
                f"sample {i} of this rank has rewards of shape {tuple(numbers.shape)} for {length} response tokens: "
                "--custom-reward-post-process-path must name trajcredit.integrations.slime.rewards"
            )
        if len(like) != length:
            from slime.backends.megatron_utils.cp_utils import slice_log_prob_with_cp

            numbers = slice_log_prob_with_cp(numbers, int(rollout_data["total_lengths"][i]), length)
        given.append(numbers.to(like.device))
    rollout_data["advantages"] = given
    rollout_data["returns"] = [numbers.clone() for numbers in given]


@cache
def _groups(path: str) -> list[list[tuple[int, Record]]]:
    """The rows of each group, each with the number of its trajectory in the file."""
    found: dict[str, list[tuple[int, Record]]] = {}
    for number, records in enumerate(by_trajectory(path, LAYOUT).values()):
        for record in records:
            found.setdefault(record["uid"], []).append((number, record))
    return list(found.values())


def _sample(kind: Any, number: int, record: Record) -> Any:
    numbers: Sequence[float] = record["advantages"]
    return kind(
        index=number,
        rollout_id=number,
        tokens=record["tokens"],
        response_length=record["response_length"],
        loss_mask=record["loss_mask"],
        rollout_log_probs=record["rollout_log_probs"],
        reward=0.0 if record["reward"] is None else record["reward"],
        status=kind.Status.COMPLETED,
        metadata={KEY: numbers},
    )
