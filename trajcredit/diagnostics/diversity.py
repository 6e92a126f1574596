"""How unlike the rollouts of a group are, by the calls they make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from trajcredit.diagnostics.table import Table

__all__ = ["Diversity", "group_diversity"]

PAIRS = 16
"""Rollouts of a group whose pairs are compared, the first so many: pairs grow with their square."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """Over groups of two or more rollouts that make calls; null where there is none.

    distinct   share of a group's rollouts with a sequence of calls (tool and arguments) that none before it had; mean
    overlap    Jaccard overlap of the calls of two siblings, 0..1; mean over pairs, then over groups
    identical  groups whose rollouts all make the same calls in the same order
    """

    groups: int
    distinct: float | None
    overlap: float | None
    identical: int


def group_diversity(table: Table) -> Diversity:
    """Scored or not: how alike siblings are says nothing of rewards."""
    groups = [own for own in table.all_groups() if len(own) > 1 and any(table.calls_made[t] for t in own.tolist())]
    if not groups:
        return Diversity(0, None, None, 0)
    sequences = [[table.calls_made[t] for t in own.tolist()] for own in groups]
    distinct = [len(set(own)) / len(own) for own in sequences]
    overlap = [float(np.mean([_jaccard(set(a), set(b)) for a, b in combinations(own[:PAIRS], 2)])) for own in sequences]
    identical = sum(len(set(own)) == 1 for own in sequences)
    return Diversity(len(groups), float(np.mean(distinct)), float(np.mean(overlap)), identical)


def _jaccard(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0
