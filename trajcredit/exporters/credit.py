"""What one attributor said about one batch: the noun every exporter takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.model import Note

__all__ = ["Credit"]


@dataclass(frozen=True, slots=True, eq=False)
class Credit:
    """One number a span of `batch`, and which attributor with which parameters it came from.

    credit     f64[N]  in reward units, before any division by a spread; NaN where nothing was scored
    advantage  f64[N]  what multiplies the log-prob gradient; NaN where nothing was scored
    """

    batch: Batch
    attributor: str
    parameters: Mapping[str, Any]
    credit: F64
    advantage: F64
    notes: tuple[Note, ...] = ()
    run_id: str | None = None
    """The stored run it comes from; null where nothing is stored."""
