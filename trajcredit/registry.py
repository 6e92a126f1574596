"""The one plugin seam: formats, attributors and exporters register here, built-in ones included.

A third party adds one entry point in group `trajcredit` that names a module; importing it runs the decorators:

    [project.entry-points.trajcredit]
    mine = "my_package.attributors"
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import pairwise
from typing import Any, Generic, TypeVar, get_type_hints

from trajcredit.errors import InputError, UnknownNameError

__all__ = ["Parameter", "Registry", "attributors", "exporters", "formats", "parameters", "summary"]

P = TypeVar("P")
Q = TypeVar("Q")


class Registry(Generic[P]):
    """Named plugins of one kind. Built-ins are imported on first use, then what entry points name."""

    def __init__(self, what: str, builtin: str) -> None:
        self.what = what
        self._builtin = builtin
        self._plugins: dict[str, P] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[Q], Q]:
        """Decorator: make the class or object known under `name`. A taken name is refused."""

        def keep(plugin: Q) -> Q:
            if name in self._plugins:
                raise InputError(f"there is already a {self.what} named {name!r}: {self._plugins[name]!r}")
            self._plugins[name] = plugin  # type: ignore[assignment]  # the registries say what P is; mypy cannot
            return plugin

        return keep

    def get(self, name: str) -> P:
        """The plugin of that name; UnknownNameError lists the known ones."""
        self._load()
        if name not in self._plugins:
            raise UnknownNameError(self.what, name, self._plugins)
        return self._plugins[name]

    def items(self) -> dict[str, P]:
        """Every plugin by name, built-ins first."""
        self._load()
        return dict(self._plugins)

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        importlib.import_module(self._builtin)
        _load_entry_points()


@cache
def _load_entry_points() -> None:
    """Import every module that entry-point group `trajcredit` names; a broken one says which it is."""
    for point in entry_points(group="trajcredit"):
        try:
            point.load()
        except Exception as error:  # a boundary that runs foreign code
            raise InputError(f"plugin {point.name!r} ({point.value}) failed to load: {error}") from error


formats: Registry[Any] = Registry("format", "trajcredit.formats")
attributors: Registry[Any] = Registry("attributor", "trajcredit.attributors")
exporters: Registry[Any] = Registry("exporter", "trajcredit.exporters")


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
    hints, sentences = get_type_hints(plugin), _sentences(plugin)
    return tuple(
        Parameter(f.name, hints[f.name], _default(f), sentences.get(f.name, "")) for f in dataclasses.fields(plugin)
    )


def summary(plugin: Any) -> str:
    """The first sentence of a plugin's docstring, on one line."""
    return " ".join(inspect.cleandoc(getattr(plugin, "__doc__", None) or "").split("\n\n")[0].split())


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


@cache
def _sentences(plugin: type) -> dict[str, str]:
    """Field name -> the string written under it. Python keeps none of it at run time, so the source is read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(plugin)))
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
