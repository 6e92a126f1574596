"""Logs of uneven groups, attributors that come to harm, and an engine that pickles as workers do, in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, TypeVar

import msgspec
import numpy as np

from tests.critics.worlds import desk
from trajcredit.attributors import Attribution, Term
from trajcredit.attributors.base import Scope
from trajcredit.batching import Batch, pack
from trajcredit.engines.base import Name
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory

__all__ = ["Picky", "Posted", "batch", "runs"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def runs() -> tuple[Trajectory, ...]:
    """Seven tasks of 4, 4, 3, 2, 4, 4 and 4 rollouts, dealt out one task after the other, one without a reward, and
    one rollout that belongs to no task."""
    found = [one for one in desk(groups=7) if one.id not in ("run-2-3", "run-3-2", "run-3-3")]
    found = found[::3] + found[1::3] + found[2::3]
    changed = []
    for one in found:
        if one.id == "run-4-1":
            one = msgspec.structs.replace(one, rewards=[])
        if one.id == "run-0-0":
            one = msgspec.structs.replace(one, group=None, task=None)
        shown = [span.text for span in one.spans if span.kind == "tool_result" and "seats" in span.text]
        answer = msgspec.json.decode(shown[0])["seats"][0]["seat"] if shown else "x y"
        changed.append(msgspec.structs.replace(one, answer=answer))
    return tuple(changed)


@cache
def batch() -> Batch:
    """Their batch, with counts of tokens and what is known of the answer, which their logs do not have."""
    found = pack(build_graphs(runs()))
    numbers = np.arange(found.n_spans)
    return replace(found, n_tokens=numbers % 7 + 1, info=np.where(found.action_mask, -1 / (numbers % 5 + 1), np.nan))


class Posted:
    """Goes by the name of an engine with two workers; whatever a worker gets and gives is pickled on the way."""

    name: ClassVar[Name] = "pool"
    workers = 2

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`do` of what comes out of the post."""
        for item in items:
            sent, arrived = pickle.loads(pickle.dumps((do, item)))
            yield pickle.loads(pickle.dumps(sent(arrived)))


@dataclass(frozen=True)
class Picky:
    """Scores 1 everywhere, and raises over one trajectory, naming it and the trajectories there are."""

    wrong: str
    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __call__(self, batch: Batch) -> Attribution:
        """1 on every action."""
        if self.wrong in batch.trajectory_ids:
            raise ValueError(f"{self.wrong} of {batch.n_trajectories} is not to my taste")
        ones = np.where(batch.action_mask, 1.0, np.nan)
        return Attribution(ones, ones)

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """The one."""
        return (Term("taste", 1.0),)
