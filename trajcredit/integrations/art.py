"""ART (openpipe-art 0.5.18): a trajectory cut into one for each turn, so that each turn has a reward of its own.

    from trajcredit.integrations.art import groups

    split = list(groups("advantages.jsonl", {id: trajectory, ...}))  # the ids that the log gave your art.Trajectory
    await backend.train(model, split, scale_rewards=False)

Never with `allow_training_without_logprobs`: earlier turns and the anchor are plain messages, and would be trained.
`advantage_balance` stays at 0, its default: it scales one sign of the advantages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.records import Record, named, numbers, records, trainer

__all__ = ["groups", "split"]

INSTALL = "openpipe-art>=0.5.18"
PREFIX = "token_id:"


def groups(path: str | Path, trajectories: Mapping[str, Any]) -> Iterator[Any]:
    """An `art.TrajectoryGroup` a line; InputError where `trajectories` lacks one, or has other turns than exported."""
    art = trainer("art", INSTALL)
    for place, record in records(path, "art", _check):
        if record["trajectory_id"] not in trajectories:
            raise InputError(f"{place}: no trajectory {record['trajectory_id']!r} was given")
        yield art.TrajectoryGroup(split(trajectories[record["trajectory_id"]], record))


def split(trajectory: Any, record: Mapping[str, Any]) -> list[Any]:
    """One trajectory a turn, its last message trainable and all before it not, then the anchor, which trains nothing.

    rewards = the exported ones, and minus their sum: ART's advantage (reward - group mean,
    preprocessing/tokenize.py:246) is then the reward. InputError where the turns are not those exported.
    """
    art = trainer("art", INSTALL)
    if trajectory.additional_histories:
        raise InputError(f"{record['trajectory_id']}: a trajectory with additional_histories cannot be cut into turns")
    messages = trajectory.messages()
    sampled = [n for n, item in enumerate(trajectory.messages_and_choices) if not isinstance(item, dict)]
    if len(sampled) != len(record["turns"]):
        raise InputError(
            f"{record['trajectory_id']}: {len(record['turns'])} turns were exported, it has {len(sampled)}"
        )
    cut = []
    for n, turn in zip(sampled, record["turns"], strict=True):
        choice = trajectory.messages_and_choices[n]
        _same(choice, turn, f"{record['trajectory_id']}, turn {turn['turn']}")
        cut.append(([*messages[:n], choice], turn["reward"]))
    cut.append((messages[: sampled[0]], record["anchor_reward"]))
    return [
        art.Trajectory(messages_and_choices=said, tools=trajectory.tools, reward=reward, metadata=trajectory.metadata)
        for said, reward in cut
    ]


def _same(choice: Any, turn: Mapping[str, Any], place: str) -> None:
    """InputError where a choice has no log-probs, or other tokens than the exported turn."""
    tokens: Sequence[Any] = (choice.logprobs.content or ()) if choice.logprobs is not None else ()
    if not tokens:
        raise InputError(f"{place}: the choice has no logprobs, so ART does not train it")
    told = [entry.token for entry in tokens]
    known = all(token.startswith(PREFIX) for token in told)
    if len(told) != len(turn["token_ids"]) or (known and told != [f"{PREFIX}{token}" for token in turn["token_ids"]]):
        raise InputError(f"{place}: the choice has other tokens than the turn that was exported")


def _check(place: str, record: Record) -> None:
    named(place, record, "trajectory_id")
    rewards = [turn["reward"] for turn in record["turns"]]
    numbers(place, "reward", [*rewards, record["anchor_reward"]])
    if abs(record["anchor_reward"] + fsum(rewards)) > 1e-9 * (1 + sum(map(abs, rewards))):
        raise InputError(f"{place}: the anchor is not minus the sum of the rewards, so the mean of the group is not 0")
    if any(not turn["token_ids"] for turn in record["turns"]):
        raise InputError(f"{place}: a turn without tokens trains nothing")
