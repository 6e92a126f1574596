"""Advantages for AReaL: one interaction a call of the policy, one reward each.

Read for areal 1.0.4: `experimental/openai/types.py:122` (`to_tensor_dict`), `experimental/openai/cache.py:53`
(`apply_reward_discount`), `trainer/ppo/actor.py:145-249` (`_compute_advantages`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.errors import InputError
from trajcredit.exporters.calls import REDUCES, PolicyCall, Reduce, calls, check_one_number, one_number, version_of
from trajcredit.exporters.lines import float32, keys, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Areal", "interaction"]


@exporters.register("areal")
@dataclass(frozen=True, slots=True)
class Areal(TokenExporter):
    """AReaL: one interaction a line, with the keys of its batch and one reward, which becomes the advantage.

    The actor must neither normalise nor discount: `trajcredit.integrations.areal.ACTOR` holds the settings and
    `check_actor` compares them.
    """

    suffix: ClassVar[str] = ".jsonl"

    reduce: Reduce = "stop"
    """A call whose tokens have several advantages: stop, or export their mean."""
    reward_clip: float = 20.0
    """The actor's reward_clip: AReaL cuts what is beyond it, so the export stops there."""

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        TokenExporter.__post_init__(self)
        if self.reduce not in REDUCES:
            raise InputError(f"parameter reduce={self.reduce!r}: expected {' | '.join(REDUCES)}")
        if not self.reward_clip > 0:
            raise InputError(f"parameter reward_clip={self.reward_clip}: expected more than 0")

    def check(self, rows: Sequence[TokenRow]) -> None:
        """MisalignedError where a call has several numbers, or one that AReaL would cut.

        Whitened numbers follow from those of all trajectories: what is cut then can be left out no more, and stops the
        export.
        """
        check_one_number(rows, self.reduce, "AReaL")
        if self.whiten == "none":
            for call in (call for row in rows for call in calls(row)):
                if (why := _cut(one_number(call, self.reduce, "AReaL")[0], self.reward_clip)) is not None:
                    raise call.misaligned(why)

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a call."""
        found = (interaction(call, self.reduce, self.reward_clip) for row in rows for call in calls(row))
        return write_lines(found, out)


def interaction(call: PolicyCall, reduce: Reduce, reward_clip: float) -> dict[str, Any]:
    """input_ids, loss_mask, logprobs and versions have one entry a token and are not shifted; `rewards` has one.

    The mask is 1 on all sampled tokens and the row ends with the last of them: AReaL puts the reward on the entry
    before the last and drops it where that is masked (actor.py:206; the mask was rolled by one before). `logprobs` and
    `versions` are null where the log has none; -1 is the version of tokens that were given.
    InputError where the number is beyond `reward_clip`.
    """
    reward, reduced = one_number(call, reduce, "AReaL")
    if (why := _cut(reward, reward_clip)) is not None:
        raise InputError(f"{call.place}: {why}")
    before, sampled = call.context_ids, call.sampled_ids
    version, logprobs = version_of(call.row), call.row.logprobs
    return {
        **keys(call.row),
        "turn": call.turn,
        "input_ids": before + sampled,
        "loss_mask": [0] * len(before) + [1] * len(sampled),
        "logprobs": None if logprobs is None else [0.0] * len(before) + float32(logprobs[call.start : call.end]),
        "versions": None if version is None else [-1] * len(before) + [version] * len(sampled),
        "rewards": [reward],
        "reduced": reduced,
    }


def _cut(reward: float, reward_clip: float) -> str | None:
    """Why AReaL would train another number than this one; None where it does not."""
    if abs(reward) <= reward_clip:
        return None
    cut = f"an advantage of {reward:g} is cut by AReaL to {reward_clip:g} (reward_clip)"
    return f"{cut}: raise it in the actor's settings and here, or export smaller numbers"
