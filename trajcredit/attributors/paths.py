"""The best path of dependencies from a span to a sink, step by step: what `kernels.best_path` measures the gain of."""

from __future__ import annotations

from trajcredit.arrays import BOOL, F64, I64

__all__ = ["best_route"]


def best_route(
    span: int,
    end: int,
    sinks: BOOL,
    action_mask: BOOL,
    parent_offsets: I64,
    parents: I64,
    gain: F64,
    gamma: float,
) -> tuple[int, ...]:
    """The spans from `span` on to the sink its credit comes from, both included; empty where no path leads on.

    end  the first span that belongs to another trajectory; the rest as in `kernels.best_path`, whose choice this is:
         the largest product of gains and discounts, of equal ones the fewest steps to actions, then the latest child
    """
    best: dict[int, tuple[float, int]] = {}
    onward: dict[int, int] = {}
    for i in range(end - 1, span - 1, -1):
        if sinks[i] and best.get(i, (0.0, 0))[0] <= 1.0:
            best[i] = (1.0, 0)
            onward.pop(i, None)
        if i not in best:
            continue
        reach, hops = best[i]
        for e in range(int(parent_offsets[i]), int(parent_offsets[i + 1])):
            p = int(parents[e])
            if p < span or gain[e] == 0.0:
                continue
            acts = bool(action_mask[p])
            found = (reach * float(gain[e]) * (gamma if acts else 1.0), hops + acts)
            known = best.get(p)
            if known is None or (found[0], -found[1]) > (known[0], -known[1]):
                best[p], onward[p] = found, i
    if span not in best:
        return ()
    route = [span]
    while route[-1] in onward:
        route.append(onward[route[-1]])
    return tuple(route)
