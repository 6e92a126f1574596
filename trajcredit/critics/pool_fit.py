"""What a critic of any kind says of one pool."""

from __future__ import annotations

from dataclasses import dataclass

from trajcredit.arrays import F64
from trajcredit.model import Note

__all__ = ["PoolFit"]


@dataclass(frozen=True, slots=True, eq=False)
class PoolFit:
    """What the critic says of one pool of D decisions.

    advantage  f64[D]  cross-fitted forecast of each choice's advantage
    columns            features used
    before     f64[D]  forecast of the whole outcome R before the choice; None where the critic has none of its own
    after      f64[D]  the same after it, before its result; NaN, as in `before`, where nothing is known
    notes              what it says of itself beside
    by_siblings f64[D] the part of `advantage` that outcomes of siblings told; None where none did
    """

    advantage: F64
    columns: int
    before: F64 | None = None
    after: F64 | None = None
    notes: tuple[Note, ...] = ()
    by_siblings: F64 | None = None

    @property
    def of_model(self) -> F64:
        """The advantages f64[D] that the model alone forecasts."""
        return self.advantage if self.by_siblings is None else self.advantage - self.by_siblings
