"""What an attributor is, and how its parameters are read from text."""

from __future__ import annotations

import types
import typing
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Note
from trajcredit.registry import parameters

__all__ = ["Attribution", "Attributor", "Scope", "Term", "configure"]

Scope = Literal["group", "batch"]


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of a span's credit: what it is, how much, and spans (batch positions) it comes from, not too many."""

    name: str
    value: float
    spans: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """One number a span. NaN on observations and wherever nothing could be scored.

    credit     f64[N]  in reward units: after the baseline, before any division by a spread
    advantage  f64[N]  what multiplies the log-prob gradient: credit after that division
    notes              what was degenerate, left out or guessed, by trajectory or group
    """

    credit: F64
    advantage: F64
    notes: tuple[Note, ...] = ()


class Attributor(Protocol):
    """A frozen dataclass whose fields are its parameters; registered under a name.

    `needs` and `scope` are plain class facts (ClassVar) where no parameter changes them.
    """

    @property
    def needs(self) -> tuple[str, ...]:
        """Batch columns that must be filled by a critic or judge (or the log) first; may depend on the parameters."""
        ...

    @property
    def scope(self) -> Scope:
        """`group`: groups can be scored apart; `batch`: statistics run across groups."""
        ...

    def __call__(self, batch: Batch) -> Attribution:
        """Credit and advantage of every span."""
        ...

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        """Terms that add up to the credit of one span (a batch position) within 1e-6; none where it has no credit.

        For people to read: what there is one of a reward or a step is cut down (`terms.largest`).
        """
        ...


def configure(plugin: type, given: dict[str, str]) -> Any:
    """The plugin with its parameters read from text (`gamma=0.9`, lists joined by +); InputError names the bad one."""
    known = {p.name: p for p in parameters(plugin)}
    for name in given:
        if name not in known:
            raise InputError(f"{plugin.__name__} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
    try:
        read = {name: _read(name, text, known[name].type) for name, text in given.items()}
    except InputError as error:
        raise InputError(f"{plugin.__name__}: {error}") from error
    return plugin(**read)


def _read(name: str, text: str, hint: Any) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    try:
        if origin in (types.UnionType, typing.Union):
            if type(None) in inner and text in ("", "none", "null"):
                return None
            *others, last = (kind for kind in inner if kind is not type(None))
            for kind in others:
                with suppress(InputError):
                    return _read(name, text, kind)
            return _read(name, text, last)
        if origin is tuple:
            return tuple(_read(name, part, inner[0]) for part in text.split("+") if part)
        if origin is Literal:
            return inner[[str(value) for value in inner].index(text)]
        if hint is bool:
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]
        return hint(text)
    except (ValueError, KeyError) as error:
        expected = " | ".join(map(str, inner)) if origin is Literal else getattr(hint, "__name__", str(hint))
        raise InputError(f"parameter {name}={text!r}: expected {expected}") from error
