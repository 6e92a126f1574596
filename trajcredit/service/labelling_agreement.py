"""How far two people agree on what they both labelled, beyond what chance would give."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

__all__ = ["Kappa", "Said", "cohen", "kappa"]

Said: TypeAlias = tuple[Hashable, str, str]
"""What was labelled, by whom, and the verdict."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two people; null where both said the same of everything, which leaves chance no room."""

    value: float | None
    n: int
    """Spans that both labelled."""
    labellers: tuple[str, str]


def kappa(said: Iterable[Said]) -> Kappa | None:
    """Of the two people who labelled most spans in common (of equal ones the first by name); null without any."""
    spans: dict[Hashable, dict[str, str]] = defaultdict(dict)
    for span, labeller, verdict in said:
        spans[span][labeller] = verdict
    common: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for verdicts in spans.values():
        for a, b in combinations(sorted(verdicts), 2):
            common[a, b].append((verdicts[a], verdicts[b]))
    if not common:
        return None
    pair = min(common, key=lambda pair: (-len(common[pair]), pair))
    return Kappa(cohen(common[pair]), len(common[pair]), pair)


def cohen(pairs: Sequence[tuple[str, str]]) -> float | None:
    """(p_o - p_e) / (1 - p_e): agreement seen and by chance (Cohen 1960, eq. 1); null where p_e is 1."""
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    seen = sum(a == b for a, b in pairs) * n  # in n-ths of n, so that whole numbers are compared
    chance = sum(first[verdict] * second[verdict] for verdict in first)
    return None if chance == n * n else (seen - chance) / (n * n - chance)
