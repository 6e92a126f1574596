"""The outcome that lists and filters show: by the rules of a batch, each trajectory from its most trusted source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.batching import Columns
from trajcredit.batching.rewards import choose_source, place_rewards
from trajcredit.model import ACTION_KINDS, KIND_CODES, Reward
from trajcredit.store.border import finite

__all__ = ["Outcome", "action_mask", "outcomes"]

_ACTIONS = np.isin(np.arange(len(KIND_CODES)), [KIND_CODES[kind] for kind in ACTION_KINDS])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The sum of a trajectory's rewards, and the source that gave them; null where nobody has."""

    value: float | None
    source: str | None


def outcomes(rewards: Sequence[Sequence[Reward]], columns: Columns) -> list[Outcome]:
    """One a trajectory. A trajectory without an action has none, whatever was said of it."""
    sources = [choose_source([given], None) for given in rewards]
    ids, mask = [""] * len(rewards), action_mask(columns)
    values: list[float | None] = [None] * len(rewards)
    for source in {*sources} - {None}:
        _, found, _ = place_rewards(ids, rewards, source, columns.span_offsets, mask, columns.result_of)
        for t, own in enumerate(sources):
            if own == source:
                values[t] = finite(found[t])
    return [Outcome(v, s if v is not None else None) for v, s in zip(values, sources, strict=True)]


def action_mask(columns: Columns) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """bool[N]: spans the policy chose."""
    return _ACTIONS[columns.kind]
