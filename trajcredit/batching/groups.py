"""Which trajectories are rollouts of one task (design section 1, "group")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from trajcredit.batching.heads import Head
from trajcredit.errors import InputError

__all__ = ["GROUP_FIELDS", "Key", "check_fields", "fields_of", "group_key", "group_names"]

Key: TypeAlias = tuple[object, ...]

GROUP_FIELDS = ("project", "dataset", "task", "role", "group", "trial", "step", "policy_version", "answer")
"""What `--group-by` may name; several are joined by +."""


def group_key(head: Head, by: str | None = None) -> Key:
    """Equal for rollouts of one task by one role in one sampling round.

    The log's own group id wins; it is still split by project, role and training step, since logs reuse it there.
    Without group and task a trajectory is a group of its own, and so it is where a field asked for is absent.
    """
    t = head
    if by is not None:
        values = [getattr(t, name) for name in fields_of(by)]
        return ("alone", t.id) if None in values else ("by", *values)
    if t.group is not None:
        return ("group", t.project, t.group, t.role, t.step)
    if t.task is not None:
        return ("task", t.project, t.dataset, t.task, t.role, t.step)
    return ("alone", t.id)


def fields_of(by: str) -> list[str]:
    """The fields that `--group-by` names; InputError names an unknown one."""
    names = by.split("+")
    unknown = [name for name in names if name not in GROUP_FIELDS]
    if unknown:
        raise InputError(f"cannot group by {', '.join(unknown)}; known: {', '.join(GROUP_FIELDS)}")
    return names


def check_fields(heads: Sequence[Head], by: str | None) -> None:
    """InputError where no trajectory has a field asked for: every one would be a group of its own."""
    for name in fields_of(by) if by is not None else ():
        if heads and all(getattr(head, name) is None for head in heads):
            raise InputError(f"cannot group by {name}: no trajectory has one")


def group_names(keys: Sequence[Key]) -> dict[Key, str]:
    """A readable name for each distinct key, in order of first appearance; no two are equal, whatever the order.

    The log's group or its task; what else the key holds only where that name stands for several groups.
    """
    distinct = dict.fromkeys(keys)
    short = {key: _name(_short(key)) for key in distinct}
    counts = Counter(short.values())
    long = {key: short[key] if counts[short[key]] == 1 else _name(key[1:]) for key in distinct}
    counts = Counter(long.values())
    return {key: name if counts[name] == 1 else _name(key) for key, name in long.items()}


def _short(key: Key) -> Key:
    return {"group": key[2:3], "task": key[2:4]}.get(str(key[0]), key[1:])


def _name(values: Key) -> str:
    return "/".join(str(value) for value in values if value is not None)
