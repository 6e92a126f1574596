"""Rewards: appended, never changed; the newest of the most trusted source is the outcome that lists show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, update

from trajcredit.model import EPOCH, LARGEST_NUMBER, MICROSECOND, REWARD_SOURCES, Reward, instant
from trajcredit.store.border import clean, now
from trajcredit.store.bulk import among, insert_many
from trajcredit.store.filters import Filters, conditions
from trajcredit.store.ids import Known, known
from trajcredit.store.outcomes import outcomes
from trajcredit.store.packed import columns_of_keys
from trajcredit.store.runs import mark_stale
from trajcredit.store.tables import rewards, trajectories

__all__ = [
    "Appended",
    "Given",
    "append",
    "insert",
    "is_named",
    "names",
    "rewards_of_keys",
    "rewards_where",
    "watermark",
]


@dataclass(frozen=True, slots=True)
class Given:
    """A reward that came after its trajectory. `trajectory`: our id, or `ext:` and the client's."""

    trajectory: str
    reward: Reward


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of one reward; `duplicate`: the newest of its kind says the same already."""

    status: Literal["created", "duplicate", "rejected"]
    reason: str | None = None


def append(conn: Connection, project: str, given: Sequence[Given]) -> list[Appended]:
    """Add late rewards, one answer each, in order; runs that scored their trajectories are stale from then on.

    One without a time is newer than all before it: it gets the time of its arrival.
    """
    given = [Given(one.trajectory, _cleaned(one.reward)) for one in given]
    found = known(conn, project, list({one.trajectory for one in given}))
    keys = sorted({one.key for one in found.values()})
    have: dict[int, list[Reward]] = {key: [] for key in keys} | rewards_of_keys(conn, keys)
    received = now()
    answers: list[Appended] = []
    new: list[tuple[int, Reward]] = []
    for one in given:
        trajectory = found.get(one.trajectory)
        problem = _wrong(one, trajectory)
        if trajectory is None or problem is not None:
            answers.append(Appended("rejected", problem))
        elif _says_nothing_new(one.reward, have[trajectory.key]):
            answers.append(Appended("duplicate"))
        else:
            reward = one.reward if one.reward.at is not None else _dated(one.reward, received, have[trajectory.key])
            have[trajectory.key].append(reward)
            new.append((trajectory.key, reward))
            answers.append(Appended("created"))
    insert(conn, project, new, received)
    changed = sorted({key for key, _ in new})
    _refresh(conn, changed, [have[key] for key in changed])
    mark_stale(conn, changed, "a reward came later")
    return answers


def insert(conn: Connection, project: str, new: Sequence[tuple[int, Reward]], received: str) -> None:
    """Add rewards of clean texts, each with the key of its trajectory."""
    columns = ("project", "trajectory", "span", "value", "source", "name", "at", "received")
    rows = [(project, key, r.span, float(r.value), r.source, r.name, r.at, received) for key, r in new]
    insert_many(conn, rewards, columns, rows)


def rewards_of_keys(conn: Connection, keys: Sequence[int]) -> dict[int, list[Reward]]:
    """The rewards of some trajectories by their key, in the order they came; none, no entry."""
    return _by_key(conn, _REWARDS.where(among(conn, rewards.c.trajectory, keys)))


def rewards_where(conn: Connection, matching: ColumnElement[bool]) -> dict[int, list[Reward]]:
    """The same of all trajectories that match."""
    joined = _REWARDS.join(trajectories, trajectories.c.key == rewards.c.trajectory)
    return _by_key(conn, joined.where(matching))


def is_named(conn: Connection, project: str, filters: Filters, name: str) -> bool:
    """Whether any trajectory of the filter has a reward of that name."""
    return bool(conn.scalar(select(_named(conn, project, filters).where(rewards.c.name == name).exists())))


def names(conn: Connection, project: str, filters: Filters, most: int) -> list[str]:
    """The names that rewards of the trajectories of the filter have, in order, at most so many."""
    some = _named(conn, project, filters).where(rewards.c.name.is_not(None))
    return list(conn.scalars(some.distinct().order_by(rewards.c.name).limit(most)))


def watermark(conn: Connection, project: str) -> int:
    """The number of the project's newest reward, 0 where there is none: later ones have greater numbers."""
    found: int | None = conn.scalar(select(func.max(rewards.c.id)).where(rewards.c.project == project))
    return found or 0


def _named(conn: Connection, project: str, filters: Filters) -> Select[str]:
    joined = select(rewards.c.name).join(trajectories, trajectories.c.key == rewards.c.trajectory)
    return joined.where(rewards.c.project == project, conditions(conn, project, filters))


def _wrong(given: Given, trajectory: Known | None) -> str | None:
    reward = given.reward
    if trajectory is None:
        return f"no trajectory {given.trajectory!r}"
    if reward.source not in REWARD_SOURCES:
        return f"no reward source {reward.source!r}; known: {', '.join(REWARD_SOURCES)}"
    if reward.span is not None and not 0 <= reward.span < trajectory.n_spans:
        return f"it names span {reward.span}; the trajectory has {trajectory.n_spans}"
    return None if abs(reward.value) <= LARGEST_NUMBER else f"{reward.value} is beyond {LARGEST_NUMBER:.0f}"


def _says_nothing_new(reward: Reward, have: Sequence[Reward]) -> bool:
    """Whether it is there already: sent again after a lost answer."""
    if reward.at is not None:
        return reward in have
    same = [r for r in have if (r.source, r.span, r.name) == (reward.source, reward.span, reward.name)]
    return bool(same) and sorted(same, key=lambda r: instant(r.at))[-1].value == reward.value


def _dated(reward: Reward, received: str, have: Sequence[Reward]) -> Reward:
    """The reward with the time of its arrival, or a later one: what it is newer than may be of the future."""
    newest = max((instant(one.at) for one in have), default=0)
    if newest < instant(received):
        return replace(reward, at=received)
    return replace(reward, at=(EPOCH + (newest + 1) * MICROSECOND).isoformat().replace("+00:00", "Z"))


def _refresh(conn: Connection, keys: Sequence[int], given: Sequence[Sequence[Reward]]) -> None:
    """Work the outcome out again."""
    if not keys:
        return
    found = zip(keys, outcomes(given, columns_of_keys(conn, keys)), strict=True)
    rows = [{"of": key, "outcome": one.value, "outcome_source": one.source} for key, one in found]
    conn.execute(update(trajectories).where(trajectories.c.key == bindparam("of")), rows)


def _cleaned(reward: Reward) -> Reward:
    name, at = (None if text is None else clean(text) for text in (reward.name, reward.at))
    return replace(reward, name=name, at=at)


def _by_key(conn: Connection, query: Select[*tuple[Any, ...]]) -> dict[int, list[Reward]]:
    found: dict[int, list[Reward]] = {}
    for key, *reward in conn.execute(query.order_by(rewards.c.trajectory, rewards.c.id)).all():
        found.setdefault(key, []).append(Reward(*reward))
    return found


_REWARDS = select(rewards.c.trajectory, rewards.c.value, rewards.c.source, rewards.c.span, rewards.c.name, rewards.c.at)
