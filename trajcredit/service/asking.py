"""Attributors from names and plain values, as requests and stored runs hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from trajcredit import registry
from trajcredit.attributors import Attributor
from trajcredit.errors import InputError
from trajcredit.service.plugins import choose, default_text

__all__ = ["Configured", "configured", "of_spec"]


@dataclass(frozen=True, slots=True)
class Configured:
    """An attributor ready to run, all its parameters in plain values, and what people call it."""

    name: str
    attributor: Attributor
    parameters: dict[str, Any]
    label: str
    """The name, and the parameters that are not at their defaults: `dag:gamma=0.95`."""


def configured(name: str, given: Mapping[str, Any]) -> Configured:
    """The attributor of that name; values are JSON (numbers, flags, null, lists of text) or the command line's text.

    InputError names a parameter that is not known or does not fit.
    """
    if not name or ":" in name:
        raise InputError(f"attributor {name!r}: expected a name alone; its parameters are given beside it")
    for key in given:
        if "," in key or "=" in key:
            raise InputError(f"attributor {name!r} has no parameter {key!r}")
    asked = ",".join(f"{key}={_text(key, value)}" for key, value in given.items())
    return of_spec(f"{name}:{asked}" if asked else name)


def of_spec(spec: str) -> Configured:
    """The attributor of `NAME` or `NAME:key=value,...`, as the command line takes it."""
    [choice] = choose([spec])
    name, attributor = choice.label, choice.attributor
    values = {field.name: getattr(attributor, field.name) for field in fields(attributor)}  # type: ignore[arg-type]  # a dataclass; Protocols cannot say so
    usual = {parameter.name: parameter.default for parameter in registry.parameters(type(attributor))}
    own = ",".join(f"{key}={default_text(value)}" for key, value in values.items() if value != usual[key])
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return Configured(name, attributor, plain, f"{name}:{own}" if own else name)


def _text(key: str, value: Any) -> str:
    """A value as the command line would have it."""
    if isinstance(value, list):
        return "+".join(_text(key, item) for item in value)
    if isinstance(value, dict) or (isinstance(value, float) and not isfinite(value)):
        raise InputError(f"parameter {key}: expected a finite number, text, true, false, null or a list of text")
    text = default_text(value)
    if "," in text or len(text) > 1000:
        raise InputError(f"parameter {key}={text[:40]!r}: no value has a comma or more than 1,000 characters")
    return text
