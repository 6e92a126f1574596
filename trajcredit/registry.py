"""The one plugin seam: formats, attributors, judges and exporters register here, built-in ones included.

A third party adds one entry point in group `trajcredit` that names a module; importing it runs the decorators:

    [project.entry-points.trajcredit]
    mine = "my_package.attributors"

A plugin that cannot be used is left out and logged once, with the reason; only who asks for it by name gets an error.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import logging
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import pairwise
from threading import RLock
from typing import Any, Generic, TypeVar, get_type_hints

from trajcredit.errors import InputError, UnknownNameError

__all__ = [
    "FOREIGN",
    "Member",
    "Parameter",
    "Registry",
    "attributors",
    "details",
    "exporters",
    "formats",
    "judges",
    "parameters",
    "summary",
]

P = TypeVar("P")
Q = TypeVar("Q")

_log = logging.getLogger(__name__)

FOREIGN = (Exception, SystemExit)
"""What code that is not ours may raise and must not take the program down with."""


@dataclass(frozen=True, slots=True)
class Member:
    """What an instance of a plugin must have under one name."""

    expected: str
    holds: Callable[[Any], bool]


class Registry(Generic[P]):
    """Named plugins of one kind. Built-ins are imported on first use, then what entry points name."""

    def __init__(self, what: str, builtin: str, members: Mapping[str, Member]) -> None:
        self.what = what
        self._builtin = builtin
        self._members = members
        self._plugins: dict[str, P] = {}
        self._faults: dict[str, str | None] = {}
        self._loaded = False
        self._lock = RLock()

    def register(self, name: str) -> Callable[[Q], Q]:
        """Decorator: make the class known under `name`. A taken name is refused."""

        def keep(plugin: Q) -> Q:
            if name in self._plugins:
                raise InputError(f"the {self.what} name {name!r} is taken by {self._plugins[name]!r}")
            self._plugins[name] = plugin  # type: ignore[assignment]  # the registries say what P is; mypy cannot
            return plugin

        return keep

    def get(self, name: str) -> P:
        """The plugin of that name; InputError says why it cannot be used, UnknownNameError lists the known ones."""
        sound = self.items()
        if name in sound:
            return sound[name]
        reason = self._faults.get(name) or _load_entry_points().get(name)
        if reason is not None:
            raise InputError(f"{self.what} {name!r} cannot be used: {reason}")
        raise UnknownNameError(self.what, name, sound)

    def items(self) -> dict[str, P]:
        """Every plugin that can be used by name, built-ins first."""
        with self._lock:
            if not self._loaded:
                self._loaded = True
                importlib.import_module(self._builtin)
                _load_entry_points()
            for name in list(self._plugins):
                if name not in self._faults:
                    self._look_at(name)
        return {name: plugin for name, plugin in self._plugins.items() if self._faults[name] is None}

    def fault(self, made: Any) -> str | None:
        """Why this is no plugin of this kind, ready to use; None where it is."""
        if isinstance(made, type) or not dataclasses.is_dataclass(made):
            return f"it must be an instance of a dataclass, not {made if isinstance(made, type) else type(made)}"
        try:
            for name, member in self._members.items():
                if not hasattr(made, name):
                    return f"it lacks `{name}`: expected {member.expected}"
                if not member.holds(getattr(made, name)):
                    return f"its `{name}` is {getattr(made, name)!r}: expected {member.expected}"
        except FOREIGN as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _look_at(self, name: str) -> None:
        self._faults[name] = None  # one that asks for others while it is made finds itself known
        plugin = self._plugins[name]
        fault = _fault_of_class(plugin)
        if fault is None:
            try:
                fault = self.fault(plugin())  # type: ignore[operator]  # P is a class: just seen
            except FOREIGN as error:
                fault = f"{type(error).__name__}: {error}"
        if fault is not None:
            self._faults[name] = fault
            _log.warning("%s %r is left out: %s", self.what, name, fault)


def _fault_of_class(plugin: Any) -> str | None:
    """Why nothing can be made of a plugin without parameters; None where it can."""
    if not (isinstance(plugin, type) and dataclasses.is_dataclass(plugin)):
        return "it must be a dataclass: its fields are its parameters"
    bare = [f.name for f in dataclasses.fields(plugin) if f.init and not _has_default(f)]
    if bare:
        return f"every field needs a default, and {', '.join(bare)} has none"
    try:
        parameters(plugin)
    except FOREIGN as error:  # a type that cannot be resolved, a default that cannot be made
        return f"its fields cannot be read: {type(error).__name__}: {error}"
    return None


@cache
def _load_entry_points() -> dict[str, str]:
    """Import every module that entry-point group `trajcredit` names; those that fail by name, each with the reason."""
    failed = {}
    for point in entry_points(group="trajcredit"):
        try:
            point.load()
        except FOREIGN as error:
            failed[point.name] = f"{point.value} failed to load: {type(error).__name__}: {error}"
            _log.warning("plugin %r is left out: %s", point.name, failed[point.name])
    return failed


_CALL = Member("a method", callable)
_NEEDS = Member(
    "a tuple of column names", lambda value: isinstance(value, tuple | list) and all(isinstance(n, str) for n in value)
)
_SCOPE = Member("'group' or 'batch'", lambda value: value in ("group", "batch"))
_SCALE = Member("'state' or 'credit'", lambda value: value in ("state", "credit"))
_TEXT = Member("text", lambda value: isinstance(value, str))
_FLAG = Member("true or false", lambda value: isinstance(value, bool))
_SUFFIX = Member("the ending of its files, dot included", lambda value: isinstance(value, str) and value[:1] == ".")

formats: Registry[Any] = Registry("format", "trajcredit.formats", {"sniff": _CALL, "read": _CALL})
attributors: Registry[Any] = Registry(
    "attributor",
    "trajcredit.attributors",
    {"__call__": _CALL, "explain": _CALL, "needs": _NEEDS, "scope": _SCOPE},
)
judges: Registry[Any] = Registry(
    "judge",
    "trajcredit.judges",
    {"__call__": _CALL, "basis": _CALL, "scale": _SCALE, "segments": _TEXT, "local": _FLAG},
)
exporters: Registry[Any] = Registry("exporter", "trajcredit.exporters", {"__call__": _CALL, "suffix": _SUFFIX})


# ---------------------------------------------------------------- parameters, read off the dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a plugin's dataclass: what command line, docs and forms show."""

    name: str
    type: Any
    default: Any
    sentence: str


def parameters(plugin: type) -> tuple[Parameter, ...]:
    """The fields of a plugin's dataclass, each with the sentence written under it."""
    return _parameters(plugin)


@cache
def _parameters(plugin: type) -> tuple[Parameter, ...]:
    if not dataclasses.is_dataclass(plugin):
        raise InputError(f"{plugin.__name__} must be a dataclass: its fields are its parameters")
    if not dataclasses.fields(plugin):
        return ()  # most formats: there is no source to be read
    hints, sentences = get_type_hints(plugin), _sentences(plugin)
    return tuple(
        Parameter(f.name, hints[f.name], _default(f), sentences.get(f.name, "")) for f in dataclasses.fields(plugin)
    )


def summary(plugin: Any) -> str:
    """The first paragraph of a plugin's docstring, on one line."""
    return next(iter(_paragraphs(plugin)), "")


def details(plugin: Any) -> tuple[str, ...]:
    """The paragraphs after the first, each on one line."""
    return _paragraphs(plugin)[1:]


def _paragraphs(plugin: Any) -> tuple[str, ...]:
    text = inspect.cleandoc(getattr(plugin, "__doc__", None) or "")
    return tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip())


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


@cache
def _sentences(plugin: type) -> dict[str, str]:
    """Field name -> the string written under it, in the class or the one it inherits the field from."""
    found: dict[str, str] = {}
    for kind in reversed(plugin.__mro__[:-1]):
        found |= _sentences_of(kind)
    return found


def _sentences_of(kind: type) -> dict[str, str]:
    """Of one class alone. Python keeps none of it at run time, so the source is read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):  # defined in a shell, say: the parameter then shows no sentence
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, text in pairwise(body):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            found[field.target.id] = " ".join(text.value.value.split())
    return found
