"""The numbers that real trainers produced, where the shared folder lies beside the repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

__all__ = ["TOLERANCE", "golden", "rows"]

GOLDEN = Path(__file__).parents[2] / "shared" / "trainers_golden.json"
TOLERANCE = 2e-6
"""The file holds float32 rounded to six decimals."""


def golden() -> dict[str, Any]:
    """The file; skips where it is not there."""
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN} is not there")
    return _read()


@cache
def _read() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(GOLDEN.read_text())
    return loaded


def rows(*names: str) -> tuple[Any, ...]:
    """Inputs as padded arrays: masks i64[B, L], all else f32[B, L]."""
    inputs = golden()["inputs"]
    return tuple(np.array(inputs[name], dtype=np.int64 if "mask" in name else np.float32) for name in names)
