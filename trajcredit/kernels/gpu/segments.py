"""Segments of a flat column in torch: who owns what, scans of logarithmic depth, reductions in a fixed order.

A scan here joins every element with the one 1, 2, 4, ... places before it in its segment (Hillis and Steele 1986): as
many steps as the longest segment has binary digits, whatever the number of segments. It adds in another order than a
loop over time, so that results differ from the numba kernels in the last bits. Each function that needs the length of
the longest segment reads one number from the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

__all__ = ["Number", "changes", "column", "linear", "owners", "places", "prefixes", "spread_out", "totals"]

Number: TypeAlias = float | Tensor
"""A parameter: a number, or f64[S, 1] to take S settings in one pass, which puts S before the shape of the result."""
Parts: TypeAlias = tuple[Tensor, ...]


def owners(offsets: Tensor, size: int) -> Tensor:
    """i64[N]: the trajectory of each of `size` spans, from offsets i64[T+1]."""
    trajectories = torch.arange(len(offsets) - 1, device=offsets.device)
    return torch.repeat_interleave(trajectories, offsets.diff(), output_size=size)


def changes(*labels: Tensor) -> Tensor:
    """bool[n]: elements at which any of the labels differs from that of the element before; true at the first."""
    found = torch.ones(len(labels[0]), dtype=torch.bool, device=labels[0].device)
    if len(found) > 1:
        found[1:] = torch.stack([label[1:] != label[:-1] for label in labels]).any(0)
    return found


def places(starts: Tensor) -> Tensor:
    """i64[n]: the place of each element in its segment, from 0; segments begin where `starts` bool[n] holds."""
    position = torch.arange(len(starts), device=starts.device)
    if not len(starts):
        return position
    return position - torch.where(starts, position, 0).cummax(0).values


def prefixes(join: Callable[[Parts, Parts], Parts], parts: Parts, place: Tensor) -> Parts:
    """What each element and all before it in its segment come to.

    join     associative: (earlier, later) -> both together
    parts    of shape [..., n], each
    place    i64[n]  what `places` returns
    returns  as parts
    """
    longest = int(place.max()) + 1 if len(place) else 0
    step = 1
    while step < longest:
        reaches = place >= step  # the element so far before is of the same segment
        both = join(tuple(part.roll(step, -1) for part in parts), parts)
        parts = tuple(torch.where(reaches, new, old) for new, old in zip(both, parts, strict=True))
        step *= 2
    return parts


def linear(factor: Tensor, term: Tensor, starts: Tensor, backward: bool = False) -> Tensor:
    """The recurrence x_k = term_k + factor_k x_{k-1} in every segment, x = term at its start.

    factor, term  f64[..., n]
    starts        bool[n]  where segments begin, in the order of the columns
    backward      x_{k+1} instead of x_{k-1}: from the end of every segment
    returns       f64[..., n]
    """
    factor, term = torch.broadcast_tensors(factor, term)  # type: ignore[no-untyped-call]
    if not backward:
        return prefixes(_composed, (factor, term), places(starts))[1]
    ends = starts.roll(-1).flip(0)  # the first start wraps around to the last end
    return prefixes(_composed, (factor.flip(-1), term.flip(-1)), places(ends))[1].flip(-1)


def _composed(earlier: Parts, later: Parts) -> Parts:
    """Two maps x -> term + factor x, one after the other."""
    return earlier[0] * later[0], later[1] + later[0] * earlier[1]


def totals(values: Tensor, lengths: Tensor) -> Tensor:
    """The sum of each of G segments that lie end to end, in a fixed order on every device, unlike atomic additions.

    values   f64[n]
    lengths  i64[G]  >= 0, n together
    returns  f64[G]  0 of none
    """
    if not len(lengths) or not len(values):
        return torch.zeros(len(lengths), dtype=values.dtype, device=values.device)
    return torch.segment_reduce(values, "sum", lengths=lengths, unsafe=True)


def column(number: Number, like: Tensor) -> Tensor:
    """A parameter as a float64 tensor beside the column `like`."""
    return torch.as_tensor(number, dtype=torch.float64, device=like.device)


def spread_out(values: Tensor, at: Tensor, size: int, fill: float) -> Tensor:
    """[..., size]: values [..., k] written to positions i64[k], `fill` elsewhere."""
    out = torch.full((*values.shape[:-1], size), fill, dtype=values.dtype, device=values.device)
    out[..., at] = values
    return out
