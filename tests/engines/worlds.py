"""Logs of uneven groups, attributors that come to harm, and an engine that pickles as workers do, in this process."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec
import numpy as np

from tests.critics.worlds import desk
from trajcredit.attributors import Attribution, Term
from trajcredit.attributors.base import Scope
from trajcredit.batching import Batch, pack
from trajcredit.engines.base import InProcess
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory

__all__ = ["Deadly", "Picky", "Posted", "batch", "killed_once", "runs"]

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
    """Their batch."""
    return pack(build_graphs(runs()))


class Posted(InProcess):
    """Goes by the name of an engine with two workers; whatever a worker gets and gives is pickled on the way."""

    name = "pool"
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


def killed_once(mark: str) -> int:
    """The worker that is first to find no file of that name is killed, as by a machine short of memory."""
    path, _, answer = mark.rpartition("=")
    if path:
        try:
            Path(path).touch(exist_ok=False)
        except FileExistsError:
            return int(answer)
        os.kill(os.getpid(), signal.SIGKILL)
    return int(answer)


class Deadly:
    """Kills every worker that it comes to."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _die, ()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
