"""Numbers on the command line."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click

__all__ = ["FINITE"]


class _Finite(click.ParamType[float]):
    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; nan and infinities compare with nothing, or with all alike."""
        found: float = click.FLOAT.convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return found


FINITE = _Finite()
"""A float that is neither nan nor infinite."""
