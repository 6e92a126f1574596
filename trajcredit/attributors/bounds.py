"""Checks of parameters: each names the attributor, the field, what was found and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trajcredit.errors import InputError

__all__ = ["choice", "choices", "within"]


def within(attributor: str, name: str, value: Any, low: float, high: float) -> None:
    """Raise InputError unless `value` is a number in [low, high]."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and low <= value <= high):
        raise InputError(f"{attributor}: {name}={value!r} is not a number in [{low:g}, {high:g}]")


def choice(attributor: str, name: str, value: Any, known: Iterable[object]) -> None:
    """Raise InputError unless `value` is one of the known ones."""
    known = tuple(known)
    if value not in known:
        raise InputError(f"{attributor}: {name}={value!r} is not one of {', '.join(map(str, known))}")


def choices(attributor: str, name: str, values: Iterable[object], known: Iterable[object]) -> None:
    """Raise InputError unless `values` is a tuple or list of known ones, of one at least."""
    known = tuple(known)
    if isinstance(values, tuple | list) and not values:
        raise InputError(f"{attributor}: {name} is empty: expected one or more of {', '.join(map(str, known))}")
    if not isinstance(values, tuple | list):
        raise InputError(f"{attributor}: {name}={values!r} is not a list of {', '.join(map(str, known))}")
    for value in values:
        choice(attributor, name, value, known)
