"""verl 0.9.1: an estimator that returns exported advantages unchanged, and an agent loop that replays exported rows.

verl hands an estimator rewards, mask and uid, nothing else (trainer/ppo/ray_trainer.py:243), so advantages travel in
`rm_scores`, one number a response token. Importing this module registers the estimator where verl is installed; verl
imports it itself in every process where VERL_USE_EXTERNAL_MODULES=trajcredit.integrations.verl is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, Record, ReplayedTwiceError, by_trajectory, read

if TYPE_CHECKING:
    import torch

__all__ = ["ESTIMATOR", "LAYOUT", "advantages", "data_proto", "dataset", "register", "rows"]

ESTIMATOR = "trajcredit_external"
"""The value of `algorithm.adv_estimator`."""

LAYOUT = Layout(
    exporter="verl",
    ids=("prompts", "responses"),
    mask="response_mask",
    advantages="rm_scores",
    logprobs="rollout_log_probs",
    length=lambda record: len(record["responses"]),
)


def advantages(
    token_level_rewards: torch.Tensor, response_mask: torch.Tensor, config: Any = None, **_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Advantages and returns f32[B,R]: the rewards themselves, where the mask is 1.

    token_level_rewards  f32[B,R]  `rm_scores`; response_mask i64[B,R] 1 on sampled tokens
    InputError where the configuration would add a KL penalty to what is no reward.
    """
    if config is not None and config.get("use_kl_in_reward", False):
        raise InputError("algorithm.use_kl_in_reward would change the advantages: set it to false")
    given = token_level_rewards * response_mask
    return given, given


def register() -> None:
    """Make the estimator known to verl under `ESTIMATOR` (trainer/ppo/core_algos.py:116)."""
    from verl.trainer.ppo.core_algos import register_adv_est

    register_adv_est(ESTIMATOR)(advantages)


def rows(path: str | Path) -> Iterable[Record]:
    """The records of a file of `trajcredit export --to verl`, checked."""
    return read(path, LAYOUT)


def dataset(path: str | Path, out: str | Path) -> int:
    """Write the data set (parquet) by which verl asks for each exported trajectory once; the number of trajectories.

    The prompt only names the trajectory: `ReplayLoop` finds the recorded tokens by it. `rollout.n` must be 1.
    """
    import pyarrow
    from pyarrow.parquet import write_table

    names = list(_by_trajectory(str(path)))
    table = [
        {
            "data_source": "trajcredit",
            "prompt": [{"role": "user", "content": name}],
            "agent_name": "trajcredit_replay",
            "reward_model": {"style": "none", "ground_truth": ""},
            "extra_info": {"index": index, "trajectory_id": name},
        }
        for index, name in enumerate(names)
    ]
    write_table(pyarrow.Table.from_pylist(table), out)
    return len(names)


def data_proto(records: Sequence[Record], pad_id: int) -> Any:
    """A `DataProto` of the rows, for who drives verl's workers with a loop of his own.

    prompts, responses, response_mask, input_ids, attention_mask, position_ids i64; rm_scores and token_level_rewards
    f32[B,R]; rollout_log_probs f32[B,R] where every row has them; uid in non_tensor_batch. Prompts are padded on the
    left, all else on the right; padding is told from lengths, never from the id.
    """
    import numpy as np
    import torch
    from verl import DataProto

    def padded(name: str, fill: float, kind: torch.dtype, left: bool = False) -> torch.Tensor:
        return _padded([record[name] for record in records], fill, kind, left)

    prompts = padded("prompts", pad_id, torch.int64, left=True)
    responses = padded("responses", pad_id, torch.int64)
    mask = padded("response_mask", 0, torch.int64)
    scores = padded("rm_scores", 0.0, torch.float32)
    there_before = _padded([[1] * len(record["prompts"]) for record in records], 0, torch.int64, left=True)
    there_after = _padded([[1] * len(record["responses"]) for record in records], 0, torch.int64)
    attention = torch.cat([there_before, there_after], dim=1)
    tensors = {
        "prompts": prompts,
        "responses": responses,
        "response_mask": mask,
        "input_ids": torch.cat([prompts, responses], dim=1),
        "attention_mask": attention,
        "position_ids": (attention.cumsum(dim=1) - 1).clamp(min=0),
        "rm_scores": scores,
        "token_level_scores": scores,
        "token_level_rewards": scores,
    }
    if None not in [record["rollout_log_probs"] for record in records]:
        tensors["rollout_log_probs"] = padded("rollout_log_probs", 0.0, torch.float32)
    uids = np.array([record["uid"] for record in records], dtype=object)
    return DataProto.from_dict(tensors=tensors, non_tensors={"uid": uids})


def _padded(columns: Sequence[Sequence[float]], fill: float, kind: torch.dtype, left: bool = False) -> torch.Tensor:
    """[B, longest] of the columns, `fill` where one is shorter."""
    import torch

    width = max(map(len, columns))
    values = torch.full((len(columns), width), fill, dtype=kind)
    for i, column in enumerate(columns):
        place = slice(width - len(column), width) if left else slice(0, len(column))
        values[i, place] = torch.tensor(column, dtype=kind)
    return values


@cache
def _by_trajectory(path: str) -> dict[str, list[Record]]:
    """verl makes an agent loop a sample: the file is read once a process."""
    return by_trajectory(path, LAYOUT)


def __getattr__(name: str) -> Any:
    """`CreditedOutput` and `ReplayLoop` derive from verl's classes, so they are made when they are asked for."""
    if name in ("CreditedOutput", "ReplayLoop"):
        return _classes()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _classes() -> dict[str, Any]:
    import torch
    from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

    class CreditedOutput(AgentLoopOutput):  # type: ignore[misc]  # verl has no types here
        """An output whose every response token has a number of its own.

        verl's own `as_dict` puts the one `reward_score` on the last token, sampled or not (agent_loop.py:143).
        """

        token_rewards: list[float]

        def as_dict(self) -> dict[str, Any]:
            if len(self.token_rewards) != len(self.response_ids):
                raise InputError(f"{len(self.token_rewards)} token rewards for {len(self.response_ids)} response ids")
            output: dict[str, Any] = super().as_dict()
            output["rm_scores"] = torch.tensor(output.pop("token_rewards"), dtype=torch.float32)
            return output

    class ReplayLoop(AgentLoopBase):  # type: ignore[misc]  # verl has no types here
        """Gives the recorded rows of the trajectory that a sample of `dataset` names; asks no engine."""

        def __init__(self, path: str, **_: Any) -> None:  # nothing of the base is needed: no prompt is rendered
            self.recorded = _by_trajectory(str(path))

        async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> list[Any]:
            name = kwargs["extra_info"]["trajectory_id"]
            if kwargs.get("session_id", 0):
                raise ReplayedTwiceError(f"{name} was rolled out once: set actor_rollout_ref.rollout.n=1")
            if name not in self.recorded:
                raise InputError(f"no trajectory {name!r} in the exported file")
            return [_output(CreditedOutput, AgentLoopMetrics(), record) for record in self.recorded[name]]

    for made in (CreditedOutput, ReplayLoop):
        made.__qualname__ = made.__name__
    return {"CreditedOutput": CreditedOutput, "ReplayLoop": ReplayLoop}


def _output(kind: Any, metrics: Any, record: Record) -> Any:
    """`reward_score` is 0.0, so that no reward worker is asked; where one is set verl wants `reward_extra_info`."""
    return kind(
        prompt_ids=record["prompts"],
        response_ids=record["responses"],
        response_mask=record["response_mask"],
        response_logprobs=record["rollout_log_probs"],
        token_rewards=record["rm_scores"],
        reward_score=0.0,
        metrics=metrics,
        extra_fields={"reward_extra_info": {}},
    )


if find_spec("verl") is not None:
    register()
