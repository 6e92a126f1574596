"""How far two people agree on what they both labelled, beyond what chance would give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from typing import TypeAlias

import numpy as np

from trajcredit.kernels import agreement

__all__ = ["Kappa", "Said", "cohen", "kappa"]

Said: TypeAlias = tuple[Hashable, str, str]
"""What was labelled, by whom, and the verdict."""


MOST_PEOPLE = 100


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two people; null where both said the same of everything, which leaves chance no room."""

    value: float | None
    n: int
    """Spans that both labelled."""
    labellers: tuple[str, str]


def kappa(said: Iterable[Said]) -> Kappa | None:
    """Of the two people who labelled most spans in common (of equal ones the first by name); null without any.

    Looked for among the MOST_PEOPLE who labelled most, of equal ones the first by name: pairs of all would be without
    bound, since whoever may label may name anybody as the labeller.
    """
    by: dict[str, dict[Hashable, str]] = defaultdict(dict)
    for span, labeller, verdict in said:
        by[labeller][span] = verdict
    people = sorted(sorted(by, key=lambda name: (-len(by[name]), name))[:MOST_PEOPLE])
    common = {(a, b): len(by[a].keys() & by[b].keys()) for a, b in combinations(people, 2)}
    pair = min(common, key=lambda pair: (-common[pair], pair), default=None)
    if pair is None or not common[pair]:
        return None
    a, b = (by[name] for name in pair)
    return Kappa(cohen([(a[span], b[span]) for span in a if span in b]), common[pair], pair)


def cohen(pairs: Sequence[tuple[str, str]]) -> float | None:
    """(p_o - p_e) / (1 - p_e): agreement seen and by chance (Cohen 1960, eq. 1); null where p_e is 1."""
    number = {verdict: k for k, verdict in enumerate(sorted({verdict for pair in pairs for verdict in pair}))}
    confusion = np.zeros((len(number), len(number)))
    for a, b in pairs:
        confusion[number[a], number[b]] += 1
    found = float(agreement.cohen(confusion, agreement.nominal(len(number))))
    return None if isnan(found) else found
