"""What is registered, as people and other programs see it; attributors made from names and parameters."""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trajcredit import critics, registry
from trajcredit.attributors import Attributor, configure
from trajcredit.errors import InputError
from trajcredit.exporters import Exporter
from trajcredit.service.attributing import foreign

__all__ = [
    "Choice",
    "Plugin",
    "attributors",
    "choose",
    "default_text",
    "exporter_for",
    "exporter_named",
    "formats",
    "make",
    "name_of",
    "type_text",
]


@dataclass(frozen=True, slots=True)
class Choice:
    """An attributor ready to run, and the name its rows carry."""

    label: str
    attributor: Attributor
    critic: str | None = None
    """The critic asked for; none = the attributor's own, where it has one."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One registered name: its sentence, its parameters and, of attributors, what it needs and how far it looks.

    `details` are the paragraphs of its docstring after the first.
    """

    name: str
    summary: str
    parameters: tuple[registry.Parameter, ...] = ()
    needs: tuple[str, ...] = ()
    scope: str | None = None
    details: tuple[str, ...] = ()


def formats() -> list[Plugin]:
    """Every log format there is a reader for."""
    return [Plugin(name, registry.summary(reader)) for name, reader in registry.formats.items().items()]


def attributors() -> list[Plugin]:
    """Every attributor with its parameters; what it needs, and its scope, at their defaults."""
    made = {name: plugin() for name, plugin in registry.attributors.items().items()}
    return [
        Plugin(
            name=name,
            summary=registry.summary(plugin),
            parameters=registry.parameters(type(plugin)),
            needs=tuple(plugin.needs),
            scope=plugin.scope,
            details=registry.details(plugin),
        )
        for name, plugin in made.items()
    ]


def choose(specs: Sequence[str]) -> list[Choice]:
    """Attributors from `NAME` or `NAME:key=value,...`; lists are joined by +; `critic=` names a critic to ask
    first, or the file of a fitted one.

    Rows carry the name; where one name is asked for more than once they carry the whole text, to be told apart.
    """
    twice = [spec for spec, count in Counter(specs).items() if count > 1]
    if twice:
        raise InputError(f"attributor {twice[0]!r} is asked for twice with the same parameters")
    split = [(spec, *_split(spec)) for spec in specs]
    names = Counter(name for _, name, _ in split)
    return [_choice(spec if names[name] > 1 else name, name, given) for spec, name, given in split]


def make(name: str, given: Mapping[str, Any]) -> Attributor:
    """The attributor of that name with Python values for its parameters; InputError names an unknown one."""
    plugin = registry.attributors.get(name)
    known = [parameter.name for parameter in registry.parameters(plugin)]
    for key in given:
        if key not in known:
            raise InputError(f"attributor {name!r} has no parameter {key!r}; it has: {', '.join(known) or 'none'}")
    with foreign(f"attributor {name!r} refuses {dict(given)!r}"):
        made: Attributor = plugin(**given)
    return made


def name_of(attributor: Attributor) -> str:
    """The name it is registered under, else that of its class."""
    kind = type(attributor)
    return next((name for name, plugin in registry.attributors.items().items() if plugin is kind), kind.__name__)


def exporter_named(name: str) -> Exporter:
    """The exporter registered under that name."""
    made: Exporter = registry.exporters.get(name)()
    return made


def exporter_for(out: Path) -> str:
    """The name of the exporter that writes files of that ending."""
    suffixes = {plugin.suffix: name for name, plugin in registry.exporters.items().items()}
    if out.suffix not in suffixes:
        raise InputError(f"cannot tell from {out.name!r} how to write it; known endings: {', '.join(suffixes)}")
    return suffixes[out.suffix]


def type_text(hint: Any) -> str:
    """A parameter's type in words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " | ".join("none" if part is type(None) else type_text(part) for part in inner)
    if origin is Literal:
        return " | ".join(map(str, inner))
    if origin is tuple:
        return f"{type_text(inner[0])}, joined by +"
    return getattr(hint, "__name__", str(hint))


def default_text(value: Any) -> str:
    """A default as it would be written on the command line."""
    if isinstance(value, tuple):
        return "+".join(map(default_text, value))
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _choice(label: str, name: str, given: dict[str, str]) -> Choice:
    critic = given.pop("critic", None)
    if critic is not None:
        critics.known(critic)
    return Choice(label, _configured(name, given), critic)


def _configured(name: str, given: dict[str, str]) -> Attributor:
    with foreign(f"attributor {name!r} refuses {given!r}"):
        made: Attributor = configure(registry.attributors.get(name), given)
    return made


def _split(spec: str) -> tuple[str, dict[str, str]]:
    name, _, rest = spec.partition(":")
    given: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"attributor {spec!r}: expected key=value after the colon, found {part!r}")
        if key in given:
            raise InputError(f"attributor {spec!r}: {key} is given twice")
        given[key] = value
    return name, given
