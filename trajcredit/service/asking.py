"""Attributors from names and plain values, as requests and stored runs hold them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from trajcredit import critics, registry
from trajcredit.attributors import Attributor
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.service.hearing import fit
from trajcredit.service.plugins import choose, default_text

__all__ = ["Configured", "as_text", "compares_across_groups", "configured", "critic_of", "of_spec"]


@dataclass(frozen=True, slots=True)
class Configured:
    """An attributor ready to run, all its parameters in plain values, and what people call it."""

    name: str
    attributor: Attributor
    parameters: dict[str, Any]
    label: str
    """The name, and the parameters that are not at their defaults: `dag:gamma=0.95`."""
    critic: str | None = None
    """The critic asked for, which is a parameter too; none = the attributor's own, where it has one."""
    judge: str | None = None
    """The judge asked for, likewise."""


def configured(name: str, given: Mapping[str, Any]) -> Configured:
    """The attributor of that name; values are JSON (numbers, flags, null, lists of text) or the command line's text.

    `critic` and `judge` among them name those to ask first. InputError names a parameter that is not known or does not
    fit.
    """
    if not name or ":" in name:
        raise InputError(f"attributor {name!r}: expected a name alone; its parameters are given beside it")
    for key in given:
        if "," in key or "=" in key:
            raise InputError(f"attributor {name!r} has no parameter {key!r}")
    named = {key: value for key, value in given.items() if key not in ("critic", "judge") or value is not None}
    asked = ",".join(f"{key}={as_text(key, value)}" for key, value in named.items())
    return of_spec(f"{name}:{asked}" if asked else name)


def of_spec(spec: str) -> Configured:
    """The attributor of `NAME` or `NAME:key=value,...`, as the command line takes it; critics and judges by name, never
    a file."""
    critic = re.search(r"[:,]critic=([^,]*)", spec)
    if critic is not None and critic[1] not in critics.KINDS:  # no request makes this machine look at a file
        if "/" in critic[1] or "." in critic[1]:
            known = ", ".join(critics.KINDS)
            raise InputError(
                f"critic {critic[1][:200]!r}: a stored run asks a critic by its kind ({known}) and keeps what it said; "
                "`trajcredit score -a NAME:critic=FILE` asks the file of a fitted one"
            )
        raise UnknownNameError("critic", critic[1], critics.KINDS)
    judge = re.search(r"[:,]judge=([^,]*)", spec)
    if judge is not None:
        fit(judge[1])
    [choice] = choose([spec])
    name, attributor = choice.label, choice.attributor
    values = {field.name: getattr(attributor, field.name) for field in fields(attributor)}  # type: ignore[arg-type]  # a dataclass; Protocols cannot say so
    usual = {parameter.name: parameter.default for parameter in registry.parameters(type(attributor))}
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    own = {key: value for key, value in values.items() if value != usual[key]}
    if choice.critic is not None:
        own["critic"] = plain["critic"] = choice.critic
    if choice.judge is not None:
        own["judge"] = plain["judge"] = choice.judge
    said = ",".join(f"{key}={default_text(value)}" for key, value in own.items())
    return Configured(name, attributor, plain, f"{name}:{said}" if said else name, choice.critic, choice.judge)


def compares_across_groups(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether an attributor does, or the critic that it asks, which learns from all tasks that share tools.

    Not where it is not installed any more, or takes other parameters now.
    """
    try:
        made = configured(name, parameters)
    except InputError:
        return False
    return made.attributor.scope == "batch" or critic_of(made.attributor, made.critic) is not None


def critic_of(attributor: Attributor, named: str | None) -> str | None:
    """The critic that may be asked: the one `named`, else the attributor's own; null where it has none."""
    own: str | None = getattr(attributor, "default_critic", None)
    return named or own


def as_text(key: str, value: Any) -> str:
    """A value as the command line would have it."""
    if isinstance(value, list):
        return "+".join(as_text(key, item) for item in value)
    if isinstance(value, dict) or (isinstance(value, float) and not isfinite(value)):
        raise InputError(f"parameter {key}: expected a finite number, text, true, false, null or a list of text")
    text = default_text(value)
    if "," in text or len(text) > 1000:
        raise InputError(f"parameter {key}={text[:40]!r}: no value has a comma or more than 1,000 characters")
    return text
