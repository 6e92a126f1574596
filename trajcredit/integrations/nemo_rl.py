"""NeMo-RL (7ea279abf): an estimator that returns exported advantages, and the one patch that makes it known.

    from trajcredit.integrations import nemo_rl
    nemo_rl.install("advantages.jsonl")   # before grpo_train; grpo.adv_estimator.name: trajcredit

Estimators are chosen in `_create_advantage_estimator` (algorithms/grpo.py:2249) from a closed list. One of theirs
returns (B,S) over the whole padded sequence, prompt included; the loss drops entry 0 itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, fits, read

if TYPE_CHECKING:
    import torch

__all__ = ["LAYOUT", "NAME", "Estimator", "from_batch", "from_file", "install", "patch_factory"]

NAME = "trajcredit"
"""The value of `grpo.adv_estimator.name`."""
KEY = "trajcredit_advantages"
"""Under this key a batch of rollouts carries its advantages."""

LAYOUT = Layout(
    exporter="nemo_rl",
    ids=("input_ids",),
    mask="token_mask",
    advantages="advantages",
    logprobs="generation_logprobs",
    length=lambda record: len(record["input_ids"]),
)

Numbers: TypeAlias = Callable[[Any], Sequence[Sequence[float]]]
"""A batch of rollouts -> its advantages, a list a row with one number a token from the prompt on."""


class Estimator:
    """Has `compute_advantage` as NeMo-RL's own estimators (algorithms/advantage_estimator.py)."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def compute_advantage(
        self, prompt_ids: Any, rewards: Any, mask: torch.Tensor, repeated_batch: Any, **_: Any
    ) -> torch.Tensor:
        """Advantages f32[B,S]; mask [B,S] 1 on trained tokens, padded on the right.

        InputError where a row has more numbers than S, or one on a token that is not trained.
        """
        import torch

        given = self.numbers(repeated_batch)
        if len(given) != len(mask):
            raise InputError(f"advantages of {len(given)} rows for a batch of {len(mask)}")
        advantages = torch.zeros(mask.shape, dtype=torch.float32)
        for i, numbers in enumerate(given):
            if len(numbers) > mask.shape[1]:
                raise InputError(f"row {i} has {len(numbers)} advantages for {mask.shape[1]} places")
            flags = mask[i, : len(numbers)].tolist()
            if any(flags):  # NeMo-RL masks whole rows by loss_multiplier
                fits(numbers, flags, f"row {i}")
            advantages[i, : len(numbers)] = torch.tensor(numbers, dtype=torch.float32)
        return (advantages * (mask.cpu() != 0)).to(mask.device)


def from_batch(repeated_batch: Any) -> Sequence[Sequence[float]]:
    """The advantages a rollout put into the batch itself, under `KEY`."""
    if KEY not in repeated_batch:
        raise InputError(f"the batch carries no {KEY!r}: the rollout must put it there")
    numbers: Sequence[Sequence[float]] = repeated_batch[KEY]
    return numbers


def from_file(path: str | Path) -> Numbers:
    """The advantages of an exported file, found by a rollout's token ids (those of its messages, one after another).

    InputError where the file lacks a rollout of the batch, or holds its ids twice with other numbers.
    """
    known: dict[bytes, tuple[str, list[float] | None]] = {}
    for record in read(path, LAYOUT):
        ids = np.array(record["input_ids"], dtype=np.int64).tobytes()
        numbers: list[float] | None = record["advantages"]
        if ids in known and known[ids][1] != numbers:
            numbers = None
        known[ids] = (record["trajectory_id"], numbers)

    def of(repeated_batch: Any) -> list[list[float]]:
        return [_found(known, messages, f"row {i}", path) for i, messages in enumerate(repeated_batch["message_log"])]

    return of


def install(path: str | Path | None = None) -> None:
    """Make the estimator known to NeMo-RL in this process; with a file, its numbers, else those of the batch.

    Modules that took the factory by name when they were imported are patched too.
    """
    from nemo_rl.algorithms import grpo

    numbers = from_batch if path is None else from_file(path)
    original = grpo._create_advantage_estimator
    for module in list(sys.modules.values()):
        if getattr(module, "_create_advantage_estimator", None) is original:
            patch_factory(module, numbers)


def patch_factory(grpo: Any, numbers: Numbers) -> None:
    """`_create_advantage_estimator` of the module gives ours for `NAME`, and its own for every other name."""
    original = grpo._create_advantage_estimator

    def with_ours(master_config: Any) -> Any:
        if master_config.grpo.adv_estimator.name == NAME:
            return Estimator(numbers)
        return original(master_config)

    grpo._create_advantage_estimator = with_ours


def _found(
    known: dict[bytes, tuple[str, list[float] | None]], messages: Sequence[Any], where: str, path: str | Path
) -> list[float]:
    ids = np.concatenate([np.asarray(message["token_ids"], dtype=np.int64) for message in messages])
    name, numbers = known.get(ids.tobytes(), (None, None))
    if name is None:
        raise InputError(f"{where}: no row of {path} has its {len(ids)} token ids")
    if numbers is None:
        raise InputError(f"{where}: two rows of {path} have its token ids and other advantages, one of them {name}")
    return numbers
