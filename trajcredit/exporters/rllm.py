"""Advantages for rLLM: episodes whose steps carry a list of advantages.

Read for commit 9beb6e0f: `rllm/types.py` (Episode, Trajectory, Step; `from_dict`), `trainer/algorithms/advantage.py`
lines 139-170 (`use_precomputed_advantage`), `trainer/tinker/transform.py` lines 81-127.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.calls import PolicyCall, by_trajectory, calls, check_logprobs, logprobs_of, version_of
from trajcredit.exporters.lines import float32, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Rllm", "episode"]

NAME = "default_traj_name"
"""rLLM's own name of a trajectory that has none; with the task it makes up the group."""


@exporters.register("rllm")
@dataclass(frozen=True, slots=True)
class Rllm(TokenExporter):
    """rLLM: one episode a line, as Episode.from_dict takes it; a step is one call of the policy.

    Set `rllm.algorithm.use_precomputed_advantage: true`. The Tinker backend takes the lists as they are; the verl and
    Fireworks backends take one number a trajectory and lose them: export to verl instead.
    """

    suffix: ClassVar[str] = ".jsonl"

    def check(self, rows: Sequence[TokenRow]) -> None:
        """MisalignedError where the log has no log-probs."""
        check_logprobs(rows, "rLLM")

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a trajectory."""
        return write_lines(_episodes(rows), out)


def _episodes(rows: Iterator[TokenRow]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for together in by_trajectory(rows):
        uid = together[0].uid
        yield episode(together, seen[uid])
        seen[uid] += 1


def episode(rows: list[TokenRow], rollout: int) -> dict[str, Any]:
    """The rows of one trajectory as an episode of one trajectory; `rollout` counts those of its group.

    rLLM reads task and rollout from `id`, at its first colon: colons of a group's name are written %3A.
    """
    first = rows[0]
    task = first.uid.replace("%", "%25").replace(":", "%3A")
    steps = [_step(call) for row in rows for call in calls(row)]
    steps[-1]["done"] = True
    return {
        "id": f"{task}:{rollout}",
        "task": {"id": first.uid},
        "termination_reason": "unknown",
        "is_correct": first.outcome is not None and first.outcome > 0,
        "session_id": None,
        "trajectories": [
            {
                "uid": first.trajectory_id,
                "name": NAME,
                "task": {"id": first.uid},
                "steps": steps,
                "reward": first.outcome,
                "info": {},
            }
        ],
        "metrics": {},
        "info": {},
    }


def _step(call: PolicyCall) -> dict[str, Any]:
    """prompt_ids = all before the call; response_ids, logprobs and advantage have one entry a sampled token.

    rLLM zeroes the advantages of a step whose list has another length, with a warning (advantage.py:157).
    """
    return {
        "prompt_ids": call.context_ids,
        "response_ids": call.sampled_ids,
        "logprobs": float32(logprobs_of(call.row, "rLLM")[call.start : call.end]),
        "routing_matrices": None,
        "chat_completions": [],
        "observation": None,
        "thought": "",
        "action": None,
        "model_response": "",
        "model_output": None,
        "info": {"turn": call.turn, "row": call.row.row},
        "reward": 0.0,
        "done": False,
        "mc_return": 0.0,
        "advantage": call.advantages,
        "weight_version": version_of(call.row),
    }
