"""Which states of the policy sampled a trajectory, as numbers that a lag can be counted from."""

from __future__ import annotations

from math import isfinite

from trajcredit.model import Trajectory

__all__ = ["version_number", "versions_of"]


def versions_of(trajectory: Trajectory) -> list[str]:
    """Every policy version that sampled some of it, as the log names them: its own and those of its turns."""
    named = [trajectory.policy_version, *(turn.policy_version for turn in trajectory.turns)]
    return list(dict.fromkeys(version for version in named if version is not None))


def version_number(version: str) -> float | None:
    """The number that a version is ("120", "0.5"); None where it is none ("step-120")."""
    try:
        number = float(version)
    except ValueError:
        return None
    return number if isfinite(number) else None
