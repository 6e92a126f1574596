"""What advice says of attributors that were measured on the oracle benchmark."""

from __future__ import annotations

from trajcredit.service.grading_measured import COLUMNS, MEASURED

__all__ = ["efficiency", "figures"]

SIZES = (64, 256, 1024)
"""Trajectories an update that efficiency was measured at."""


def _measured_as(name: str) -> str:
    """The name under which an attributor was measured."""
    return _nearest_size(name) if name not in MEASURED and name.startswith("doubly_robust:update_size") else name


def _nearest_size(name: str) -> str:
    size = int(name.rpartition("=")[2]) if "=" in name else 256
    nearest = min(SIZES, key=lambda known: abs(known - size))
    return "doubly_robust" if nearest == 256 else f"doubly_robust:update_size={nearest}"


def _row(name: str) -> dict[str, float]:
    return dict(zip(COLUMNS, MEASURED[_measured_as(name)], strict=True)) if _measured_as(name) in MEASURED else {}


def efficiency(name: str, update_size: int) -> float:
    """How many trajectories of flat credit one is worth, at the nearest size of an update that was measured; else 0."""
    nearest = min(SIZES, key=lambda known: abs(known - update_size))
    return _row(name).get(f"efficiency {nearest}", 0.0)


def figures(name: str, update_size: int) -> str | None:
    """What it measured, in a sentence."""
    row, flat = _row(name), _row("grpo")
    if not row or not flat:
        return None
    nearest = min(SIZES, key=lambda known: abs(known - update_size))
    return (
        f"oracle benchmark, mean of families (flat grpo in brackets): pearson {row['pearson']:.2f} "
        f"({flat['pearson']:.2f}), blame@1 {row['blame@1']:.2f} ({flat['blame@1']:.2f}), efficiency at {nearest} "
        f"trajectories an update {row[f'efficiency {nearest}']:.2f} (1)"
    )
