"""rLLM (9beb6e0f, Tinker backend): advantages on the steps of episodes.

    from trajcredit.integrations.rllm import assign

    assign("advantages.jsonl", [trajectory for episode in episodes for trajectory in episode.trajectories])

with `rllm.algorithm.use_precomputed_advantage: true`. The verl backend calls float() on a step's advantage
(trainer/verl/transform.py:590) and the Fireworks backend keeps that of the first sampled token
(trainer/fireworks/fireworks_policy_trainer.py:262): neither can carry a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.records import Record, fit, named, numbers, records, trainer

__all__ = ["assign", "episodes"]


def episodes(path: str | Path) -> Iterator[Any]:
    """A `rllm.types.Episode` a line."""
    types = trainer("rllm.types", "rllm from github.com/rllm-org/rllm")
    for _, record in records(path, "rllm", _check):
        yield types.Episode.from_dict(record)


def assign(path: str | Path, trajectories: Iterable[Any]) -> int:
    """Set `step.advantage` of every step of rLLM's own trajectories, found by `uid`; how many steps.

    InputError where the file lacks a trajectory, or has other steps or other sampled ids than it: rLLM itself would
    train such a step with zeros (advantage.py:157).
    """
    found = {
        trajectory["uid"]: (place, trajectory["steps"])
        for place, record in records(path, "rllm", _check)
        for trajectory in record["trajectories"]
    }
    given = 0
    for trajectory in trajectories:
        if trajectory.uid not in found:
            raise InputError(f"{path} has no advantages of trajectory {trajectory.uid!r}")
        place, steps = found[trajectory.uid]
        if len(steps) != len(trajectory.steps):
            raise InputError(f"{place}: {len(steps)} steps; trajectory {trajectory.uid!r} has {len(trajectory.steps)}")
        for k, (step, own) in enumerate(zip(steps, trajectory.steps, strict=True)):
            if list(own.response_ids) != step["response_ids"]:
                raise InputError(f"{place}: step {k} has other response_ids than that of {trajectory.uid!r}")
            own.advantage = step["advantage"]
            given += 1
    return given


def _check(place: str, record: Record) -> None:
    for trajectory in record["trajectories"]:
        named(place, trajectory, "uid")
        for k, step in enumerate(trajectory["steps"]):
            where = f"{place}, step {k} of {trajectory['uid']}"
            fit(where, **{name: step[name] for name in ("response_ids", "logprobs", "advantage")})
            numbers(where, "advantage", step["advantage"])
