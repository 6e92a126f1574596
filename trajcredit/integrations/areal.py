"""AReaL (1.0.4): a reward an interaction, and the actor settings with which it is the advantage.

    from trajcredit.integrations.areal import check_actor, interactions, rewards_of

    check_actor(config.actor)
    scored = interactions("advantages.jsonl")
    return rewards_of(scored[trajectory_id], responses)  # at the end of your agent's run(): AReaL sets them

An agent's `run` returns {completion id: reward} (experimental/openai/proxy/workflow.py:236). A workflow of your own
calls `client.set_reward(id, reward)` for each, then `client.export_interactions("individual")`. Make AReaL's with
`discount` 0 (`turn_discount` in the configuration): at its default of 1 every reward is added to those of all earlier
turns (experimental/openai/cache.py:103). Export style `individual`, chat template type `hf`: with `concat` the tokens
of earlier turns are trained again with later rewards (experimental/openai/types.py:134).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.records import Record, fit, named, numbers, records, trainer

__all__ = ["ACTOR", "check_actor", "interactions", "rewards_of", "tensors"]

ACTOR: Mapping[str, Any] = {
    "reward_norm": None,
    "adv_norm": None,
    "kl_ctl": 0.0,
    "discount": 1.0,
    "gae_lambda": 1.0,
    "reward_scaling": 1.0,
    "reward_bias": 0.0,
    "overlong_reward_penalty": False,
    "mask_no_eos_with_zero": False,
}
"""PPOActorConfig (api/cli_args.py:1454) with which A = reward on every sampled token, without a critic. Of these only
`kl_ctl` is another by default: 0.1, a penalty inside the advantages."""


def check_actor(config: Any, largest: float = 0.0) -> None:
    """InputError names every setting of a PPOActorConfig that changes advantages up to `largest` in size."""
    wrong = [
        f"{name}={getattr(config, name)!r} (expected {value!r})"
        for name, value in ACTOR.items()
        if getattr(config, name) != value
    ]
    if config.reward_clip < largest:
        wrong.append(f"reward_clip={config.reward_clip!r} (expected {largest:g} or more)")
    if wrong:
        raise InputError(f"the actor would change the advantages: {', '.join(wrong)}")


def interactions(path: str | Path) -> dict[str, list[Record]]:
    """Trajectory -> its interactions in order; InputError names the line whose lists do not fit."""
    found: dict[str, list[Record]] = {}
    for _, record in records(path, "areal", _check):
        found.setdefault(record["trajectory_id"], []).append(record)
    return found


def rewards_of(scored: Sequence[Mapping[str, Any]], responses: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Interaction id -> reward, of one trajectory; `responses` has the sampled ids of its interactions, in order.

    InputError where their number or an id differs: a reward would be another turn's.
    """
    if len(scored) != len(responses):
        raise InputError(f"{len(scored)} interactions were exported and {len(responses)} are given")
    rewards = {}
    for k, (record, (name, ids)) in enumerate(zip(scored, responses.items(), strict=True)):
        sampled = [token for token, own in zip(record["input_ids"], record["loss_mask"], strict=True) if own]
        if list(ids) != sampled:
            raise InputError(f"interaction {k} ({name}) has other sampled ids than the one exported")
        rewards[name] = record["rewards"][0]
    return rewards


def tensors(record: Mapping[str, Any]) -> dict[str, Any]:
    """One interaction as `InteractionWithTokenLogpReward.to_tensor_dict` gives it (types.py:191): shape (1, L).

    For a workflow that returns rollouts from a file. InputError where the log had no log-probs or versions.
    """
    torch = trainer("torch", "torch")
    for name in ("logprobs", "versions"):
        if record[name] is None:
            raise InputError(
                f"{record['trajectory_id']}, turn {record['turn']}: the log has no {name}, which AReaL needs"
            )
    given = {name: torch.tensor([record[name]]) for name in ("input_ids", "loss_mask", "logprobs", "versions")}
    ones = torch.ones_like(given["input_ids"], dtype=torch.bool)
    return {**given, "attention_mask": ones, "rewards": torch.tensor(record["rewards"])}


def _check(place: str, record: Record) -> None:
    named(place, record, "trajectory_id")
    fit(place, **{name: record[name] for name in ("input_ids", "loss_mask", "logprobs", "versions")})
    fit(place, interaction=[record["turn"]], rewards=record["rewards"])
    numbers(place, "rewards", record["rewards"])
    if not record["loss_mask"] or record["loss_mask"][-1] != 1:
        raise InputError(f"{place}: the last token is not sampled: AReaL would drop the reward")
