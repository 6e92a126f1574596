"""TRL 1.16.0: exported rows as rollouts, and a mix-in that gives GRPOTrainer an advantage a token.

    rows = Rows("advantages.jsonl", num_generations=8)
    class Trainer(TokenAdvantages, GRPOTrainer): ...
    data = Dataset.from_list(rows.dataset())
    Trainer(model, reward_funcs=outcome, rollout_func=rows.rollout, train_dataset=data, args=...)

`_compute_loss` takes advantages (B,T) "to support subclasses" (grpo_trainer.py:3056); a reward function cannot carry
them. The log-probs of the file reach TRL as those of sampling, which it uses with vLLM only: without, the ratio is that
of new to current policy, so rows of an older policy are trained as if they were this one's.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, Record, ReplayedTwiceError, fits, read

__all__ = ["KEY", "LAYOUT", "Rows", "TokenAdvantages", "outcome"]

_log = logging.getLogger(__name__)

KEY = "token_advantages"
"""Under this key a rollout carries its advantages to the trainer."""

LAYOUT = Layout(
    exporter="trl",
    ids=("prompt_ids", "completion_ids"),
    mask="env_mask",
    advantages="advantages",
    logprobs="logprobs",
    length=lambda record: len(record["completion_ids"]),
)


class Rows:
    """The rows of an exported file, dealt out `num_generations` a prompt.

    TRL asks for each prompt of the data set `num_generations` times at once, so a prompt stands for that many rows, in
    the order of the file whatever their group: the advantages are given, and no group of TRL's is used. The last
    prompt is filled up with copies whose mask is 0; `filled` says how many. They add nothing to the losses that
    divide by trained tokens (dapo, bnpo, cispo); losses that divide by rows (grpo, dr_grpo, luspo, sapo) count them.
    """

    def __init__(self, path: str | Path, num_generations: int) -> None:
        """InputError where the file breaks a rule or holds no row."""
        if num_generations < 2:
            raise InputError(f"num_generations is {num_generations}: GRPOTrainer wants 2 or more")
        self.records: list[Record] = list(read(path, LAYOUT))
        if not self.records:
            raise InputError(f"{path}: no rows")
        self.num_generations = num_generations
        self.filled = -len(self.records) % num_generations
        if self.filled:
            _log.warning("%s: %d masked rows fill up the last prompt of %d", path, self.filled, num_generations)
        self.records += [_filler(self.records[-1])] * self.filled

    def dataset(self) -> list[dict[str, str]]:
        """One prompt for `num_generations` rows; its text is the number of the piece."""
        return [{"prompt": str(piece)} for piece in range(len(self.records) // self.num_generations)]

    def rollout(self, prompts: list[str], trainer: Any) -> dict[str, Any]:
        """The `rollout_func` (grpo_trainer.py:2210): one row for each prompt, the next of its piece each time."""
        before = self._asked_elsewhere(prompts, trainer)
        found = []
        for prompt in prompts:
            nth = before[prompt] = before.get(prompt, -1) + 1
            if nth >= self.num_generations:
                raise ReplayedTwiceError(
                    f"prompt {prompt} was asked for more than {self.num_generations} times in one batch: "
                    "is num_generations of the trainer another?"
                )
            found.append(self.records[int(prompt) * self.num_generations + nth])
        return {
            "prompt_ids": [record["prompt_ids"] for record in found],
            "completion_ids": [record["completion_ids"] for record in found],
            "logprobs": _logprobs(found),
            "env_mask": [record["env_mask"] for record in found],
            KEY: [record["advantages"] for record in found],
            "outcome": [record["outcome"] for record in found],
        }

    def _asked_elsewhere(self, prompts: list[str], trainer: Any) -> dict[str, int]:
        """How often processes of a lower number ask for each prompt in this batch, less one."""
        accelerator = getattr(trainer, "accelerator", None)
        if accelerator is None or accelerator.num_processes == 1:
            return {}
        from accelerate.utils import gather_object

        everywhere: Sequence[str] = gather_object(prompts)
        counted: dict[str, int] = {}
        for prompt in everywhere[: accelerator.process_index * len(prompts)]:
            counted[prompt] = counted.get(prompt, -1) + 1
        return counted


class TokenAdvantages:
    """Mix-in before GRPOTrainer: advantages (B,T) of what the rollouts carried under `KEY`."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """TRL's own batch, its advantages f32[B] replaced by f32[B,T], padded with 0 on the right like completion_ids.

        InputError where the trainer is set up so that it wants one advantage a row, or where a rollout carries none.
        """
        import torch

        _refuse(self)
        out: dict[str, Any] = super()._generate_and_score_completions(inputs)  # type: ignore[misc]  # GRPOTrainer's
        if len({id(example) for example in inputs}) != len(inputs):
            raise InputError(
                "the data set gives one object for several rollouts, so they overwrite each other's numbers"
            )
        ids = out["completion_ids"]
        given = torch.zeros(ids.shape, dtype=torch.float32)
        for i, example in enumerate(inputs):
            if KEY not in example:
                raise InputError(f"rollout {i} carries no {KEY!r}: the rollout function must return it")
            length = int(out["completion_mask"][i].sum())
            if not length:
                continue  # mask_truncated_completions: TRL itself leaves the row out
            mask = out["tool_mask"][i, :length] if "tool_mask" in out else torch.ones(length)
            fits(example[KEY], mask.tolist(), f"rollout {i}")
            given[i, :length] = torch.tensor(example[KEY], dtype=torch.float32)
        return {**out, "advantages": given.to(ids.device)}


def outcome(completions: list[Any], outcome: list[float | None], **_: Any) -> list[float | None]:
    """The reward function: what the log says of each rollout. Shown in TRL's metrics; no advantage is made of it."""
    return list(outcome)


def _filler(record: Record) -> Record:
    """One masked token: neither trained nor counted."""
    return {
        **record,
        "completion_ids": record["completion_ids"][:1],
        "env_mask": [0],
        "advantages": [0.0],
        "logprobs": None if record["logprobs"] is None else [0.0],
        "outcome": None,
    }


def _logprobs(records: Sequence[Record]) -> list[list[float | None]] | None:
    """None where no row has them; TRL takes a None among the numbers for unknown (grpo_trainer.py:2464)."""
    if all(record["logprobs"] is None for record in records):
        return None
    return [record["logprobs"] or [None] * len(record["completion_ids"]) for record in records]


def _refuse(trainer: Any) -> None:
    """InputError where a setting of the trainer is written for one advantage a row."""
    if getattr(trainer, "loss_type", None) == "vespo":
        raise InputError("loss_type='vespo' weighs whole rows by the sign of one advantage: choose another")
    if getattr(trainer, "off_policy_mask_threshold", None) is not None:
        raise InputError("off_policy_mask_threshold drops whole rows by the sign of one advantage: leave it out")
