"""Advantages for ART: one turn is one trajectory, since a trajectory has one reward and nothing else.

Read for openpipe-art 0.5.18: `preprocessing/tokenize.py:245-258` (reward minus group mean), `:281` (weights),
`preprocessing/pack.py:126-152` (rescaling), `loss.py:131` (weights in the loss).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from trajcredit.errors import InputError
from trajcredit.exporters.calls import REDUCES, Reduce, by_trajectory, calls, check_one_number, one_number
from trajcredit.exporters.lines import write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["WEIGHS", "Art", "Weigh", "group"]

Weigh: TypeAlias = Literal["turn", "token", "trajectory"]
"""ART divides the loss of each of its trajectories by the sampled tokens in it; what that shall leave alike."""
WEIGHS: tuple[Weigh, ...] = get_args(Weigh)


@exporters.register("art")
@dataclass(frozen=True, slots=True)
class Art(TokenExporter):
    """ART: one group a line: a reward a turn, and an anchor that makes the mean of the group 0.

    Train with `scale_rewards=False`. ART then divides all advantages of a packed batch by one number, so ratios
    survive and the absolute size does not; a turn of advantage 0 is left out.
    """

    suffix: ClassVar[str] = ".jsonl"

    reduce: Reduce = "stop"
    """A turn whose tokens have several advantages: stop, or export their mean."""
    weigh: Weigh = "turn"
    """ART divides a turn's loss by its tokens. turn: the reward is the advantage, and a long turn's tokens weigh less;
    token: times its tokens, so that every token's weight is its advantage; trajectory: that over the tokens of all
    turns, as ART weighs a trajectory that is not cut."""

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        TokenExporter.__post_init__(self)
        for name, choices in (("reduce", REDUCES), ("weigh", WEIGHS)):
            if getattr(self, name) not in choices:
                raise InputError(f"parameter {name}={getattr(self, name)!r}: expected {' | '.join(choices)}")

    def check(self, rows: Sequence[TokenRow]) -> None:
        """MisalignedError where a turn has several numbers, and none may be made of them."""
        check_one_number(rows, self.reduce, "ART")

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a trajectory."""
        return write_lines((group(together, self.reduce, self.weigh) for together in by_trajectory(rows)), out)


def group(rows: list[TokenRow], reduce: Reduce, weigh: Weigh) -> dict[str, Any]:
    """The rows of one trajectory as a group: its turns, and the anchor's reward.

    advantage_i = reward_i - mean(rewards, anchor), and the anchor is minus the sum of the others: the mean is 0.
    """
    found = [call for row in rows for call in calls(row)]
    numbers = [one_number(call, reduce, "ART") for call in found]
    rewards = np.array([number for number, _ in numbers])
    if weigh != "turn":
        tokens = np.array([call.end - call.start for call in found])
        shared = rewards * tokens / (tokens.sum() if weigh == "trajectory" else 1)
        rewards = shared.astype(np.float32).astype(np.float64)
    return {
        "uid": rows[0].uid,
        "trajectory_id": rows[0].trajectory_id,
        "turns": [
            {
                "row": call.row.row,
                "turn": call.turn,
                "reward": reward,
                "token_ids": call.sampled_ids,
                "reduced": reduced,
            }
            for call, reward, (_, reduced) in zip(found, rewards.tolist(), numbers, strict=True)
        ],
        "anchor_reward": 0.0 - math.fsum(rewards.tolist()),
    }
