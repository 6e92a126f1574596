"""Torch twins of `kernels.groups`: statistics of a group, each member counted once, unscored ones (NaN) left out.

Members are sorted by group, in upload order within it, and reduced segment by segment: in a fixed order on any device.
How many groups there are is read from the device once a call.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trajcredit.kernels.gpu.segments import Parts, changes, places, prefixes, totals

__all__ = ["centre", "leave_one_out", "members", "scaled", "sibling_spread", "spread"]


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Members in the order of their groups.

    order    i64[T]   which member is at each place
    group    i64[T]   of the member there
    scored   bool[T]  whether it has a number
    lengths  i64[G]   places of each group
    """

    order: Tensor
    group: Tensor
    scored: Tensor
    lengths: Tensor

    def sums(self, numbers: Tensor) -> Tensor:
        """f64[G] of numbers f64[T] in sorted order; those of unscored members count as 0."""
        return totals(torch.where(self.scored, numbers, 0.0), self.lengths)

    def count(self) -> Tensor:
        """i64[G]: scored members."""
        return torch.bincount(self.group[self.scored], minlength=len(self.lengths))

    def back(self, numbers: Tensor) -> Tensor:
        """Numbers in sorted order -> in the order of the members."""
        out = torch.empty_like(numbers)
        out[self.order] = numbers
        return out


def _sorted(numbers: Tensor, group: Tensor) -> _Sorted:
    order = torch.argsort(group, stable=True)
    return _Sorted(order, group[order], ~numbers[order].isnan(), torch.bincount(group))


def members(outcome: Tensor, group: Tensor) -> Tensor:
    """i64[T]: how many scored members the group of each trajectory has; outcome f64[T], group i64[T]."""
    count = torch.bincount(group[~outcome.isnan()], minlength=int(group.max()) + 1 if len(group) else 0)
    return count[group]


def centre(outcome: Tensor, group: Tensor) -> Tensor:
    """Outcome minus the mean of its group.

    outcome  f64[T]  NaN = unscored
    group    i64[T]  labels 0..G-1, in any order
    returns  f64[T]  (R - R_0) - mean(R - R_0), R_0 the group's first; all exactly 0 if and only if the group's rewards
                     are equal; NaN where unscored
    """
    by = _sorted(outcome, group)
    own, place = outcome[by.order], torch.arange(len(outcome), device=outcome.device)
    nowhere = torch.full_like(by.lengths, max(len(outcome) - 1, 0))
    at = nowhere.scatter_reduce(0, by.group[by.scored], place[by.scored], "amin")
    apart = own - own[at][by.group] if len(own) else own
    mean = by.sums(apart) / by.count()
    return by.back(torch.where(by.scored, apart - mean[by.group], torch.nan))


def leave_one_out(centred: Tensor, group: Tensor) -> Tensor:
    """Outcome minus the mean of the other members.

    centred  f64[T]  what `centre` returns
    group    i64[T]  labels 0..G-1, in any order
    returns  f64[T]  n / (n - 1) (R_i - mean); 0 in a group of one; NaN where unscored

    Kool, van Hoof and Welling 2019; Ahmadian et al. 2024 (arXiv 2402.14740), RLOO.
    """
    n = members(centred, group)
    against = torch.where(n > 1, centred * n / (n - 1).clamp(min=1), 0.0)
    return torch.where(centred.isnan(), torch.nan, against)


def spread(centred: Tensor, group: Tensor, ddof: int) -> Tensor:
    """Standard deviation of each trajectory's group; arguments as the numba kernel of the name.

    returns  f64[T]  sqrt(sum d^2 / (n - ddof)), squares taken of d / max|d|; exactly 0 where all rewards are equal or
                     n <= ddof; NaN where unscored
    """
    by = _sorted(centred, group)
    own = torch.where(by.scored, centred[by.order], 0.0)
    largest = torch.zeros(len(by.lengths), dtype=centred.dtype, device=centred.device)
    largest = largest.scatter_reduce(0, by.group, own.abs(), "amax")
    unit = torch.where(largest > 0.0, largest, 1.0)
    squares, count = by.sums((own / unit[by.group]) ** 2), by.count()
    deviation = torch.where(count > ddof, largest * torch.sqrt(squares / (count - ddof).clamp(min=1)), 0.0)
    return by.back(torch.where(by.scored, deviation[by.group], torch.nan))


def sibling_spread(centred: Tensor, group: Tensor, ddof: int) -> Tensor:
    """Standard deviation of the other members; arguments as the numba kernel of the name.

    returns  f64[T]  exactly 0 where the siblings' rewards are equal or fewer than ddof + 1; NaN where unscored

    NeMo-RL 7ea279abf, `utils.py:104`. Two scans of (count, mean, squares), from both ends, joined by Chan, Golub and
    LeVeque 1979, where the numba kernel adds one member at a time.
    """
    by = _sorted(centred, group)
    own = torch.where(by.scored, centred[by.order], 0.0)
    parts = (by.scored.to(own.dtype), own, torch.zeros_like(own))
    starts = changes(by.group)
    ends = starts.roll(-1)
    before = _others(prefixes(_chan, parts, places(starts)), starts)
    flipped = prefixes(_chan, tuple(part.flip(0) for part in parts), places(ends.flip(0)))
    after = tuple(part.flip(0) for part in _others(flipped, ends.flip(0)))
    count, _, square = _chan(before, after)
    deviation = torch.where(count > ddof, torch.sqrt(square / (count - ddof).clamp(min=1.0)), 0.0)
    return by.back(torch.where(by.scored, deviation, torch.nan))


def _others(inclusive: Parts, starts: Tensor) -> Parts:
    """What came before each element, it left out: nothing at the start of a segment."""
    return tuple(torch.where(starts, 0.0, part.roll(1)) for part in inclusive)


def _chan(left: Parts, right: Parts) -> Parts:
    """Count, mean and sum of squared differences of two sets together; one of none changes nothing."""
    (n, m, s), (k, o, q) = left, right
    both = n + k
    share = k / both.clamp(min=1.0)
    gap = torch.where((n > 0.0) & (k > 0.0), o - m, 0.0)
    mean = torch.where(n > 0.0, m + gap * share, o)
    return both, mean, s + q + gap * gap * n * share


def scaled(credit: Tensor, deviation: Tensor, eps: float) -> Tensor:
    """f64[T]: credit / (deviation + eps); credit itself where the deviation is 0; NaN where unscored."""
    return torch.where(deviation > 0.0, credit / (deviation + eps), credit)
