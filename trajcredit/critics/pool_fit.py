"""What a critic of any kind says of one pool."""

from __future__ import annotations

from dataclasses import dataclass

from trajcredit.arrays import F64

__all__ = ["PoolFit"]


@dataclass(frozen=True, slots=True, eq=False)
class PoolFit:
    """What the critic says of one pool of D decisions.

    advantage  f64[D]  cross-fitted forecast of each choice's advantage
    columns            features used
    """

    advantage: F64
    columns: int
