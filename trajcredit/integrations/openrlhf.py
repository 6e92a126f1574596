"""OpenRLHF 0.11.2: two patches that let a number a token through, and exported rows as an agent's answers.

An agent's answer carries `advantages`, T-1 numbers, entry j that of token j+1. OpenRLHF drops it: the first patch keeps
it on the `Experience` (which batches, pads and splits `advantages` like every per-step field), the second puts it back
once OpenRLHF has computed its own. `install()` must run in the process that makes experience, before it starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.reading import Layout, Record, by_trajectory, fits

__all__ = ["KEY", "LAYOUT", "Replay", "install", "patch_generator", "patch_maker"]

KEY = "advantages"
"""Under this key an agent's answer carries its advantages."""

LAYOUT = Layout(
    exporter="openrlhf",
    ids=("sequences",),
    mask="action_mask",
    advantages="advantages",
    logprobs="rollout_log_probs",
    length=lambda record: len(record["sequences"]) - 1,
)


def install() -> None:
    """Patch OpenRLHF in this process."""
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    patch_generator(SamplesGenerator)
    patch_maker(RemoteExperienceMaker)


def patch_generator(generator: type[Any]) -> None:
    """`_process_response_into_experience` (samples_generator.py:243) also sets experience.advantages f32[1,T-1].

    InputError where an answer carries none, or numbers that do not fit its actions. Cut to the length OpenRLHF cuts to.
    """
    import torch

    original = generator._process_response_into_experience

    def with_advantages(self: Any, response: dict[str, Any], **options: Any) -> Any:
        experience = original(self, response, **options)
        if KEY not in response:
            raise InputError(f"the agent's answer to {response.get('prompt')!r} carries no {KEY!r}")
        mask = experience.action_mask[0].tolist()
        expected = len(response["observation_tokens"]) - 1
        if len(response[KEY]) != expected:
            raise InputError(
                f"an answer has {len(response[KEY])} advantages for {expected} places (one less than tokens)"
            )
        kept = response[KEY][: len(mask)]
        fits(kept, mask, f"the answer to {response.get('prompt')!r}")
        experience.advantages = torch.tensor([kept], dtype=torch.float32)
        return experience

    generator._process_response_into_experience = with_advantages


def patch_maker(maker: type[Any]) -> None:
    """`compute_advantages_and_returns` (experience_maker.py:238) leaves the advantages that came with each experience.

    Rewards, KL and what is logged of them stay OpenRLHF's; advantages and returns f32[B,T-1] are ours, not whitened.
    """
    original = maker.compute_advantages_and_returns

    def with_ours(self: Any, experiences: list[Any]) -> list[Any]:
        ours = [experience.advantages for experience in experiences]
        for experience, numbers in zip(experiences, ours, strict=True):
            if numbers is None or numbers.shape != experience.action_mask.shape:
                raise InputError("an experience has no advantages of its own: is the generator patched in its process?")
        made: list[Any] = original(self, experiences)
        for experience, numbers in zip(made, ours, strict=True):
            experience.advantages = numbers * experience.action_mask
            experience.returns = experience.advantages.clone()
        return made

    maker.compute_advantages_and_returns = with_ours


class Replay:
    """The recorded rows as answers of an `AgentExecutor`; the label of a prompt names the row: `trajectory_id#row`."""

    def __init__(self, path: str | Path) -> None:
        """InputError where the file breaks a rule."""
        self.recorded = {
            f"{name}#{record['row']}": record
            for name, records in by_trajectory(path, LAYOUT).items()
            for record in records
        }

    def labels(self) -> list[str]:
        """One a row, in the order of the file: the labels of the data set."""
        return list(self.recorded)

    def answer(self, prompt: str, label: str) -> dict[str, Any]:
        """What `execute` returns (samples_generator.py:243-290) of a row; InputError where no row has that label."""
        if label not in self.recorded:
            raise InputError(f"no recorded row {label!r}")
        record = self.recorded[label]
        logprobs = record["rollout_log_probs"]
        reward = 0.0 if record["reward"] is None else record["reward"]
        return {
            "prompt": prompt,
            "label": label,
            "observation_tokens": record["sequences"],
            "action_ranges": _ranges(record),
            "rollout_log_probs": None if logprobs is None else [0.0, *logprobs],
            "reward": reward,
            "scores": reward,
            "truncated": False,
            "extra_logs": {},
            KEY: record["advantages"],
        }


def _ranges(record: Record) -> list[tuple[int, int]]:
    """Half-open ranges of `sequences` that the policy sampled: action_mask entry j stands for token j+1."""
    flags = [0, *record["action_mask"], 0]
    starts = [j for j in range(1, len(flags)) if flags[j] and not flags[j - 1]]
    ends = [j for j in range(1, len(flags)) if not flags[j] and flags[j - 1]]
    return list(zip(starts, ends, strict=True))
