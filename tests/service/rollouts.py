"""Rollouts written as calls: `rollout("a", 1.0, "search to=PAR", "pay id=H-91")`, each answered by what `told` says."""

from __future__ import annotations

from typing import Any

from trajcredit.model import Reward, Span, Trajectory
from trajcredit.service.grouping_calls import Rollout, rollout_of

__all__ = ["members", "rollout"]


def rollout(
    name: str, reward: float | None, *calls: str, told: dict[str, str] | None = None, prompt: str = "go"
) -> Trajectory:
    """A trajectory of these calls, `tool key=value ...`; the result of a call is what `told` has for its tool."""
    spans = [Span(kind="user", turn=-1, text=prompt)]
    for turn, call in enumerate(calls):
        tool, *given = call.split()
        arguments: Any = dict(pair.split("=") for pair in given)
        spans.append(Span(kind="tool_call", turn=turn, name=tool, arguments=arguments))
        spans.append(
            Span(kind="tool_result", turn=turn, name=tool, text=(told or {}).get(tool, "ok"), result_of=len(spans) - 1)
        )
    return Trajectory(
        id=name, group="g", terminated=True, spans=spans, rewards=[] if reward is None else [Reward(reward)]
    )


def members(*trajectories: Trajectory) -> list[Rollout]:
    """The rollouts as a group reads them, numbered in this order."""
    return [
        rollout_of(t, t.id, number, t.rewards[0].value if t.rewards else None)
        for number, t in enumerate(trajectories, 1)
    ]
