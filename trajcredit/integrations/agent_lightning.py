"""Agent Lightning (c632d8dd, 1.0.0): a rollout adapter that trains on exported advantages.

    import agentlightning.verl.trainer as trainer
    from trajcredit.integrations.agent_lightning import adapter

    trainer.RolloutAdapter = adapter(score)  # in the process of the trainer, before it starts

`score(rollouts)` writes those rollouts to a log, scores it, exports with `agent_lightning` and returns the path of that
file. The trainer makes its adapter itself (verl/trainer.py:411), so the name there is replaced. Its config:

    agentlightning.trace_aggregator.level=transition
    algorithm.adv_estimator=trajcredit_external       # of trajcredit.integrations.verl: returns what the adapter put in
    algorithm.enable_rollout_level_advantage=false    # else one number a rollout, and an error where rows differ
    algorithm.use_kl_in_reward=false

The loss `per_rollout_mean`, its default, divides all advantages of a rollout by the rollout's tokens
(verl/per_rollout_loss.py:15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.integrations.records import Record, fit, named, numbers, records, trainer

__all__ = ["adapter", "exported", "scores"]

INSTALL = "agentlightning from github.com/microsoft/agent-lightning (1.0)"


def exported(path: str | Path) -> dict[tuple[str, int], Record]:
    """Rollout and turn -> its line; InputError names the line whose lists do not fit."""
    found: dict[tuple[str, int], Record] = {}
    for _, record in records(path, "agent_lightning", _check):
        found[record["rollout_id"], record["turn_index"]] = record
    return found


def adapter(score: Callable[[Sequence[Any]], str | Path]) -> type:
    """A RolloutAdapter whose training batch has the exported advantages as `token_level_scores`, float32 (B, R)."""
    base = trainer("agentlightning.verl.rollout_adapter", INSTALL)
    torch = trainer("torch", "torch")

    class FromFile(base.RolloutAdapter):  # type: ignore[misc, name-defined]
        """Advantages of trajcredit, one a sampled token of every transition."""

        def get_train_data_batch(self, completed_rollouts: Sequence[Any], **options: Any) -> Any:
            """The batch of Agent Lightning with its scores replaced; InputError at another aggregation level."""
            if self.trace_aggregator_level != "transition":
                raise InputError(f"trace_aggregator.level is {self.trace_aggregator_level!r}: expected 'transition'")
            batch, metrics = super().get_train_data_batch(completed_rollouts, **options)
            rows = zip(
                batch.non_tensor_batch["rollout_id_list"].tolist(),
                batch.non_tensor_batch["turn_index_list"].tolist(),
                batch.batch["responses"].tolist(),
                batch.batch["attention_mask"][:, -self.max_response_length :].sum(-1).tolist(),
                strict=True,
            )
            found = exported(score(completed_rollouts))
            given = [scores(found, rollout, turn, ids[:length], len(ids)) for rollout, turn, ids, length in rows]
            batch.batch["token_level_scores"] = torch.tensor(given, dtype=torch.float32, device=self.device)
            return batch, metrics

    return FromFile


def scores(found: dict[tuple[str, int], Record], rollout: str, turn: int, ids: list[int], width: int) -> list[float]:
    """One row of scores, right-padded with 0 to `width`; `ids` are the response tokens that the trainer kept.

    InputError where the turn was not exported, or has other tokens.
    """
    record = found.get((rollout, turn))
    if record is None:
        raise InputError(f"turn {turn} of rollout {rollout!r} was not exported")
    if record["response"]["token_ids"][: len(ids)] != ids:
        raise InputError(f"turn {turn} of rollout {rollout!r} has other response tokens than the one exported")
    kept: list[float] = record["advantages"][: len(ids)]
    return kept + [0.0] * (width - len(kept))


def _check(place: str, record: Record) -> None:
    named(place, record, "rollout_id")
    numbers(place, "turn_index", [record["turn_index"]])
    fit(place, token_ids=record["response"]["token_ids"], advantages=record["advantages"])
    numbers(place, "advantages", record["advantages"])
