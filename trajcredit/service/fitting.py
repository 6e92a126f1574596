"""Critics fitted to logs and kept in files, to be asked of logs that come later (`critic=FILE`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trajcredit import critics
from trajcredit.batching import Batch
from trajcredit.critics.drift import FIGURES
from trajcredit.service.attributing import foreign
from trajcredit.service.files import written_whole

__all__ = ["Pool", "Shown", "fit", "shown"]


@dataclass(frozen=True, slots=True)
class Pool:
    """What a fitted critic learnt of tasks that share tools."""

    tools: tuple[str, ...]
    trajectories: int
    groups: int
    fitted: str
    """What it was fitted to, or why it was not."""
    models: int
    """One without each fold of the groups, and one of all; 0: its forecast is 0."""
    usual: dict[str, float | None]
    """Mean over groups of what drift is measured by: shares of tools and features that only one group has, outcome;
    and `slope`, of outcomes on forecasts out of fold. Null where it cannot be told."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A fitted critic, for people."""

    schema: str
    kind: str
    fingerprint: str
    code: str
    """A hash of the code it was fitted by; `current` whether it is that of this program."""
    current: bool
    data: str
    """A hash of the texts, groups and outcomes it was fitted to."""
    pools: tuple[Pool, ...]


def fit(batch: Batch, kind: str, out: Path) -> Shown:
    """Fit a critic to a batch and write it; the file appears whole or not at all."""
    with foreign(f"the critic {kind!r} failed"):
        critic = critics.fit(batch, kind)
    with written_whole(out) as file:
        file.write(critics.to_bytes(critic))
    return _shown(critic)


def shown(path: Path) -> Shown:
    """What a file of a fitted critic holds; InputError where it holds none."""
    return _shown(critics.load(path))


def _shown(critic: critics.FittedCritic) -> Shown:
    pools = tuple(map(_pool, critic.pools))
    current = critic.code == critics.code_hash()
    return Shown(critics.SCHEMA, critic.kind, critic.fingerprint, critic.code, current, critic.data, pools)


def _pool(pool: critics.FittedPool) -> Pool:
    usual: dict[str, float | None] = {}
    for name, column in zip(FIGURES[:3], pool.figures.T, strict=False):
        told = column[~np.isnan(column)]
        usual[name] = float(told.mean()) if len(told) else None
    power, error = (float(pool.figures[:, FIGURES.index(name)].sum()) for name in ("forecast", "error"))
    usual["slope"] = 1 + error / power if power else None
    return Pool(
        tools=tuple(sorted(pool.tools.union(*pool.tool_sets))),
        trajectories=len(pool.marks),
        groups=len(pool.folds),
        fitted=pool.note,
        models=0 if pool.model is None else len(pool.model.models),
        usual=usual,
    )
