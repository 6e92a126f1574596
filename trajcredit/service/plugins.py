"""What is registered, as people and other programs see it; attributors made from names and parameters."""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from trajcredit import critics, registry
from trajcredit.attributors import Attributor, configure
from trajcredit.errors import InputError, TrajcreditError
from trajcredit.exporters import Credit, Exported, Exporter, TokenExporter
from trajcredit.judges import COLUMNS as JUDGED
from trajcredit.judges import Judge
from trajcredit.registry import Parameter
from trajcredit.service import judged
from trajcredit.service.attributing import foreign

__all__ = [
    "Choice",
    "Exported",
    "Exporter",
    "Parameter",
    "Plugin",
    "attributors",
    "choose",
    "default_text",
    "exported",
    "exporter_for",
    "exporter_of",
    "exporters",
    "formats",
    "hears_judges",
    "judge_from",
    "judge_of",
    "judges",
    "make",
    "make_exporter",
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
    judge: str | None = None
    """The judge asked for; none = the attributor's own, where it has one."""


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
    suffix: str | None = None
    """Of exporters, the ending of their files."""


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


def judges() -> list[Plugin]:
    """Every judge with its parameters."""
    return [
        Plugin(name, registry.summary(judge), parameters=registry.parameters(judge), details=registry.details(judge))
        for name, judge in registry.judges.items().items()
    ]


def judge_of(spec: str) -> tuple[str, Judge]:
    """Name and judge of `NAME` or `NAME:key=value,...`; InputError names an unknown parameter."""
    name, given = _split(spec, "judge")
    return name, judge_from(name, given)


def judge_from(name: str, given: dict[str, str]) -> Judge:
    """The judge of that name with its parameters read from text; InputError names one that does not fit."""
    with foreign(f"judge {name!r} refuses {given!r}"):
        made: Judge = configure(registry.judges.get(name), given)
    return made


def choose(specs: Sequence[str]) -> list[Choice]:
    """Attributors from `NAME` or `NAME:key=value,...`; lists are joined by +; `critic=` names a critic to ask
    first, or the file of a fitted one, `judge=` a judge, or several joined by +.

    Rows carry the name; where one name is asked for more than once they carry the whole text, to be told apart.
    """
    twice = [spec for spec, count in Counter(specs).items() if count > 1]
    if twice:
        raise InputError(f"attributor {twice[0]!r} is asked for twice with the same parameters")
    split = [(spec, *_split(spec, "attributor")) for spec in specs]
    names = Counter(name for _, name, _ in split)
    return [_choice(spec if names[name] > 1 else name, name, given) for spec, name, given in split]


def make(name: str, given: Mapping[str, Any]) -> Attributor:
    """The attributor of that name with Python values for its parameters; InputError names an unknown one."""
    made: Attributor = _made("attributor", registry.attributors, name, given)
    return made


def hears_judges(label: str, attributor: Attributor) -> None:
    """InputError where an attributor reads no column that a judge fills: naming one would change nothing."""
    if not any(need in JUDGED or need == "segment" for need in attributor.needs):
        raise InputError(
            f"attributor {label!r} hears no judge: `judge=` belongs to one that needs `scores`, as judge does"
        )


def name_of(attributor: Attributor) -> str:
    """The name it is registered under, else that of its class."""
    return _name_among(registry.attributors, attributor)


def exporters() -> list[Plugin]:
    """Every exporter with its parameters; those that write spans first."""
    found = sorted(registry.exporters.items().items(), key=lambda one: (issubclass(one[1], TokenExporter), one[0]))
    return [
        Plugin(
            name,
            registry.summary(exporter),
            parameters=registry.parameters(exporter),
            details=registry.details(exporter),
            suffix=exporter.suffix,
        )
        for name, exporter in found
    ]


def exporter_of(spec: str, **also: str | None) -> Exporter:
    """The exporter of `NAME` or `NAME:key=value,...`; `also` are parameters given apart from it, None = not given."""
    name, given = _split(spec, "exporter")
    for key, value in also.items():
        if value is not None and given.setdefault(key, value) != value:
            raise InputError(f"{key} is given twice, as {given[key]!r} in {spec!r} and as {value!r}")
    with foreign(f"exporter {name!r} refuses {given!r}"):
        made: Exporter = configure(registry.exporters.get(name), given)
    return made


def make_exporter(name: str, given: Mapping[str, Any]) -> Exporter:
    """The exporter of that name with Python values for its parameters; InputError names an unknown one."""
    made: Exporter = _made("exporter", registry.exporters, name, given)
    return made


def exported(exporter: Exporter, scored: Iterable[Credit], out: BinaryIO) -> Exported:
    """What an exporter wrote; whatever it raises that is not ours becomes an InputError which names it."""
    name = _name_among(registry.exporters, exporter)
    try:
        made: Any = exporter(scored, out)
    except (TrajcreditError, OSError):
        raise
    except registry.FOREIGN as error:
        raise InputError(f"exporter {name!r} failed: {type(error).__name__}: {error}") from error
    if isinstance(made, Exported):
        return made
    raise InputError(f"exporter {name!r} failed: it must return an Exported, not {type(made).__name__}")


def exporter_for(out: Path) -> str:
    """The name of the exporter of spans that writes files of that ending, else of the only one of tokens that does."""
    suffixes: dict[str, str] = {}
    for plugin in exporters():
        suffixes.setdefault(plugin.suffix or "", plugin.name)
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


def _name_among(among: registry.Registry[Any], made: Any) -> str:
    kind = type(made)
    return next((name for name, plugin in among.items().items() if plugin is kind), kind.__name__)


def _made(what: str, among: registry.Registry[Any], name: str, given: Mapping[str, Any]) -> Any:
    plugin = among.get(name)
    known = [parameter.name for parameter in registry.parameters(plugin)]
    for key in given:
        if key not in known:
            raise InputError(f"{what} {name!r} has no parameter {key!r}; it has: {', '.join(known) or 'none'}")
    with foreign(f"{what} {name!r} refuses {dict(given)!r}"):
        return plugin(**given)


def _choice(label: str, name: str, given: dict[str, str]) -> Choice:
    critic, judge = given.pop("critic", None), given.pop("judge", None)
    if critic is not None:
        critics.known(critic)
    made = _configured(name, given)
    if judge is not None:
        hears_judges(name, made)
        judged.known(judge)
    return Choice(label, made, critic, judge)


def _configured(name: str, given: dict[str, str]) -> Attributor:
    with foreign(f"attributor {name!r} refuses {given!r}"):
        made: Attributor = configure(registry.attributors.get(name), given)
    return made


def _split(spec: str, what: str) -> tuple[str, dict[str, str]]:
    name, _, rest = spec.partition(":")
    given: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{what} {spec!r}: expected key=value after the colon, found {part!r}")
        if key in given:
            raise InputError(f"{what} {spec!r}: {key} is given twice")
        given[key] = value
    return name, given
