"""Advantages for Agent Lightning: one transition a call of the policy, with a list of advantages.

Read for commit c632d8dd (1.0.0): `agentlightning/verl/rollout_adapter.py:217-232` (transitions), `:445-453` (scores in
bfloat16 on the last token), `agl_rollout_manager.py:40-48` (Triplet).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.calls import by_trajectory, calls
from trajcredit.exporters.lines import float32, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["AgentLightning", "transitions"]


@exporters.register("agent_lightning")
@dataclass(frozen=True, slots=True)
class AgentLightning(TokenExporter):
    """Agent Lightning: one transition a line, named as its triplets, with one advantage a sampled token.

    Its own adapter reads nothing but the final reward, and rounds that to bfloat16 (2 to 3 digits):
    `trajcredit.integrations.agent_lightning.adapter` puts these lists in its place, as float32.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a call."""
        return write_lines((line for together in by_trajectory(rows) for line in transitions(together)), out)


def transitions(rows: list[TokenRow]) -> Iterator[dict[str, Any]]:
    """The calls of one trajectory; `turn_index` counts them as Agent Lightning counts the triplets of a rollout."""
    found = [call for row in rows for call in calls(row)]
    for index, call in enumerate(found):
        logprobs = call.row.logprobs
        yield {
            "rollout_id": call.row.trajectory_id,
            "data_id": call.row.uid,
            "turn_index": index,
            "prompt": {"token_ids": call.context_ids},
            "response": {
                "token_ids": call.sampled_ids,
                "log_probs": None if logprobs is None else float32(logprobs[call.start : call.end]),
            },
            "advantages": call.advantages,
        }
