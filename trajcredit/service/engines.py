"""The engines, as the doors ask for them."""

from __future__ import annotations

from trajcredit.engines.base import ENGINES, Engine
from trajcredit.engines.opening import engine_of

__all__ = ["ENGINES", "Engine", "engine_of"]
