"""Which trajectories are rollouts of one task (design section 1, "group")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from trajcredit.batching.heads import Head
from trajcredit.errors import InputError

__all__ = ["GROUP_FIELDS", "group_key", "group_names"]

Key: TypeAlias = tuple[object, ...]

GROUP_FIELDS = ("project", "dataset", "task", "role", "group", "trial", "step", "policy_version", "answer")
"""What `--group-by` may name; several are joined by +."""


def group_key(head: Head, by: str | None = None) -> Key:
    """Equal for rollouts of one task by one role in one sampling round.

    The log's own group id wins; it is still split by project, role and training step, since logs reuse it there.
    Without group and task a trajectory is a group of its own.
    """
    t = head
    if by is not None:
        names = by.split("+")
        unknown = [name for name in names if name not in GROUP_FIELDS]
        if unknown:
            raise InputError(f"cannot group by {', '.join(unknown)}; known: {', '.join(GROUP_FIELDS)}")
        values = [getattr(t, name) for name in names]
        return ("alone", t.id) if None in values else ("by", *values)
    if t.group is not None:
        return ("group", t.project, t.group, t.role, t.step)
    if t.task is not None:
        return ("task", t.project, t.dataset, t.task, t.role, t.step)
    return ("alone", t.id)


def group_names(keys: Sequence[Key]) -> dict[Key, str]:
    """A readable name for each distinct key, in order of first appearance; no two are equal."""
    names: dict[Key, str] = {}
    taken: set[str] = set()
    for key in keys:
        if key in names:
            continue
        kind, *values = key
        # project and role have columns of their own: shown only where two names would be equal without them
        short = values if kind == "by" else {"group": values[1:2], "task": values[1:3]}.get(str(kind), values)
        name = "/".join(str(value) for value in short if value is not None)
        if name in taken:
            name = "/".join(str(value) for value in values if value is not None)
        while name in taken:
            name += "'"
        taken.add(name)
        names[key] = name
    return names
