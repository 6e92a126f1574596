"""Fitted critics that are kept: applied to new trajectories of the same pools without fitting anything again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from trajcredit.arrays import F64, I64, U64
from trajcredit.batching import Batch, decisions
from trajcredit.critics import compatible, drift, ridge, sequence
from trajcredit.critics.describe import Description
from trajcredit.critics.filling import KINDS, filled, read_by
from trajcredit.critics.folds import ALL, FOLDS, folds_of
from trajcredit.critics.frames import Frame
from trajcredit.critics.homes import home_of, tools_of
from trajcredit.critics.members import LEAST_GROUPS, Members, has_texts, learning_pools, members_of
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.story import Story
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import Note

__all__ = ["LEARN", "FittedCritic", "FittedPool", "PoolModel", "code_hash", "fit"]

SHOWN = 4
MIXED = -2
"""The fold of a task whose trajectories were fitted in several folds: no model is free of all of them."""


class PoolModel(Protocol):
    """What a kind of critic keeps of one pool."""

    @property
    def frame(self) -> Frame:
        """How it describes decisions."""

    def say(self, told: Description, groups: I64, outcome: F64, fold: I64) -> PoolFit:
        """Forecasts of the decisions of T stories; groups, fold i64[T] (ALL: a task not seen), outcome f64[T]."""

    @property
    def models(self) -> Mapping[int, object]:
        """A model without each fold; ALL: of all tasks."""

    def arrays(self) -> dict[str, F64]:
        """Its models as arrays, in their order."""


Learn: TypeAlias = Callable[[Sequence[Story], I64, Sequence[str], F64, Sequence[int]], tuple[PoolModel, Description]]
LEARN: dict[str, Learn] = {"compatible": compatible.learn, "ridge": ridge.learn, "sequence": sequence.learn}
"""Kinds of critics that can be kept."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedPool:
    """What was learnt of tasks that share tools.

    tool_sets   the sets of tools its trajectories had; tools: all that they called
    model       None where there was too little to learn from
    folds       fold of each task, by its name
    marks       u64[T], mark_folds i64[T]   `mark` and fold of each trajectory, marks ascending
    figures     f64[G, 5]   what `drift` measures of each task
    note        what it was fitted to
    """

    tool_sets: tuple[frozenset[str], ...]
    tools: frozenset[str]
    model: PoolModel | None
    folds: Mapping[str, int]
    marks: U64
    mark_folds: I64
    figures: F64
    note: str

    @property
    def name(self) -> str:
        """A few of its tools, for people."""
        names = sorted(self.tools.union(*self.tool_sets))
        if not names:
            return "no tools"
        return f"tools {', '.join(names[:SHOWN])}" + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")

    def folds_for(self, members: Members) -> I64:
        """The fold i64[T] whose model may speak of each: its task's own where it was fitted to it, ALL where not.

        A task goes by its name; under a new name, by trajectories with the same id and texts. MIXED where these were
        in several folds.
        """
        fold = np.array([self.folds.get(name, ALL) for name in members.names], dtype=np.int64)
        if (fold == ALL).any() and len(self.marks):
            marks = members.marks()
            at = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
            seen = (self.marks[at] == marks) & (fold[members.groups] == ALL)
            pairs = np.unique(np.stack([members.groups[seen], self.mark_folds[at[seen]]]), axis=1)
            fold[pairs[0]] = np.where(np.bincount(pairs[0], minlength=len(fold))[pairs[0]] == 1, pairs[1], MIXED)
        return fold[members.groups]


@dataclass(frozen=True, slots=True, eq=False)
class FittedCritic:
    """A critic fitted to one batch: its kind, hashes of its code and of the data, and what it learnt of every pool."""

    kind: str
    code: str
    data: str
    pools: tuple[FittedPool, ...]

    @property
    def fingerprint(self) -> str:
        """A hash of what its forecasts follow from: kind, code, data and columns."""
        digest = sha256(f"{self.kind}\0{self.code}\0{self.data}".encode())
        for pool in self.pools:
            for name in (*pool.model.frame.names, *pool.model.frame.states) if pool.model is not None else ():
                digest.update(name.encode(errors="surrogatepass") + b"\0")
        return digest.hexdigest()[:12]

    def fill(self, batch: Batch) -> Batch:
        """The batch with the columns that `critics.fill` fills, forecast by these models.

        A trajectory is of the pool whose tools are most like its own; where none are alike its forecast is 0, and a
        note says so. Tasks that the critic was fitted to are forecast by the model without their fold, so on the batch
        it was fitted to it says what `critics.fill` does, bit for bit; of all others by the model of all tasks. A note
        warns where new tasks are unlike those it was fitted to (`critic-drift`). InputError where the batch has no
        graphs.
        """
        has_texts(batch, self.kind)
        assert batch.graphs is not None
        chosen = decisions(batch)
        sets = [pool.tool_sets for pool in self.pools]
        found = tools_of(batch.graphs)
        known = {one: home_of(one, sets) for one in set(found)}
        home = np.array([known[one] for one in found], dtype=np.int64)
        said, notes = [], list(self._told())
        for number, pool in enumerate(self.pools):
            at = np.flatnonzero(home == number)
            if not len(at):
                continue
            if pool.model is None:
                notes.append(_too_small(len(at)))
                continue
            members = members_of(batch, chosen, at)
            answer, more = self._of_pool(pool, pool.model, members)
            said.append((at, answer))
            notes += more
        if (home < 0).any():
            notes.append(
                Note(
                    "critic-no-pool",
                    f"{int((home < 0).sum())} trajectories have tools like none that the critic was fitted to: their "
                    "forecast is 0",
                )
            )
        return filled(batch, chosen, said, notes)

    def _told(self) -> Iterator[Note]:
        if self.code != code_hash():
            yield Note(
                "critic-code",
                f"the critic {self.fingerprint} was fitted by another version of this program: fit it again where the "
                "same numbers matter",
            )

    def _of_pool(self, pool: FittedPool, model: PoolModel, members: Members) -> tuple[PoolFit, list[Note]]:
        told = model.frame.describe(members.stories)
        fold = pool.folds_for(members)
        answer = model.say(told, members.groups, members.outcome, fold)
        n_groups = len(members.names)
        seen = len(np.unique(members.groups[fold >= 0]))
        mixed = fold == MIXED
        said = f"critic {self.kind} {self.fingerprint} forecast {len(members.at)} trajectories of {n_groups} groups"
        notes = [Note("critic-kept", said + (f", {seen} of them by models fitted without them" if seen else ""))]
        if mixed.any():
            notes.append(
                Note(
                    "critic-seen",
                    f"{int(mixed.sum())} trajectories are of groups put together from several that the critic was "
                    "fitted to: no model is free of their outcomes, their forecast is 0",
                )
            )
        new = np.setdiff1d(np.unique(members.groups), members.groups[fold != ALL])
        if len(new):
            unknown = [choice.tool not in pool.tools for story in members.stories for choice in story.choices]
            figures = drift.measured(members, told, answer.of_model, unknown)
            notes += drift.alarms(pool.figures, figures[new], pool.name)
        return answer, notes


def fit(batch: Batch, kind: str) -> FittedCritic:
    """Fit a critic to a batch, to be kept: models as those of `critics.fill`, and one of all tasks for new ones.

    Raises UnknownNameError for a critic there is none of, InputError for one that cannot be kept, and where the batch
    has no graphs.
    """
    if kind not in KINDS:
        raise UnknownNameError("critic", kind, KINDS)
    if kind not in LEARN:
        raise InputError(
            f"critic {kind!r} cannot be kept, only asked where it is fitted; these can: {', '.join(LEARN)}"
        )
    has_texts(batch, kind)
    assert batch.graphs is not None
    chosen = decisions(batch)
    tools = tools_of(batch.graphs)
    number, _ = learning_pools(batch)
    pools = []
    digest = blake2b(digest_size=16)
    for p in np.unique(number).tolist():
        members = members_of(batch, chosen, np.flatnonzero(number == p))
        digest.update(members.marks().tobytes() + members.outcome.tobytes() + members.groups.tobytes())
        sets = sorted({tools[t][0] for t in members.at.tolist()}, key=sorted)
        pools.append(_fitted(kind, members, tuple(sets), p >= 0))
    return FittedCritic(kind, code_hash(), digest.hexdigest(), tuple(pools))


def _fitted(kind: str, members: Members, sets: tuple[frozenset[str], ...], enough: bool) -> FittedPool:
    fold = folds_of(members.names, FOLDS)
    alone, tools = drift.tools_left_out(members)
    of = fold[members.groups]
    marks = members.marks()
    order = np.argsort(marks, kind="stable")
    marks, mark_folds = marks[order], of[order]
    folds = dict(zip(members.names, fold.tolist(), strict=True))
    if not enough:
        note = _too_small(len(members.at)).message
        return FittedPool(sets, tools, None, folds, marks, mark_folds, np.zeros((0, len(drift.FIGURES))), note)
    without = (ALL, *np.unique(fold).tolist())
    model, told = LEARN[kind](members.stories, members.groups, members.names, members.outcome, without)
    answer = model.say(told, members.groups, members.outcome, of)
    figures = drift.measured(members, told, answer.of_model, alone)
    note = read_by(kind, members, answer.columns).message
    return FittedPool(sets, tools, model, folds, marks, mark_folds, figures, note)


def _too_small(n: int) -> Note:
    return Note(
        "critic-too-small",
        f"{n} trajectories are of pools with fewer than {LEAST_GROUPS} groups that have scored siblings: nothing can "
        "be learnt for them, their forecast is 0",
    )


@cache
def code_hash() -> str:
    """A hash of the sources of all critics."""
    folder = Path(__file__).parent
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
