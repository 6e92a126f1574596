"""Columns with what people say of edges in force: the same step as `graph.overrides`, on many trajectories at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trajcredit.batching.columns import Columns
from trajcredit.graph.overrides import KIND, Override, check_ends, rewired

__all__ = ["columns_with_overrides"]


def columns_with_overrides(columns: Columns, given: Mapping[int, Sequence[Override]]) -> Columns:
    """The columns of the same trajectories, where those numbered in `given` have its overrides in force.

    Equal to the columns of their graphs `with_overrides`. GraphError where an override points nowhere or not forward.
    """
    moved: list[Override] = []
    for t, overrides in sorted(given.items()):
        first, last = columns.span_offsets[t : t + 2].tolist()
        for one in overrides:
            check_ends(one.parent, one.child, last - first)
            moved.append(replace(one, parent=first + one.parent, child=first + one.child))
    if not moved:
        return columns
    new = rewired(columns.parent_offsets, columns.parents, moved)
    return replace(
        columns,
        parent_offsets=new.parent_offsets,
        parents=new.parents,
        parent_weight=new.column(columns.parent_weight, [one.weight for one in new.added]),
        parent_kind=new.column(columns.parent_kind, [KIND] * len(new.added)),
    )
