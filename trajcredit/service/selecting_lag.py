"""How many policy versions behind a rollout was sampled, and which are too far behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajcredit.model import Trajectory
from trajcredit.service.selecting_terms import Terms
from trajcredit.tokens.versions import version_number, versions_of

__all__ = ["current_version", "withheld"]


def current_version(trajectories: Sequence[Trajectory], terms: Terms) -> float | None:
    """What lags are counted from: the version asked for, else the newest that is a number; None without max_lag."""
    if terms.max_lag is None or terms.current_version is not None:
        return terms.current_version
    numbers = [version_number(version) for trajectory in trajectories for version in versions_of(trajectory)]
    return max((number for number in numbers if number is not None), default=None)


def withheld(
    trajectories: Sequence[Trajectory], current: float | None, max_lag: float | None
) -> Iterator[tuple[int, str, str]]:
    """(position, code, reason) of rollouts with lag = current - oldest version > max_lag, or whose lag is unknown."""
    if max_lag is None:
        return
    for t, trajectory in enumerate(trajectories):
        versions = versions_of(trajectory)
        numbers = [version_number(version) for version in versions]
        known = [number for number in numbers if number is not None]
        if not versions:
            yield t, "no-version", "the log names no policy version"
        elif len(known) < len(numbers):
            odd = versions[numbers.index(None)]
            yield t, "odd-version", f"policy version {odd[:80]!r} is no number: its lag is unknown"
        elif current is not None and current - min(known) > max_lag:
            yield t, "stale", f"{current - min(known):g} versions behind {current:g}"
